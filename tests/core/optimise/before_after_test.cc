#include "core/optimise/before_after.h"

#include <gtest/gtest.h>

#include "core/zoo/zoo.h"

namespace rlgo::optimise {
namespace {

Result of_graphs(const char* before, const char* after) {
  Result result;
  result.before = zoo::make(before);
  result.candidates.resize(1);
  result.candidates[0].graph = zoo::make(after);
  return result;
}

TEST(BeforeAfter, ListsWhatWasMeasuredAndOperatorsWhoseNumberChanged) {
  Result result = of_graphs("toy_mlp", "toy_conv");
  result.end_to_end.error.clear();
  result.end_to_end.before_us = 2000;
  result.end_to_end.ratio = 0.5;
  result.end_to_end.loading[0] = {0.0381, 16 << 20};
  result.end_to_end.loading[1] = {0.0446, 20 << 20};
  const std::string table = before_after_table(result);
  for (const char* line : {"  latency           2.000 ms    1.000 ms\n", "  load time          38.1 ms     44.6 ms\n",
                           "  peak memory       16.0 MiB    20.0 MiB\n", "  operators "})
    EXPECT_NE(table.find(line), std::string::npos) << line << table;
  EXPECT_EQ(table.find("file"), std::string::npos) << "there is none";
  result.touched = false;
  EXPECT_EQ(before_after_table(result), "");
}

TEST(BeforeAfter, NamesTheOperatorsThatTakeTheTime) {
  Result result = of_graphs("toy_mlp", "toy_mlp");
  EXPECT_EQ(time_by_operators(result), "") << "no prices";
  result.before_op_us.assign(static_cast<size_t>(result.before.id_bound()), 0);
  for (const auto id : result.before.order()) {
    if (result.before.node(id).op() == ops::Op::matmul) result.before_op_us[static_cast<size_t>(id)] = 3;
    if (result.before.node(id).op() == ops::Op::relu) result.before_op_us[static_cast<size_t>(id)] = 1;
  }
  const std::string text = time_by_operators(result);
  EXPECT_EQ(text.rfind("matmul ", 0), 0u) << text;
  EXPECT_NE(text.find("relu "), std::string::npos) << text;
}

}  // namespace
}  // namespace rlgo::optimise
