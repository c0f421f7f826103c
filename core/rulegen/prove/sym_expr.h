// Expressions of the rule language over symbolic values, and conditions as assumptions.
#pragma once

#include "core/rulegen/prove/egraph.h"
#include "core/rulegen/prove/sym_infer.h"
#include "core/rules/binding.h"

namespace rlgo::rulegen::sym {

// What the names of a compiled rule stand for. A slot counts where its bit in the mask is set.
struct Binding {
  struct Bundle {
    int32_t params = 0;
    const rules::LeftNode* pattern = nullptr;  // whose mentioned attributes are left out
  };
  rules::Binding::Masks masks;
  std::vector<TermId> nodes, tensors, scalars;
  std::vector<std::vector<TermId>> sequences;
  std::vector<Value> attributes;
  std::vector<Bundle> bundles;

  Binding() = default;
  explicit Binding(const rules::CompiledRule& rule);
};
using rules::in_bundle;

// Goes through all combinations of choices, one run of the builder each. A run may consist of several passes, which
// make the same choices; later ones may skip some (more is known then) and add others.
class Choices {
 public:
  // 0 <= result < count; count >= 1. (place, part) distinguishes choices.
  int choose(const void* place, int part, int count);
  // Whether there is another combination; the next run then makes it.
  bool advance();

 private:
  struct Choice {
    const void* place;
    int part, chosen, count;
  };
  std::vector<Choice> made_;
};

// The case cannot arise: an assumption does not hold, or a term does not fit.
struct Impossible {};

struct Scope {
  const rules::CompiledRule& rule;
  const EGraph& graph;
  World& world;
  const Binding& binding;
  const std::vector<std::vector<TermId>>* right = nullptr;  // outputs of the right nodes made so far
  int round = -1;
  Choices* choices = nullptr;  // null: conditions are asked, not assumed
};

Value evaluate(const rules::Expr& expr, const Scope& scope);  // under the facts; open where they do not decide
Truth equal(World& world, const Value& a, const Value& b);
// Whether big >= small (big > small where strict), of real numbers.
Truth real_order(World& world, const Facts::Order& order);
// The product of two real numbers where one is 0, or one is infinite and the other's sign is known; else -1.
int32_t extreme_product(World& world, int32_t a, int32_t b);
// Makes two values equal; throws Impossible. What cannot be expressed is left out: assuming less is sound.
void assume_equal(World& world, const Value& a, const Value& b);
// Throws Impossible where it certainly does not hold.
void assume(const rules::Expr& condition, bool wanted, const Scope& scope);
// The value as an attribute of that kind (whole numbers pass for reals); `none` where it is of another kind.
Value to_attr(Pool& pool, Value value, const ops::AttrValue& like);

}  // namespace rlgo::rulegen::sym
