#include "core/measure/outputs.h"
#include "core/measure/runtime.h"

#include <gmock/gmock.h>

#include <cmath>
#include <initializer_list>

#include "core/base/error.h"
#include "tests/core/measure/fake.h"

namespace rlgo::measure {
namespace {

using ::testing::HasSubstr;

Outputs one(std::vector<double> values, std::string name = "y") {
  const auto count = static_cast<int64_t>(values.size());
  return {{{std::move(name), "float32", {count}, std::move(values)}}, ""};
}

TEST(Outputs, RelativeErrorIsToTheLargestElement) {
  const auto check = compare(one({1, -8, 0}), one({1.5, -8, 0.25}));
  EXPECT_TRUE(check.done && check.alike);
  EXPECT_DOUBLE_EQ(check.max_rel_error, 0.5 / 8);
  EXPECT_EQ(check.detail, "y");
  EXPECT_DOUBLE_EQ(compare(one({0, 0}), one({0, 0.5})).max_rel_error, 0.5);
  EXPECT_EQ(compare(one({}), one({})).max_rel_error, 0);
}

TEST(Outputs, PlacesOfNanAndInfinityMatter) {
  EXPECT_TRUE(compare(one({NAN, INFINITY, 2}), one({NAN, INFINITY, 2})).alike);
  for (const double other : std::initializer_list<double>{1.0, INFINITY, -INFINITY}) {
    const auto check = compare(one({other == 1.0 ? NAN : -other}), one({other}));
    EXPECT_TRUE(check.done);
    EXPECT_FALSE(check.alike);
    EXPECT_THAT(check.detail, HasSubstr("NaN or infinity"));
  }
}

TEST(Outputs, NamesTypesAndShapesMatter) {
  EXPECT_THAT(compare(one({1}), one({1}, "z")).detail, HasSubstr("'y' against 'z'"));
  EXPECT_THAT(compare(one({1}), one({1, 2})).detail, HasSubstr("other shapes"));
  Outputs half = one({1});
  half.outputs[0].dtype = "float16";
  EXPECT_THAT(compare(one({1}), half).detail, HasSubstr("float32 against float16"));
  EXPECT_THAT(compare(one({1}), {}).detail, HasSubstr("1 outputs against 0"));
}

// Their hashes come as numbers, in which a relative error states nothing.
TEST(Outputs, TextsAreTheSameOrNot) {
  Outputs texts = one({1e12}), others = one({1e12 + 1});
  texts.outputs[0].dtype = others.outputs[0].dtype = "string";
  EXPECT_TRUE(compare(texts, texts).alike);
  EXPECT_FALSE(compare(texts, others).alike);
  EXPECT_THAT(compare(texts, others).detail, HasSubstr("other texts"));
}

TEST(Outputs, ThroughAMeasurer) {
  const auto measurer = std::make_shared<Measurer>(fake({"outputs", "differs=odd", "fail=bad"}), quick());
  ChildRuntime runtime(measurer);
  const auto file = [&](const char* stem, size_t bytes) {
    return cost::RunnableModel{nullptr, file_of(*measurer, stem, bytes)};
  };
  const auto a = file("a", 10), b = file("b", 20);
  EXPECT_TRUE(compare_outputs(runtime, a, b, 3).alike);
  EXPECT_EQ(compare_outputs(runtime, a, b, 3).max_rel_error, 0);
  EXPECT_DOUBLE_EQ(compare_outputs(runtime, a, file("odd", 10), 1).max_rel_error, 1);
  const auto failed = compare_outputs(runtime, a, file("bad", 10), 1);
  EXPECT_FALSE(failed.done);
  EXPECT_EQ(failed.detail, "the rewritten model: unsupported operator");
}

TEST(Outputs, OwnRoundingIsWhatTheRuntimesOptimisationMoves) {
  const auto own = [](std::vector<std::string> options) {
    const auto measurer = std::make_shared<Measurer>(fake(std::move(options)), quick());
    ChildRuntime runtime(measurer);
    return own_rounding(runtime, {nullptr, file_of(*measurer, "a", 10)}, 2);
  };
  EXPECT_THAT(own({"outputs", "rounds"}), testing::Contains(testing::Pair(testing::_, 0.25)));
  EXPECT_THAT(own({"outputs"}), testing::Each(testing::Pair(testing::_, 0)));
  EXPECT_THAT(own({}), testing::IsEmpty());
}

TEST(Outputs, MeasurerThatDoesNotAnswerThem) {
  const auto measurer = std::make_shared<Measurer>(fake(), quick());
  ChildRuntime runtime(measurer);
  EXPECT_FALSE(runtime.answers_outputs());
  const cost::RunnableModel a{nullptr, file_of(*measurer, "a", 10)};
  EXPECT_EQ(compare_outputs(runtime, a, a, 1).detail, "the measurer answers no outputs");
}

TEST(Outputs, NonsenseIsAnError) {
  const auto error = [](const std::string& answer) {
    try {
      read_outputs(answer, 1);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(error("{}"), HasSubstr("cannot be read"));
  EXPECT_THAT(error(R"({"results": []})"), HasSubstr("0 results to 1 models"));
  EXPECT_THAT(error(R"({"results": [{"outputs": [{"name": "y"}]}]})"), HasSubstr("dtype"));
  const auto file = std::filesystem::temp_directory_path() / "rlgo-outputs-test.f64";
  atomic_write(file, std::string(12, 'x'));
  const std::string shape = R"({"results": [{"outputs": [{"name": "y", "dtype": "f", "shape": [2], "file": ")";
  EXPECT_THAT(error(shape + file.string() + "\"}]}]}"), HasSubstr("12 bytes in its file, but its shape needs 16"));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace rlgo::measure
