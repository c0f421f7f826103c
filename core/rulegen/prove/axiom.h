// Axioms: rules in the language of core/rules/parser.h whose two sides are equal wherever both are well-shaped, of
// equal types, and the conditions hold. They are what proofs start from. Two additions to the language, by comment
// lines and tags:
//   # each F: relu sigmoid tanh        the rule below is read once for each word, F in its text replaced by it
//   tags two-way                       also read from right to left (named NAME-reversed)
//   tags definition                    states what an operator is (in the rings of the validation it may be opaque)
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/compiled.h"

namespace rlgo::rulegen {

struct Axiom {
  rules::CompiledRule rule;
  std::string name;  // as written in the file; both directions have one name
  bool reversed = false;
  std::string family;       // the name with F for each operator on single elements: relu-split is F-split
  bool plain = false;       // states what an operator is, or goes one way to what is not much larger
  bool asks_total = false;  // true only where operands have values for all inputs: a condition total(?x)
  uint64_t operators = 0;   // bit k: operator k (mod 64) stands on the left side
};

class AxiomSet {  // axioms by name
 public:
  // Throws Error "FILE:LINE: reason" where the text does not parse or compile, a name is used twice, the left side is
  // not one term (every node must be read by the first), or a two-way axiom cannot be read backwards.
  static std::shared_ptr<const AxiomSet> parse(std::string_view text, const std::string& file_name);
  static std::shared_ptr<const AxiomSet> load(const std::filesystem::path& file);

  const std::vector<Axiom>& axioms() const { return axioms_; }
  bool has(std::string_view name) const;   // an axiom of this name
  std::vector<std::string> names() const;  // each once, in the file's order

 private:
  std::vector<Axiom> axioms_;
};

// Axiom::family of this name.
std::string family_of(const std::string& name);

// The text with `# each` expanded: what AxiomSet::parse() reads.
std::string expand_families(std::string_view text, const std::string& file_name);

}  // namespace rlgo::rulegen
