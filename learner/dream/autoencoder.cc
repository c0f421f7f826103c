#include "learner/dream/autoencoder.h"

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>

#include <algorithm>

#include "core/nets/batch.h"
#include "core/nets/dense.h"

namespace rlgo::learner {
namespace {

using torch::Tensor;

// Node pairs [E] that are drawn within the graphs of the edges.
Tensor drawn_targets(const nets::GraphBatch& batch, Rng& rng) {
  std::vector<int64_t> targets;
  for (size_t g = 0; g + 1 < batch.node_offset.size(); ++g) {
    const auto nodes = static_cast<uint64_t>(batch.node_offset[g + 1] - batch.node_offset[g]);
    for (int64_t e = batch.edge_offset[g]; e < batch.edge_offset[g + 1]; ++e)
      targets.push_back(batch.node_offset[g] + static_cast<int64_t>(rng.below(nodes)));
  }
  return torch::tensor(targets, torch::kInt64).to(batch.edge_src.device());
}

struct Decoders {
  Decoders(int64_t width, int64_t ops, torch::Device device, Rng& rng)
      : to_target(width, width, rng), to_counts(width, ops, rng) {
    to_target->to(device);
    to_counts->to(device);
  }
  Tensor loss(const nets::GraphBatch& batch, const nets::Encoding& latent, Rng& rng) {
    const int64_t ops = to_counts->bias.size(0);
    const auto wanted = torch::zeros({batch.graphs * ops}, latent.global.options())
                            .index_add(0, batch.node_graph * ops + batch.node_op,
                                       torch::ones_like(batch.node_op, latent.global.options()))
                            .log1p()
                            .reshape({batch.graphs, ops});
    auto sum = torch::mse_loss(to_counts(latent.global), wanted);
    if (batch.edge_src.size(0) == 0) return sum;
    const auto source = to_target(latent.nodes).index_select(0, batch.edge_src);
    const auto score = [&](const Tensor& target) {
      return (source * latent.nodes.index_select(0, target)).sum(1) / latent.nodes.size(1);
    };
    return sum + torch::softplus(-score(batch.edge_dst)).mean() +
           torch::softplus(score(drawn_targets(batch, rng))).mean();
  }
  nets::Dense to_target, to_counts;
};

}  // namespace

double pretrain(nets::Encoder& encoder, std::span<const mdp::Observation* const> observations,
                const mdp::ObservationSpec& spec, torch::Device device, uint64_t seed,
                const AutoencoderOptions& options, const std::function<void()>& between) {
  Rng rng({seed, 0xAE});
  Decoders decoders(encoder->options().width, spec.ops, device, rng);
  auto parameters = encoder->parameters();
  for (auto* decoder : {&decoders.to_target, &decoders.to_counts})
    for (const auto& p : (*decoder)->parameters()) parameters.push_back(p);
  torch::optim::Adam adam(parameters, torch::optim::AdamOptions(options.learning_rate));
  std::vector<const mdp::Observation*> order(observations.begin(), observations.end());
  double first = 0, last = 0;
  for (int pass = 0; pass < options.passes; ++pass) {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    last = 0;
    for (size_t begin = 0; begin < order.size(); begin += static_cast<size_t>(options.batch)) {
      const auto count = std::min(order.size() - begin, static_cast<size_t>(options.batch));
      const auto batch = nets::collate(std::span(order).subspan(begin, count), spec, device);
      adam.zero_grad();
      const auto loss = decoders.loss(batch, encoder(batch), rng);
      loss.backward();
      torch::nn::utils::clip_grad_norm_(parameters, 1.0);
      adam.step();
      last += loss.item<double>() * static_cast<double>(count);
      if (between) between();
    }
    if (pass == 0) first = last;
  }
  adam.zero_grad();
  return first > 0 ? last / first : 1;
}

}  // namespace rlgo::learner
