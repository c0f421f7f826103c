// Inputs of magnitudes across the range of numbers.
#include "core/verify/range_inputs.h"

#include <gtest/gtest.h>

#include "tests/core/verify/graphs.h"

namespace rlgo::verify {
namespace {

using graph::Editor;
using graph::Graph;
using graph::Value;
using ops::Attr;
using ops::DType;
using ops::Op;

// (x a) c, or x (a c).
Graph scaled_twice(DType type, bool factors_first) {
  Editor e("g");
  const Value x = e.add_input("x", {type, {64, 8}}), a = e.add_input("a", {type, {}}), c = e.add_input("c", {type, {}});
  const Value y = factors_first ? e.op(Op::mul, {x, e.op(Op::mul, {a, c})}) : e.op(Op::mul, {e.op(Op::mul, {x, a}), c});
  e.add_output("y", y);
  return *e.finish();
}

// What `after` loses on all sets of inputs for `before`.
std::string lost(const Graph& before, const Graph& after) {
  for (int set = 0; set < kRangeSets; ++set) {
    const auto range = range_set(before, 1, set, 1);
    const std::string found = range ? lost_in_range(*range, before, after, 1) : "";
    if (!found.empty()) return found;
  }
  return "";
}

TEST(RangeInputs, AProductOfTwoScalesLosesResultsThatTheOriginalHas) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    const Graph before = scaled_twice(type, false), after = scaled_twice(type, true);
    EXPECT_NE(lost(before, after), "") << ops::name(type);
    EXPECT_EQ(lost(before, before), "") << ops::name(type);
  }
}

// x / (|x| + c), or x times the reciprocal.
Graph softsign(bool reciprocal) {
  Editor e("g");
  const Value x = e.add_input("x", {DType::f32, {512}}), c = e.add_weight("c", f32_blob({1e-40f}, {}));
  const Value d = e.op(Op::add, {e.op(Op::abs, {x}), c}), one = e.add_weight("one", f32_blob({1}, {}));
  e.add_output("y", reciprocal ? e.op(Op::mul, {x, e.op(Op::div, {one, d})}) : e.op(Op::div, {x, d}));
  return *e.finish();
}

TEST(RangeInputs, AReciprocalOfWhatIsDenormalAtZeroIsFound) {
  EXPECT_EQ(lost(softsign(false), softsign(true)), "output 'y' is NaN where the original has 0");
  EXPECT_EQ(lost(softsign(false), softsign(false)), "");
}

// Every decade of the type, and zeros.
TEST(RangeInputs, TheFirstSetHasEveryDecade) {
  Editor e("g");
  const Value x = e.add_input("x", {DType::f32, {4096}});
  e.add_output("y", e.op(Op::neg, {x}));
  const auto set = range_set(*e.finish(), 1, 0, 1);
  ASSERT_TRUE(set);
  std::set<double> decades;
  each_number(set->inputs.at("x"), [&](int64_t, double x) { decades.insert(std::floor(std::log10(std::abs(x)))); });
  for (int decade = -33; decade <= 33; ++decade) EXPECT_TRUE(decades.contains(decade)) << decade;
  EXPECT_TRUE(decades.contains(-std::numeric_limits<double>::infinity()));  // of 0
}

// A sum in another order rounds otherwise, at any magnitude; exp(x) leaves the range by itself.
TEST(RangeInputs, RoundingAndTheOriginalsOwnOverflowAreNotJudged) {
  const auto graph = [](bool left) {
    Editor e("g");
    std::vector<Value> in;
    for (const char* name : {"a", "b", "c"}) in.push_back(e.add_input(name, {DType::f32, {256}}));
    const Value sum = left ? e.op(Op::add, {e.op(Op::add, {in[0], in[1]}), in[2]})
                           : e.op(Op::add, {in[0], e.op(Op::add, {in[1], in[2]})});
    e.add_output("y", sum);
    e.add_output("z", e.op(Op::exp, {sum}));
    return *e.finish();
  };
  EXPECT_EQ(lost(graph(true), graph(false)), "");
}

TEST(RangeInputs, WithoutFloatsThereIsNothingToDraw) {
  Editor e("g");
  e.add_output("y", e.op(Op::cast, {e.add_input("x", {DType::i64, {2}})}, {{Attr::to, std::string("f32")}}));
  EXPECT_FALSE(range_set(*e.finish(), 1, 0, 1));
}

}  // namespace
}  // namespace rlgo::verify
