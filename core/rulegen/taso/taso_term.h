// Terms of TASO's texts: inside of foreign.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rlgo::rulegen {

struct ForeignTerm {
  std::string op;  // "i7" for a tensor, "matmul", "split_ax0[1]", ...
  std::vector<ForeignTerm> operands;
  bool operator==(const ForeignTerm&) const = default;
  bool is_variable() const;
  bool is_constant() const { return op.starts_with("constant_"); }
};

// "relu(matmul(i1, i4))": parse_foreign_term() reads it back.
std::string to_text(const ForeignTerm& term);
// Throws Error "PLACE: reason".
ForeignTerm parse_foreign_term(std::string_view text, const std::string& place);

}  // namespace rlgo::rulegen
