// Inference on functions of open sizes against inference on numbers, at sizes that are not the samples.
#include <gtest/gtest.h>

#include <map>

#include "core/ops/op.h"
#include "core/rules/random_attributes.h"

namespace rlgo::rules {
namespace {

using ops::Extent;
using Sizes = std::map<int64_t, int64_t>;

std::optional<int64_t> value_at(const Extent& extent, const Sizes& sizes) {
  return extent.at([&](int64_t id, int64_t) { return std::optional(sizes.at(id)); });
}

// Half of the extents become symbols; equal ones often the same.
ops::TensorType opened(const ops::TensorType& type, Rng& rng, std::map<int64_t, Extent>& of_value, int64_t& symbols) {
  ops::Extents extents;
  for (int64_t extent : type.shape) {
    if (extent < 1 || rng.below(2) == 0) {
      extents.emplace_back(extent);
      continue;
    }
    Extent& shared = of_value[extent];
    if (shared.is_number() || rng.below(4) == 0) shared = Extent::symbol(symbols++, extent, 1);
    extents.push_back(shared);
  }
  ops::TensorType result = type;
  EXPECT_TRUE(result.set_extents(extents));
  return result;
}

bool holds(const ops::Requirement& wanted, const Sizes& sizes) {
  using Kind = ops::Requirement::Kind;
  const auto a = value_at(wanted.a, sizes);
  if (!a && wanted.kind != Kind::broadcast) return false;
  if (wanted.kind == Kind::equal) return a == value_at(wanted.b, sizes);
  if (wanted.kind == Kind::at_least) return *a >= wanted.bound;
  if (wanted.kind == Kind::into) return value_at(wanted.b, sizes) == 1 || a == value_at(wanted.b, sizes);
  int64_t other = 1;
  for (const Extent& member : ops::members_of(wanted.a)) {
    const auto value = value_at(member, sizes);
    if (!value || (*value != 1 && other != 1 && *value != other)) return false;
    if (*value != 1) other = *value;
  }
  return true;
}

// The type at these sizes; nothing where an extent has no value there.
std::optional<ops::TensorType> type_at(const ops::TensorType& type, const Sizes& sizes) {
  ops::TensorType result(type.dtype, {});
  for (const Extent& extent : type.extents()) {
    const auto value = value_at(extent, sizes);
    if (!value || *value < 0) return std::nullopt;
    result.shape.push_back(*value);
  }
  return result;
}

struct Counts {
  int compared = 0, refused = 0;
};

void compare_at(ops::Op op, const ops::Types& inputs, const ops::Attrs& attrs, const ops::Types& outputs,
                const std::vector<ops::Requirement>& required, const Sizes& sizes, Counts& counts) {
  ops::Types closed;
  for (const auto& type : inputs) closed.push_back(*type_at(type, sizes));
  const auto expected = ops::infer(op, closed, attrs);
  if (!std::ranges::all_of(required, [&](const auto& wanted) { return holds(wanted, sizes); })) {
    ++counts.refused;
    return;
  }
  ASSERT_TRUE(expected) << ops::name(op) << " " << ops::to_string(attrs) << " " << ops::to_string(closed[0]);
  for (size_t k = 0; k < outputs.size(); ++k) {
    const auto found = type_at(outputs[k], sizes);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, (*expected)[k]) << ops::name(op) << " " << ops::to_string(attrs);
  }
  ++counts.compared;
}

// One call of `op` with random sizes, and four choices for those that were opened.
void attempt(ops::Op op, Rng& rng, std::map<ops::Op, Counts>& counts) {
  Draft draft;
  draft.op = op;
  const auto& spec = ops::spec(op);
  const int most = std::min(spec.max_inputs, spec.min_inputs + 2);
  draft.types.resize(static_cast<size_t>(spec.min_inputs) +
                     rng.below(static_cast<uint64_t>(most - spec.min_inputs + 1)));
  RandomAttributes propose(rng);
  if (!propose.complete(draft)) return;
  const auto attrs = ops::complete_attrs(op, draft.attrs);
  ops::Types inputs;
  std::map<int64_t, Extent> of_value;
  int64_t symbols = 0;
  for (const auto& type : draft.types) inputs.push_back(opened(*type, rng, of_value, symbols));
  std::vector<ops::Requirement> required;
  const auto outputs = attrs ? ops::infer(op, inputs, *attrs, nullptr, &required) : std::nullopt;
  for (int trial = 0; outputs && trial < 4; ++trial) {
    Sizes sizes;
    const auto common = static_cast<int64_t>(1 + rng.below(40));
    for (int64_t s = 0; s < symbols; ++s)
      sizes[s] = rng.below(2) == 0 ? common : static_cast<int64_t>(1 + rng.below(12));
    compare_at(op, inputs, *attrs, *outputs, required, sizes, counts[op]);
  }
}

// Where all requirements hold, the operator fits, and its outputs have the extents that were predicted. Operators with
// many operands meet their requirements rarely: they are drawn more often.
TEST(OpenInfer, AgreesWithNumbersAtAllSizes) {
  Rng rng({7});
  std::map<ops::Op, Counts> counts;
  for (const ops::Op op : ops::all_ops()) {
    if (ops::spec(op).max_inputs == 0 || op == ops::Op::opaque) continue;
    for (int k = 0; k < 600 || (k < 20000 && counts.contains(op) && counts[op].compared <= 30); ++k)
      attempt(op, rng, counts);
  }
  EXPECT_EQ(counts.size(), 84u);
  for (const auto& [op, count] : counts) EXPECT_GT(count.compared, 30) << ops::name(op);
}

}  // namespace
}  // namespace rlgo::rules
