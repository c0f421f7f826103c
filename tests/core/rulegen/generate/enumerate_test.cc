// Enumeration: known counts, independence of threads, state files; the generator's evaluator against the definition.
#include "core/rulegen/generate/enumerate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/rulegen/semantics/eval.h"
#include "core/rulegen/semantics/ring_prime.h"

namespace rlgo::rulegen {
namespace {

Enumeration run(const std::string& ops, int max_ops, int threads = 1, const std::filesystem::path& state = {}) {
  EnumerateOptions options;
  options.max_ops = max_ops;
  options.threads = threads;
  options.state = state;
  return enumerate(make_family(ops), options);
}

std::string scratch(const std::string& name) {
  const auto path = std::filesystem::temp_directory_path() / ("rlgo_enumerate_" + name);
  std::filesystem::remove(path);
  return path.string();
}

TEST(Enumerate, CountsOfProductsAndRelus) {
  const auto all = run("2d:matmul,relu", 3);
  EXPECT_EQ(all.levels[1].generated, 5u);  // x y, x x, x 0, 0 x, relu x
  EXPECT_EQ(all.levels[1].redundant, 2u);  // x 0, 0 x
  EXPECT_EQ(all.levels[2].distinct, 55u);
  EXPECT_EQ(all.levels[3].distinct, 856u);
  EXPECT_EQ(all.levels[3].selves.size(), 2u);
}

TEST(Enumerate, CountsOfSmallSets) {
  EXPECT_EQ(run("4d:conv2d,concat", 2).levels[2].graphs.size(), 349u);
  EXPECT_EQ(run("transformer:softmax,transpose", 3).levels[3].graphs.size(), 67u);
  EXPECT_EQ(run("2d", 2).levels[2].distinct, 933u);
}

TEST(Enumerate, ConstantsAndMovingWindows) {
  const auto all = run("2d-constant:matmul,add", 1);
  EXPECT_EQ(all.levels[1].redundant, 5u);  // x eye, eye x, x 0, 0 x, x + 0
  EXPECT_EQ(constant_element(kMean, tiny_shape({2, 1, 3, 3}), 5).real, 1.0 / 9);
  EXPECT_EQ(constant_element(kIdentity, tiny_shape({3, 3}), 4).field, 1u);
  EXPECT_EQ(constant_element(kIdentity, tiny_shape({2, 2, 1, 1}), 1).field, 0u);
}

TEST(Enumerate, OneTermForEachClassOfRenamings) {
  // add x y alone: add y x and add z w are the same graph with other names.
  const auto all = run("2d:add", 1);
  EXPECT_EQ(all.levels[1].graphs.size(), 2u);  // x + y, x + x; x + 0 is redundant
  EXPECT_EQ(all.levels[1].identities.size(), 1u);
}

TEST(Enumerate, AssociativityIsASelfPair) {
  const auto all = run("2d:add", 2);
  ASSERT_EQ(all.levels[2].selves.size(), 2u);  // of x + (y + z)
  EXPECT_EQ(all.levels[2].selves[0].index, all.levels[2].selves[1].index);
}

TEST(Enumerate, DoesNotDependOnThreads) {
  const auto one = run("2d:matmul,add,concat,split", 3, 1), three = run("2d:matmul,add,concat,split", 3, 3);
  for (int level = 1; level <= 3; ++level) {
    EXPECT_EQ(one.levels[level].graphs, three.levels[level].graphs);
    EXPECT_EQ(one.levels[level].generated, three.levels[level].generated);
  }
}

TEST(Enumerate, ResumedEqualsUninterrupted) {
  const auto path = scratch("resume");
  run("2d:matmul,add", 2, 1, path);
  const auto resumed = run("2d:matmul,add", 3, 1, path), whole = run("2d:matmul,add", 3);
  EXPECT_EQ(resumed.resumed, 2);
  EXPECT_EQ(resumed.levels[3].graphs, whole.levels[3].graphs);
  EXPECT_EQ(resumed.levels[2].distinct, whole.levels[2].distinct);
}

TEST(Enumerate, StateOfAnotherSetOrDamagedIsRefused) {
  const auto path = scratch("refused");
  run("2d:matmul,add", 1, 1, path);
  EXPECT_THROW(run("2d:matmul", 2, 1, path), Error);
  std::ofstream(path, std::ios::app) << "x";
  EXPECT_THROW(run("2d:matmul,add", 2, 1, path), Error);
}

TEST(Enumerate, MemoryBoundKeepsWholeLevels) {
  EnumerateOptions options;
  options.max_ops = 3;
  options.memory_bytes = 50'000;
  const auto all = enumerate(make_family("2d"), options);
  EXPECT_EQ(all.levels.size(), 3u);
  EXPECT_NE(all.stopped.find("graphs of 3 operators need"), std::string::npos) << all.stopped;
}

TEST(Enumerate, UnknownNamesAreRefused) {
  EXPECT_THROW(make_family("3d"), Error);
  EXPECT_THROW(make_family("2d:matmull"), Error);
}

// Fills a tensor of the ring with the numbers of a tiny one.
TensorOf<PrimeRing> full(const std::vector<Tiny>& data, const ops::Shape& shape) {
  TensorOf<PrimeRing> tensor;
  tensor.type = {ops::DType::f32, shape};
  for (const auto& value : data) tensor.data.push_back({value.field, value.real, 0});
  return tensor;
}

// Operators that are opaque in both evaluators agree in their real values only.
bool is_opaque(const OpConfig& config) {
  return config.act == Act::gelu || config.op == ops::Op::softmax || config.op == ops::Op::layer_norm;
}

class TinyEvaluator : public testing::TestWithParam<std::string> {};

TEST_P(TinyEvaluator, AgreesWithTheDefinition) {
  const Family family = make_family(GetParam());
  for (const auto& config : family.configs) {
    for (const auto& signature : config.signatures) {
      std::vector<ops::Shape> shapes;
      std::vector<std::vector<Tiny>> data;
      for (int k = 0; k < config.arity; ++k) {
        for (const auto& variable : family.variables) {
          const bool kernel = config.op == ops::Op::conv2d && k == 1 && variable.shape[2] != config.kernel[0];
          const bool large = config.op == ops::Op::pad && variable.shape[2] != 1;
          if (variable.role == signature[k] && !kernel && !large) {
            shapes.push_back(variable.shape);
            break;
          }
        }
        ASSERT_EQ(shapes.size(), static_cast<size_t>(k + 1)) << config.label;
        auto& numbers = data.emplace_back(tiny_shape(shapes.back()).elements());
        for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = random_tiny(k + 7, i);
      }
      if (config.op == ops::Op::split && shapes[0][config.axis] < 2) continue;
      const auto typed = type_step(family, config, shapes);
      ASSERT_TRUE(typed.has_value()) << config.label;
      std::vector<TinyView> views;
      std::vector<TensorOf<PrimeRing>> tensors;
      std::vector<const TensorOf<PrimeRing>*> inputs;
      for (size_t k = 0; k < data.size(); ++k) {
        views.push_back({data[k].data(), tiny_shape(shapes[k])});
        tensors.push_back(full(data[k], shapes[k]));
      }
      for (const auto& tensor : tensors) inputs.push_back(&tensor);
      ops::Types types;
      std::vector<TinyShape> out_shapes;
      std::vector<std::vector<Tiny>> out_data;
      std::vector<Tiny*> out;
      for (const auto& shape : typed->shapes) {
        types.emplace_back(ops::DType::f32, shape);
        out_shapes.push_back(tiny_shape(shape));
        out_data.emplace_back(out_shapes.back().elements());
      }
      for (auto& values : out_data) out.push_back(values.data());
      evaluate_tiny(config, views, out_shapes, out);
      PrimeRing ring;
      std::vector<TensorOf<PrimeRing>> wanted;
      ASSERT_TRUE(eval_op<PrimeRing>(ring, config.op, typed->attrs, inputs, types, wanted)) << config.label;
      for (size_t p = 0; p < wanted.size(); ++p) {
        ASSERT_EQ(wanted[p].data.size(), out_data[p].size()) << config.label;
        for (size_t i = 0; i < out_data[p].size(); ++i) {
          EXPECT_NEAR(out_data[p][i].real, wanted[p].data[i].real, 1e-9) << config.label;
          if (is_opaque(config)) continue;
          EXPECT_EQ(out_data[p][i].field, wanted[p].data[i].field) << config.label;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, TinyEvaluator, testing::ValuesIn(family_names()), [](const auto& param_info) {
  std::string name = "Set" + param_info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace rlgo::rulegen
