// What becomes of attention and recurrent networks.
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

TEST(ConvertSequence, Attention) {
  const std::string types = "g (float[1,2,3,4] q, float[1,2,5,4] k, float[3,5] m) => (float[1,2,3,4] y) { y = ";
  EXPECT_EQ(ops_of(import_text(types + "Attention<is_causal=1>(q, k, k, m) }", 23)),
            "%3 = attention(%0, %1, %1, %2) causal=1 scale=0.5 : f32[1,2,3,4]\n");
  EXPECT_EQ(ops_of(import_text("g (float[1,3,8] q, float[1,5,4] k) => (float[1,3,8] y) { y = "
                               "Attention<q_num_heads=2, kv_num_heads=1, scale=0.25, softcap=2.0>(q, k, k) }",
                               23)),
            "%2 = attention(%0, %1, %1) heads=2 kv_heads=1 scale=0.25 softcap=2.0 : f32[1,3,8]\n");
  EXPECT_EQ(import_text(types + "Attention<softcap=2.0>(q, k, k, m) }", 23).report.opaque.at("Attention"), 1);
}

TEST(ConvertSequence, RecurrentNetworks) {
  const std::string lstm = "g (float[7,2,3] x, float[1,20,3] w, float[1,20,5] r, float[1,2,5] h) => ";
  EXPECT_EQ(
      ops_of(import_text(lstm + "(float[7,1,2,5] y) { y = LSTM<hidden_size=5, direction=\"reverse\">(x, w, r) }")),
      "%4 = recurrent(%0, %1, %2) gates=4 reverse=1 : f32[7,1,2,5], f32[1,2,5], f32[1,2,5]\n");
  EXPECT_EQ(ops_of(import_text(lstm + "(float[1,2,5] c) { y, z, c = LSTM<hidden_size=5>(x, w, r, , , h) }")),
            "%4 = fill() shape=[1,40] : f32[1,40]\n%5 = fill() shape=[1,2,5] : "
            "f32[1,2,5]\n%6 = recurrent(%0, %1, %2, %4, %3, %5) gates=4 : f32[7,1,2,5], f32[1,2,5], f32[1,2,5]\n");
  for (const std::string other : {"clip=1.0", "input_forget=1", "activations=[\"Relu\", \"Tanh\", \"Tanh\"]"})
    EXPECT_EQ(import_text(lstm + "(float[7,1,2,5] y) { y = LSTM<hidden_size=5, " + other + ">(x, w, r) }")
                  .report.opaque.at("LSTM"),
              1);
  EXPECT_EQ(ops_of(import_text("g (float[7,2,3] x, float[2,15,3] w, float[2,15,5] r) => (float[2,2,5] h) { y, h = GRU"
                               "<hidden_size=5, direction=\"bidirectional\", linear_before_reset=1>(x, w, r) }")),
            "%3 = recurrent(%0, %1, %2) gates=3 reset_after=1 : f32[7,2,2,5], f32[2,2,5]\n");
}

}  // namespace
}  // namespace rlgo::onnx_io::test
