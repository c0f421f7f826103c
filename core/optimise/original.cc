#include "core/optimise/original.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/exec/agreement.h"
#include "core/exec/centred_inputs.h"

namespace rlgo::optimise {
namespace {

// Elements of the inputs at other sizes: at most so many times those at the sample sizes, or so few.
constexpr int64_t kMoreElements = 4, kFewElements = int64_t{1} << 16, kMostElements = int64_t{1} << 26;

int64_t input_elements(const graph::Graph& graph) {
  int64_t sum = 0;
  for (const graph::NodeId id : graph.inputs()) {
    const auto& type = graph.type({id, 0});
    if (type.is_static()) sum += std::min(type.elements(), kMostElements);
  }
  return sum;
}

// How often each kind of operator is unknown: kept as it is, with a made-up function in its place.
std::map<std::string, int64_t> unknown_operators(const graph::Graph& graph) {
  std::map<std::string, int64_t> counts;
  for (const graph::NodeId id : graph.order()) {
    if (const auto& opaque = graph.node(id).info->opaque) ++counts[opaque->op_type];
  }
  return counts;
}

// Whether the original can have these sizes, as far as shapes tell, at about the work that the sample sizes take. Where
// its shapes contradict each other (a picture whose height must be a multiple of 32, say), the import leaves the
// operators behind as they are, unknown.
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

exec::TensorMap inputs_of(const graph::Graph& graph, uint64_t seed, int set) {
  return exec::check_inputs(graph, seed + 1 + static_cast<uint64_t>(set / exec::kInputKinds), set % exec::kInputKinds);
}

}  // namespace

LoadedModel load_at_sizes(ModelOptions options, const Sizes& sizes, bool with_weights) {
  options.later_sizes = sizes;
  return load_model(options, with_weights);
}

std::shared_ptr<exec::ReferenceRuns> Original::runs(int sets) {
  if (!runs_) {
    runs_ = std::make_shared<exec::ReferenceRuns>(model_.graph, threads_);
    centred_ = exec::centred_inputs(model_.graph, seed_);
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
  return {runs->inputs(set), runs->outputs(set), runs->own_errors(set), exec::unknown_types(model_.graph),
          set == 1 && centred_};
}

const exec::RangeSet* Original::range(int set) {
  while (static_cast<int>(ranges_.size()) <= set)
    ranges_.push_back(
        exec::range_set(model_.graph, seed_, static_cast<int>(ranges_.size()), threads_, runs(0)->weights()));
  const auto& found = ranges_[static_cast<size_t>(set)];
  return found ? &*found : nullptr;
}

std::shared_ptr<exec::WeightStore> Original::weights() {
  return std::make_shared<exec::WeightStore>(*runs(0)->weights());
}

bool Original::try_sizes(const Sizes& sizes) {
  try {
    const auto loaded = load_at_sizes(model_.source, sizes, true);
    if (!admits(loaded.graph, model_.graph)) return false;
    exec::ReferenceRuns runs(loaded.graph, threads_, weights());
    runs.add(inputs_of(loaded.graph, seed_, 0));
    others_.push_back(std::make_unique<AtSizes>(
        AtSizes{sizes,
                input_shapes(loaded.graph),
                !unknown_operators(loaded.graph).empty(),
                {runs.inputs(0), runs.outputs(0), runs.own_errors(0), exec::unknown_types(loaded.graph)}}));
    return true;
  } catch (const Error&) {
    return false;  // the model does not admit them
  }
}

const AtSizes* Original::other(size_t k, bool soon) {
  if (soon && k >= others_.size()) std::ranges::stable_sort(left_to_try_, {}, extent_of);
  while (k >= others_.size() && !left_to_try_.empty()) {
    const Sizes sizes = left_to_try_.front();
    left_to_try_.erase(left_to_try_.begin());
    try_sizes(sizes);
  }
  return k < others_.size() ? others_[k].get() : nullptr;
}

}  // namespace rlgo::optimise
