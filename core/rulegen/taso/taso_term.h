// Terms of TASO's texts: inside of taso_rules.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rlgo::rulegen {

struct TasoTerm {
  std::string op;  // "i7" for a tensor, "matmul", "split_ax0[1]", ...
  std::vector<TasoTerm> operands;
  bool operator==(const TasoTerm&) const = default;
  bool is_variable() const;
  bool is_constant() const { return op.starts_with("constant_"); }
};

// "relu(matmul(i1, i4))": parse_taso_term() reads it back.
std::string to_text(const TasoTerm& term);
// Throws Error "PLACE: reason".
TasoTerm parse_taso_term(std::string_view text, const std::string& place);

}  // namespace rlgo::rulegen
