#include "core/optimise/inputs.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/graph/editor.h"

namespace rlgo::optimise {
namespace {

graph::Graph two_inputs() {
  graph::Editor e("g");
  const auto x = e.add_input("x", {ops::DType::f32, {2}});
  e.add_input("sr", {ops::DType::i64, {}});
  e.add_output("y", x);
  return *e.finish();
}

TEST(Inputs, NumbersByName) {
  const std::vector<std::string> texts{"sr=16000", "x=1,-2.5"};
  const auto values = parse_inputs(texts, two_inputs());
  EXPECT_EQ(values, (cost::InputValues{{"sr", {16000}}, {"x", {1, -2.5}}}));
  EXPECT_EQ(to_text(values), "sr = 16000, x = 1,-2.5");
  EXPECT_TRUE(parse_inputs({}, two_inputs()).empty());
  const std::vector<std::string> parts{"x=1", "-2.5", "sr=16000"};  // options are split at commas
  EXPECT_EQ(parse_inputs(parts, two_inputs()), values);
}

TEST(Inputs, TextsOfInputsThatHoldNoNumbers) {
  graph::Editor e("g");
  e.add_output("y", e.add_input("word", ops::TensorType::unranked(ops::DType::other)));
  const std::vector<std::string> texts{"word=cat,7"};
  const auto values = parse_inputs(texts, *e.finish());
  EXPECT_EQ(values, (cost::InputValues{{"word", {std::string("cat"), std::string("7")}}}));
  EXPECT_EQ(to_text(values), "word = cat,7");
}

TEST(Inputs, NonsenseIsNamed) {
  for (const auto& [text, word] : {std::pair{"sr", "NAME=VALUE"},
                                   {"-2.5", "NAME=VALUE"},
                                   {"=1", "NAME=VALUE"},
                                   {"rs=1", "no input 'rs'"},
                                   {"sr=fast", "'fast'"},
                                   {"sr=", "''"}}) {
    const std::vector<std::string> texts{text};
    try {
      parse_inputs(texts, two_inputs());
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace rlgo::optimise
