#include "core/optimise/original.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/verify/agreement.h"
#include "core/verify/centred_inputs.h"

namespace rlgo::optimise {
namespace {

// Elements of the inputs at other sizes: at most so many times those at the sample sizes, or so few.
constexpr int64_t kMoreElements = 4, kFewElements = int64_t{1} << 16, kMostElements = int64_t{1} << 26;
constexpr int64_t kDivisor = 4, kMostDivisor = 64;  // of sizes that are made smaller
constexpr int64_t kMostUnit = 32;                   // of which such sizes are multiples, where the model needs that
constexpr double kLeastSaving = 0.7;                // of the operations: sizes that take more are hardly smaller

int64_t input_elements(const graph::Graph& graph) {
  int64_t sum = 0;
  for (const graph::NodeId id : graph.inputs()) {
    const auto& type = graph.type({id, 0});
    if (type.is_static()) sum += std::min(type.elements(), kMostElements);
  }
  return sum;
}

// How often each kind of operator is unknown: kept as it is, with a synthetic function in its place.
std::map<std::string, int64_t> unknown_operators(const graph::Graph& graph) {
  std::map<std::string, int64_t> counts;
  for (const graph::NodeId id : graph.order()) {
    if (const auto& opaque = graph.node(id).info->opaque) ++counts[opaque->op_type];
  }
  return counts;
}

// Whether the original can have these sizes, as far as shapes show, at about the work that the sample sizes take. Where
// its shapes contradict each other (a picture whose height must be a multiple of 32, for example), the import leaves
// the operators behind as they are, unknown.
bool admits(const graph::Graph& at_sizes, const graph::Graph& at_samples) {
  return input_elements(at_sizes) <= std::max(kMoreElements * input_elements(at_samples), kFewElements) &&
         std::ranges::all_of(unknown_operators(at_sizes), [known = unknown_operators(at_samples)](const auto& kind) {
           const auto found = known.find(kind.first);
           return found != known.end() && kind.second <= found->second;
         });
}

// Grows with the work that they make.
double extent_of(const Sizes& sizes) {
  double product = 1;
  for (const auto& [name, size] : sizes) product *= static_cast<double>(size);
  return product;
}

double flops_of(const graph::Graph& graph) {
  double sum = 0;
  for (const graph::NodeId id : graph.order()) sum += graph.node(id).info->work.flops;
  return sum;
}

// The same operators by the same numbers, whatever their sizes.
bool same_operators(const graph::Graph& a, const graph::Graph& b) {
  return std::ranges::equal(a.order(), b.order()) && std::ranges::all_of(a.order(), [&](graph::NodeId id) {
           return a.node(id).op() == b.node(id).op() && std::ranges::equal(a.node(id).inputs, b.node(id).inputs);
         });
}

evaluate::TensorMap inputs_of(const graph::Graph& graph, uint64_t seed, int set) {
  return verify::check_inputs(graph, seed + 1 + static_cast<uint64_t>(set / verify::kInputKinds),
                              set % verify::kInputKinds);
}

}  // namespace

LoadedModel load_at_sizes(ModelOptions options, const Sizes& sizes, bool with_weights) {
  options.later_sizes = sizes;
  return load_model(options, with_weights);
}

namespace {

// A part of `size`, 2 or more; `unit`: a multiple of the largest power of two that divides `size`, up to this one.
int64_t part_of(int64_t size, int64_t divisor, int64_t unit) {
  const int64_t step = std::min(unit, size & -size);
  return std::max({int64_t{2}, step, (size / divisor + step / 2) / step * step});
}

// The model read with such parts of its sample sizes; null where it does not admit them, or has other operators then.
std::unique_ptr<LoadedModel> at_parts(const LoadedModel& model, int64_t divisor, int64_t unit) {
  ModelOptions options = model.source;
  options.sizes.clear();
  for (const auto& [name, size] : model.samples)
    options.sizes.push_back(fmt::format("{}={}", name, part_of(size, divisor, unit)));
  try {
    auto found = std::make_unique<LoadedModel>(load_model(options, true));
    return same_operators(found->graph, model.graph) ? std::move(found) : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

std::unique_ptr<LoadedModel> at_smaller_sizes(const LoadedModel& model, double fraction, const Deadline& deadline) {
  const double flops = flops_of(model.graph);
  std::unique_ptr<LoadedModel> best;
  for (int64_t divisor = kDivisor; divisor <= kMostDivisor && !model.samples.empty(); divisor *= kDivisor) {
    deadline.check();
    auto smaller = at_parts(model, divisor, 1);
    // Pictures, say, that are halved five times and joined with what they were before.
    if (!smaller) smaller = at_parts(model, divisor, kMostUnit);
    const double its_fraction = smaller ? flops_of(smaller->graph) / flops : 1;
    if (its_fraction > kLeastSaving) continue;
    best = std::move(smaller);
    if (its_fraction <= fraction) break;
  }
  return best;
}

std::shared_ptr<verify::ReferenceRuns> Original::runs(int sets) {
  if (!runs_) {
    runs_ = std::make_shared<verify::ReferenceRuns>(model_.graph, threads_, nullptr, deadline_);
    centred_ = verify::centred_inputs(model_.graph, seed_);
  }
  while (runs_->sets() < sets) {
    const int set = runs_->sets();
    if (set == 1 && centred_)
      runs_->add(*centred_);
    else
      runs_->add(inputs_of(model_.graph, seed_, set > 1 && centred_ ? set - 1 : set));
  }
  return runs_;
}

bool Original::has_centred() {
  runs(0);
  return centred_.has_value();
}

Expected Original::expected(int set) {
  const auto runs = this->runs(set + 1);
  return {runs->inputs(set), runs->outputs(set), runs->own_errors(set), verify::unknown_types(model_.graph),
          set == 1 && centred_};
}

const verify::RangeSet* Original::range(int set) {
  while (static_cast<int>(ranges_.size()) <= set)
    ranges_.push_back(
        verify::range_set(model_.graph, seed_, static_cast<int>(ranges_.size()), threads_, runs(0)->weights()));
  const auto& found = ranges_[static_cast<size_t>(set)];
  return found ? &*found : nullptr;
}

std::shared_ptr<evaluate::WeightStore> Original::weights() {
  return std::make_shared<evaluate::WeightStore>(*runs(0)->weights());
}

bool Original::try_sizes(const Sizes& sizes) {
  try {
    const auto loaded = load_at_sizes(model_.source, sizes, true);
    if (!admits(loaded.graph, model_.graph)) return false;
    verify::ReferenceRuns runs(loaded.graph, threads_, weights(), deadline_);
    runs.add(inputs_of(loaded.graph, seed_, 0));
    others_.push_back(std::make_unique<AtSizes>(
        AtSizes{sizes,
                input_shapes(loaded.graph),
                !unknown_operators(loaded.graph).empty(),
                {runs.inputs(0), runs.outputs(0), runs.own_errors(0), verify::unknown_types(loaded.graph)}}));
    return true;
  } catch (const Stopped&) {
    throw;
  } catch (const Error&) {
    return false;  // the model does not admit them
  }
}

const AtSizes* Original::other(size_t k, bool soon) {
  if (soon && k >= others_.size()) std::ranges::stable_sort(left_to_try_, {}, extent_of);
  while (k >= others_.size() && !left_to_try_.empty()) {
    const Sizes sizes = left_to_try_.front();
    deadline_.check();
    try_sizes(sizes);
    left_to_try_.erase(left_to_try_.begin());
  }
  return k < others_.size() ? others_[k].get() : nullptr;
}

}  // namespace rlgo::optimise
