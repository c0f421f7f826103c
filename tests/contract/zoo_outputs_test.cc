// Seeded weights keep the outputs of every zoo graph in a range where errors of a rewrite show.
#include <gtest/gtest.h>

#include "core/exec/interpreter.h"
#include "core/zoo/zoo.h"
#include "tests/support/small_zoo.h"

namespace rlgo {
namespace {

TEST(ZooOutputs, AreNeitherVanishingNorExploding) {
  for (const auto& name : zoo::names()) {
    if (name == "vgg19") continue;  // 144 million weights: tests/interop/zoo_references_nightly.py
    const bool large = name == "gpt2" || name == "vit_b16";
    const auto graph = zoo::make(name, large ? small_options(name) : zoo::ZooOptions());
    const auto outputs = exec::Interpreter(graph).run(exec::random_inputs(graph, 1));
    const auto output = outputs.begin()->second;
    const double rms = output.square().mean().sqrt().item<double>();
    EXPECT_GT(rms, 0.1) << name;
    EXPECT_LT(rms, 20.0) << name;
    EXPECT_GT(output.std().item<double>(), 0.05 * rms) << name;
  }
}

// Attention is sharp and tokens stay apart, so that a wrong rewrite of the attention cannot hide.
TEST(ZooOutputs, TokensOfBertDiffer) {
  const auto graph = zoo::make("bert");
  const auto hidden =
      exec::Interpreter(graph).run(exec::random_inputs(graph, 1)).at("last_hidden_state");  // [1,128,768]
  EXPECT_GT(hidden.std(1).square().mean().sqrt().item<double>(), 0.3);
}

}  // namespace
}  // namespace rlgo
