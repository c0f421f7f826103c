#include "core/rulegen/generate/prune_term.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::rulegen {

TermView::TermView(const Family& family, const Sketch& sketch) : family_(family), sketch_(sketch) {
  size_ = family.variables.size();
  RLGO_CHECK_LE(sketch.steps.size(), first_.size());
  std::fill_n(step_.begin(), size_, int8_t{-1});
  for (size_t s = 0; s < sketch.steps.size(); ++s) {
    first_[s] = static_cast<uint8_t>(size_);
    for (int p = 0; p < family.configs[sketch.steps[s].config].outputs; ++p) step_[size_++] = static_cast<int8_t>(s);
  }
}

uint32_t TermView::steps_below(int tensor) const {
  if (step_[tensor] < 0) return 0;
  uint32_t below = 1u << step_[tensor];
  for (int s = step_of(tensor); s >= 0; --s) {
    if ((below >> s & 1u) == 0) continue;
    const OpStep& step = sketch_.steps[s];
    for (int k = 0; k < family_.configs[step.config].arity; ++k) {
      if (step_[step.operands[k]] >= 0) below |= 1u << step_[step.operands[k]];
    }
  }
  return below;
}

std::vector<uint64_t> unordered_hashes(const Family& family, const Sketch& sketch, std::span<const uint8_t> names) {
  std::vector<uint64_t> hashes, sums;  // sums: of the terms of a chain of one commutative operator
  std::vector<ops::Op> chains;
  for (size_t v = 0; v < family.variables.size(); ++v) {
    hashes.push_back(mix64(names[v] + uint64_t{1}));
    sums.push_back(0);
    chains.push_back(ops::Op::input);
  }
  for (const auto& step : sketch.steps) {
    const auto& config = family.configs[step.config];
    uint64_t h = mix64(step.config + uint64_t{77}), sum = 0;
    for (int k = 0; k < config.arity; ++k) {
      const int t = step.operands[k];
      h = mix64(h * 0x100000001B3ull ^ hashes[t]);
      sum += chains[t] == config.op ? sums[t] : mix64(hashes[t]);
    }
    for (int p = 0; p < config.outputs; ++p) {
      hashes.push_back(config.commutative ? mix64(sum + static_cast<uint64_t>(config.op)) : mix64(h + p));
      sums.push_back(sum);
      chains.push_back(config.commutative ? config.op : ops::Op::input);
    }
  }
  return hashes;
}

TermMatcher::TermMatcher(const Family& family, const Sketch& pattern)
    : family_(family), pattern_(pattern), view_(family, pattern) {
  for (const auto& step : pattern.steps) {
    swappable_.push_back(family.configs[step.config].commutative ? commutative_++ : -1);
  }
}

std::optional<Bound> TermMatcher::match(const Sketch& graph, const TermView& view, std::span<const uint64_t> values,
                                        std::span<const uint8_t> places, const Bound& given) const {
  graph_ = &graph;
  graph_view_ = &view;
  values_ = values;
  for (uint32_t swaps = 0; swaps < 1u << commutative_; ++swaps) {
    bound_ = given;
    bool fits = true;
    for (size_t k = 0; k < places.size() && fits; ++k) fits = visit(pattern_.outputs[k], places[k], swaps);
    if (fits) return bound_;
  }
  return std::nullopt;
}

bool TermMatcher::visit(int tensor, int place, uint32_t swaps) const {
  const int s = view_.step_of(tensor);
  if (s < 0) {
    const bool free = family_.variables[tensor].constant < 0;
    if (!free) return tensor == place;
    if (bound_[tensor] >= 0) return values_[bound_[tensor]] == values_[place];
    bound_[tensor] = static_cast<int8_t>(place);
    return true;
  }
  const int t = graph_view_->step_of(place);
  if (t < 0 || view_.port_of(tensor) != graph_view_->port_of(place)) return false;
  const OpStep &mine = pattern_.steps[s], &other = graph_->steps[t];
  if (mine.config != other.config) return false;
  const int arity = family_.configs[mine.config].arity;
  const bool swap = swappable_[s] >= 0 && (swaps >> swappable_[s] & 1u) != 0;
  for (int k = 0; k < arity; ++k) {
    if (!visit(mine.operands[k], other.operands[swap ? 1 - k : k], swaps)) return false;
  }
  return true;
}

namespace {

// Copies what outputs need into a new graph.
class Rewriter {
 public:
  Rewriter(const Family& family, const Sketch& graph, std::span<const uint8_t> places, const Sketch& pattern,
           const Bound& bound, size_t max_steps)
      : family_(family),
        graph_(graph),
        pattern_(pattern),
        places_(places),
        bound_(bound),
        max_steps_(max_steps),
        graph_view_(family, graph),
        pattern_view_(family, pattern) {
    next_ = static_cast<int>(family.variables.size());
    done_.fill(-1);
    done_pattern_.fill(-1);
  }

  std::optional<Sketch> run() {
    for (int output : graph_.outputs) {
      const int tensor = old_tensor(output, 0);
      if (tensor < 0) return std::nullopt;
      result_.outputs.push_back(static_cast<uint8_t>(tensor));
    }
    return std::move(result_);
  }

 private:
  static constexpr int kDeep = 24;  // a cycle goes deeper

  int old_tensor(int tensor, int depth) {
    if (depth > kDeep) return -1;
    for (size_t k = 0; k < places_.size(); ++k) {
      if (places_[k] == tensor) return new_tensor(pattern_.outputs[k], depth + 1);
    }
    const int s = graph_view_.step_of(tensor);
    if (s < 0) return tensor;
    if (done_[s] < 0) done_[s] = copy(graph_.steps[s], [&](int t) { return old_tensor(t, depth + 1); });
    return done_[s] < 0 ? -1 : done_[s] + graph_view_.port_of(tensor);
  }

  int new_tensor(int tensor, int depth) {
    if (depth > kDeep) return -1;
    const int s = pattern_view_.step_of(tensor);
    if (s < 0) {
      const int place = family_.variables[tensor].constant < 0 ? bound_[tensor] : tensor;
      return place < 0 ? -1 : inner(place, depth + 1);
    }
    if (done_pattern_[s] < 0) {
      done_pattern_[s] = copy(pattern_.steps[s], [&](int t) { return new_tensor(t, depth + 1); });
    }
    return done_pattern_[s] < 0 ? -1 : done_pattern_[s] + pattern_view_.port_of(tensor);
  }
  // What a variable stands for is never one of the replaced tensors.
  int inner(int tensor, int depth) {
    if (std::ranges::find(places_, tensor) != places_.end()) return -1;
    return old_tensor(tensor, depth);
  }

  template <typename Fn>
  int copy(OpStep step, Fn&& operand) {
    for (int k = 0; k < family_.configs[step.config].arity; ++k) {
      const int t = operand(step.operands[k]);
      if (t < 0) return -1;
      step.operands[k] = static_cast<uint8_t>(t);
    }
    // One step of a kind.
    int at = static_cast<int>(family_.variables.size());
    for (const auto& other : result_.steps) {
      if (other == step) return at;
      at += family_.configs[other.config].outputs;
    }
    if (result_.steps.size() == max_steps_) return -1;
    result_.steps.push_back(step);
    next_ += family_.configs[step.config].outputs;
    return next_ - family_.configs[step.config].outputs;
  }

  const Family& family_;
  const Sketch &graph_, &pattern_;
  std::span<const uint8_t> places_;
  const Bound& bound_;
  size_t max_steps_;
  TermView graph_view_, pattern_view_;
  Sketch result_;
  int next_ = 0;
  std::array<int, 16> done_{}, done_pattern_{};
};

}  // namespace

std::optional<Sketch> rewritten(const Family& family, const Sketch& graph, std::span<const uint8_t> places,
                                const Sketch& pattern, const Bound& bound, size_t max_steps) {
  return Rewriter(family, graph, places, pattern, bound, max_steps).run();
}

}  // namespace rlgo::rulegen
