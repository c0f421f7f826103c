#include "core/nets/plain.h"

#include "core/base/error.h"

namespace rlgo::nets {
namespace {

void add(const std::string& name, const torch::Tensor& tensor, agent::Tensors& to) {
  const auto host = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  const float* values = host.const_data_ptr<float>();
  to[name] = {{host.sizes().begin(), host.sizes().end()}, {values, values + host.numel()}};
}

}  // namespace

agent::Tensors plain_tensors(const torch::nn::Module& module) {
  agent::Tensors tensors;
  for (const auto& item : module.named_parameters()) add(item.key(), item.value(), tensors);
  for (const auto& item : module.named_buffers()) add(item.key(), item.value(), tensors);
  return tensors;
}

agent::Shape plain_shape(const AgentOptions& options) {
  if (!options.has_plain_form())
    fail("an agent with --gnn.block {} and --policy.head {} has no plain form: only local and joint together have",
         name_of(options.block, kBlocks), name_of(options.head, kPolicyHeads));
  return {.rounds = options.rounds,
          .width = options.width,
          .mean_aggregation = options.aggregation == Aggregation::mean,
          .mean_pooling = options.pooling == Aggregation::mean,
          .both_directions = options.both_directions,
          .shared = options.shared,
          .pointer = options.location_head == LocationHead::pointer};
}

agent::Network plain_network(const ActorCriticImpl& network) {
  return {network.spec(), plain_shape(network.options()), plain_tensors(network)};
}

}  // namespace rlgo::nets
