// Z3's word that the instances of axioms which the e-graph recorded entail its conclusion: uninterpreted functions and
// equality, no quantifiers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/rulegen/prove/egraph.h"

namespace rlgo::rulegen::sym {

class Certifier {
 public:
  enum class Answer : uint8_t { yes, no, gave_up };  // of one question to Z3

  // `effort` bounds each question in Z3's own resource units, not in time: the answer does not depend on the machine.
  explicit Certifier(unsigned effort);
  ~Certifier();
  Certifier(Certifier&&) noexcept;

  // Queries that are equal up to the names of operators and terms are asked once.
  // Whether the numbered instances (and commutativity where an operator is commutative) entail that all pairs are
  // equal. `core`, where they do: those instances that Z3 needed; -1: commutativity. Throws Error where Z3 itself
  // fails.
  Answer entails(const EGraph& graph, const std::vector<int32_t>& instances,
                 const std::vector<std::pair<TermId, TermId>>& goals, std::vector<int32_t>& core);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlgo::rulegen::sym
