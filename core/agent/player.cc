#include "core/agent/player.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/agent/choice.h"
#include "core/agent/kernels.h"
#include "core/base/error.h"

namespace rlgo::agent {
namespace {

double log_sum_exp(const float* x, size_t count) {
  if (count == 0) return -std::numeric_limits<double>::infinity();
  const double top = static_cast<double>(*std::max_element(x, x + count));
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += std::exp(static_cast<double>(x[i]) - top);
  return top + std::log(sum);
}

// The action of the highest logit.
mdp::Action highest(const Judgement& judged, const std::vector<int32_t>& counts) {
  mdp::Action best{static_cast<int32_t>(counts.size()), 0};
  float most = judged.stop;
  size_t l = 0;
  for (size_t rule = 0; rule < counts.size(); ++rule) {
    for (int32_t location = 0; location < counts[rule]; ++location, ++l) {
      if (!(judged.score[l] > most)) continue;
      most = judged.score[l];
      best = {static_cast<int32_t>(rule), location};
    }
  }
  return best;
}

}  // namespace

Player::Player(std::shared_ptr<const Network> network) : rows_(network), judge_(std::move(network)) {}

// `ids`: after the last round.
void Player::pool(RowIds ids) {
  const auto& shape = rows_.network().shape;
  const auto width = static_cast<size_t>(shape.width);
  const auto w = static_cast<int64_t>(width);
  summary_.pooled.assign(static_cast<size_t>(shape.rounds) * 2 * width, 0.0f);
  const auto divide = [&](float* sum, size_t count) {
    if (!shape.mean_pooling || count == 0) return;
    for (size_t c = 0; c < width; ++c) sum[c] /= static_cast<float>(count);
  };
  for (int round = shape.rounds; round > 0; --round) {
    float* nodes = summary_.pooled.data() + static_cast<size_t>(round - 1) * 2 * width;
    float* edges = nodes + width;
    for (int32_t& id : ids.nodes) {
      kernels::add(nodes, rows_.node(round, id), w);
      id = rows_.table().node(round, id).before;
    }
    for (int32_t& id : ids.edges) {
      kernels::add(edges, rows_.edge(round, id), w);
      id = rows_.table().edge(round, id).before;
    }
    divide(nodes, ids.nodes.size());
    divide(edges, ids.edges.size());
  }
}

const Judgement& Player::judge(const mdp::Observation& o) {
  const auto& spec = rows_.network().spec;
  mdp::check(o, spec);
  if (o.node_op.empty()) fail("agent: the observation has no nodes (a dreamed one?)");
  rows_.forget_if_full();
  RowIds ids = rows_.table().add(o);
  rows_.compute();
  locations_.counts = o.counts;
  locations_.features = o.loc_feat;
  locations_.rest_end = o.loc_rest_end;
  const auto row = [&](int32_t node) { return ids.nodes[static_cast<size_t>(node)]; };
  locations_.root.resize(o.loc_node.size());
  std::ranges::transform(o.loc_node, locations_.root.begin(), row);
  locations_.rest.resize(o.loc_rest.size());
  std::ranges::transform(o.loc_rest, locations_.rest.begin(), row);
  summary_.globals = o.globals;
  pool(std::move(ids));
  return judge_.judge(rows_, summary_, locations_);
}

float Player::value(const mdp::Observation& observation) { return judge_.value_of_rule(judge(observation).global); }

Choice Player::choose(const mdp::Observation& o, double u_rule, double u_location, bool greedy) {
  const Judgement& judged = judge(o);
  if (!std::isfinite(judged.stop) || !std::ranges::all_of(judged.score, [](float s) { return std::isfinite(s); }))
    fail("agent: the policy is not finite; the weights are damaged");
  const size_t rules = o.counts.size();
  std::vector<float> log_rule(rules + 1);
  std::vector<size_t> first(rules + 1, 0);
  std::vector<double> sums(rules);
  double top = static_cast<double>(judged.stop);
  for (size_t x = 0; x < rules; ++x) {
    first[x + 1] = first[x] + static_cast<size_t>(o.counts[x]);
    sums[x] = log_sum_exp(judged.score.data() + first[x], first[x + 1] - first[x]);
    top = std::max(top, sums[x]);
  }
  double total = std::exp(static_cast<double>(judged.stop) - top);
  for (const double sum : sums) total += std::exp(sum - top);
  const double norm = top + std::log(total);
  for (size_t x = 0; x < rules; ++x) log_rule[x] = static_cast<float>(sums[x] - norm);
  log_rule[rules] = static_cast<float>(static_cast<double>(judged.stop) - norm);

  Choice choice;
  if (greedy) {
    choice.action = highest(judged, o.counts);
  } else {
    choice.action.rule = static_cast<int32_t>(sample_log(log_rule.data(), static_cast<int64_t>(rules) + 1, u_rule));
  }
  const auto x = static_cast<size_t>(choice.action.rule);
  choice.log_prob_rule = log_rule[x];
  if (x < rules) {
    std::vector<float> log_location(first[x + 1] - first[x]);
    for (size_t l = 0; l < log_location.size(); ++l)
      log_location[l] = static_cast<float>(static_cast<double>(judged.score[first[x] + l]) - sums[x]);
    if (!greedy)
      choice.action.location =
          static_cast<int32_t>(sample_log(log_location.data(), static_cast<int64_t>(log_location.size()), u_location));
    choice.log_prob_location = log_location[static_cast<size_t>(choice.action.location)];
  }
  choice.value_rule = judge_.value_of_rule(judged.global);
  choice.value_location = judge_.value_of_location(judged.global, choice.action.rule);
  return choice;
}

}  // namespace rlgo::agent
