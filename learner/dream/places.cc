#include "learner/dream/places.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/base/error.h"
#include "core/nets/menu.h"

namespace rlgo::learner {
namespace {

using Key = std::tuple<int64_t, int32_t>;  // change of cost, operator of the root

// Keys of the locations of an observation, by rule: sorted, with each location's place among all.
struct Keyed {
  Key key;
  int64_t location;
  auto operator<=>(const Keyed&) const = default;
};

Key key_of(const mdp::Observation& o, size_t location, int32_t columns) {
  const double percent = columns > 0 ? o.loc_feat[location * static_cast<size_t>(columns)] : 0;
  return {std::llround(percent * 1e4), o.node_op[static_cast<size_t>(o.loc_node[location])]};
}

std::vector<Keyed> keys_of(const mdp::Observation& o, size_t begin, size_t end, int32_t columns) {
  std::vector<Keyed> keys;
  for (size_t l = begin; l < end; ++l) keys.push_back({key_of(o, l, columns), static_cast<int64_t>(l)});
  std::ranges::sort(keys);
  return keys;
}

// Locations of `now` without an equal in `before`, each of which has one equal at most.
std::vector<int64_t> without_equal(std::span<const Keyed> before, std::span<const Keyed> now) {
  std::vector<int64_t> result;
  size_t k = 0;
  for (const auto& entry : now) {
    while (k < before.size() && before[k].key < entry.key) ++k;
    if (k < before.size() && before[k].key == entry.key) {
      ++k;
    } else {
      result.push_back(entry.location);
    }
  }
  return result;
}

}  // namespace

EpisodePlaces find_places(const mdp::Trajectory& episode, std::span<const torch::Tensor> features,
                          const mdp::ObservationSpec& spec) {
  RLGO_CHECK_EQ(features.size(), episode.steps.size() + 1);
  const auto steps = static_cast<int64_t>(episode.steps.size());
  const int64_t width = features[0].size(1), rules = spec.rules;
  EpisodePlaces p;
  p.place = torch::zeros({steps, width});
  p.overlap = torch::zeros({steps, rules});
  p.gone = torch::zeros({steps, rules}, torch::kInt64);
  std::vector<torch::Tensor> come;
  for (int64_t t = 0; t < steps; ++t) {
    const auto& step = episode.steps[static_cast<size_t>(t)];
    if (step.action.rule >= rules) continue;
    const auto& before = step.observation;
    const auto& now = t + 1 < steps ? episode.steps[static_cast<size_t>(t + 1)].observation : episode.last;
    const auto own = features[static_cast<size_t>(t)].contiguous();
    const nets::Menu menu(before, {own.const_data_ptr<float>(), static_cast<size_t>(own.numel())}, width);
    menu.overlap(step.action, {p.overlap.data_ptr<float>() + t * rules, static_cast<size_t>(rules)});
    const auto& chosen = menu.at(step.action).features;
    std::copy(chosen.begin(), chosen.end(), p.place.data_ptr<float>() + t * width);
    size_t before_end = 0, now_end = 0;
    for (int64_t x = 0; x < rules; ++x) {
      const size_t before_begin = before_end, now_begin = now_end;
      before_end += static_cast<size_t>(before.counts[static_cast<size_t>(x)]);
      now_end += static_cast<size_t>(now.counts[static_cast<size_t>(x)]);
      if (before_begin == before_end && now_begin == now_end) continue;
      auto old = keys_of(before, before_begin, before_end, spec.location_features);
      if (x == step.action.rule) {
        const auto taken = static_cast<int64_t>(before_begin) + step.action.location;
        std::erase_if(old, [&](const Keyed& k) { return k.location == taken; });
      }
      const auto born = without_equal(old, keys_of(now, now_begin, now_end, spec.location_features));
      // count' = count - gone + come
      p.gone.data_ptr<int64_t>()[t * rules + x] = before.counts[static_cast<size_t>(x)] -
                                                  now.counts[static_cast<size_t>(x)] +
                                                  static_cast<int64_t>(born.size());
      for (const int64_t l : born) {
        p.come_step.push_back(t);
        p.come_rule.push_back(x);
        come.push_back(features[static_cast<size_t>(t + 1)][l]);
      }
    }
  }
  p.come = come.empty() ? torch::zeros({0, width}) : torch::stack(come);
  return p;
}

}  // namespace rlgo::learner
