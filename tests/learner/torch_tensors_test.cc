#include "learner/torch_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/replay/store.h"

namespace rlgo::learner {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(TorchTensors, EveryTypeComesBack) {
  for (const auto type : {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt64,
                          torch::kInt32, torch::kInt16, torch::kInt8, torch::kUInt8, torch::kBool}) {
    const auto tensor = torch::tensor({0, 1, 2, 3, 4, 5}).reshape({2, 3}).to(type);
    const auto back = to_tensor(to_data(tensor));
    EXPECT_EQ(back.scalar_type(), type);
    EXPECT_TRUE(torch::equal(back, tensor)) << torch::toString(type);
  }
  EXPECT_THAT([] { to_data(torch::zeros({1}, torch::kComplexFloat)); },
              ThrowsMessage<Error>(HasSubstr("cannot be stored")));
}

TEST(TorchTensors, ScalarsEmptyOnesAndViews) {
  EXPECT_TRUE(to_data(torch::tensor(3.5f)).shape.empty());
  EXPECT_EQ(to_tensor(to_data(torch::tensor(3.5f))).item<float>(), 3.5f);
  EXPECT_EQ(to_tensor(to_data(torch::zeros({0, 4}))).sizes(), (std::vector<int64_t>{0, 4}));
  const auto view = torch::arange(6).reshape({2, 3}).t();
  EXPECT_TRUE(torch::equal(to_tensor(to_data(view)), view));
  EXPECT_THROW(to_tensor({"float32", {2}, "1234"}), Error);
  EXPECT_THROW(to_tensor({"float31", {1}, "1234"}), Error);
}

struct Net : torch::nn::Module {
  explicit Net(int64_t width) : linear(register_module("linear", torch::nn::Linear(2, width))) {
    register_buffer("mean", torch::full({2}, 0.25));
  }
  torch::nn::Linear linear;
};

void train(Net& net, torch::optim::Adam& adam, int steps) {
  for (int i = 0; i < steps; ++i) {
    adam.zero_grad();
    (net.linear(torch::tensor({{1.0f, -2.0f}})) - 1).square().sum().backward();
    adam.step();
  }
}

// A resumed run takes the same steps as one that was never interrupted: weights and Adam's moments are both restored.
TEST(TorchTensors, TrainingGoesOnAsIfNothingHappened) {
  const replay::TempFolder folder;
  torch::manual_seed(1);
  Net net(3);
  torch::optim::Adam adam(net.parameters(), torch::optim::AdamOptions(0.1));
  train(net, adam, 5);
  Checkpoint c;
  store_module(c, "net/", net);
  store_adam(c, "adam/", adam);
  save(c, folder / "c.h5");
  train(net, adam, 5);

  Net other(3);
  torch::optim::Adam other_adam(other.parameters(), torch::optim::AdamOptions(0.1));
  const Checkpoint loaded = load(folder / "c.h5");
  EXPECT_EQ(loaded.counters.at("adam/0/step"), 5);
  restore_module(loaded, "net/", other);
  restore_adam(loaded, "adam/", other_adam);
  train(other, other_adam, 5);
  EXPECT_TRUE(torch::equal(other.linear->weight, net.linear->weight));
  EXPECT_TRUE(torch::equal(other.linear->bias, net.linear->bias));
}

TEST(TorchTensors, BuffersComeBackAndFreshOptimisersHaveNoState) {
  Net net(1);
  net.named_buffers()["mean"].fill_(9);
  Checkpoint c;
  store_module(c, "", net);
  torch::optim::Adam adam(net.parameters());
  store_adam(c, "adam/", adam);
  EXPECT_EQ(c.tensors.size(), 3u);
  EXPECT_TRUE(c.counters.empty());
  Net other(1);
  restore_module(c, "", other);
  EXPECT_EQ(other.named_buffers()["mean"][0].item<float>(), 9);
  restore_adam(c, "adam/", adam);
  EXPECT_TRUE(adam.state().empty());
}

TEST(TorchTensors, MisfitsChangeNothing) {
  Net small(1);
  Net large(2);
  Checkpoint c;
  store_module(c, "net/", large);
  const auto before = small.linear->weight.clone();
  EXPECT_THAT(
      [&] { restore_module(c, "net/", small); },
      ThrowsMessage<Error>(HasSubstr("tensor 'net/linear.weight' is Float [2,2], the network's is Float [1,2]")));
  EXPECT_THAT([&] { restore_module(c, "other/", small); },
              ThrowsMessage<Error>(HasSubstr("no tensor 'other/linear.weight'")));
  c = {};
  store_module(c, "net/", small);
  c.tensors["net/extra"] = to_data(torch::zeros({1}));
  EXPECT_THAT([&] { restore_module(c, "net/", small); },
              ThrowsMessage<Error>(HasSubstr("4 tensors 'net/*', the network has 3")));
  EXPECT_TRUE(torch::equal(small.linear->weight, before));
}

}  // namespace
}  // namespace rlgo::learner
