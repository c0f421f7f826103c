#include "core/optimise/whole_timer.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/temporary_folder.h"

namespace rlgo::optimise {
namespace {

class Timed {
 public:
  Timed(std::shared_ptr<cost::Runtime> runtime, const LoadedModel& model, int repeats, WriteGraph write)
      : runtime_(std::move(runtime)),
        model_(model),
        repeats_(repeats),
        write_(std::move(write)),
        folder_("rlgo-whole") {}

  double time_us(const graph::Graph& graph) {
    const std::lock_guard lock(mutex_);
    const auto [known, fresh] = ratios_.try_emplace(graph.hash(), 0.0);
    if (!fresh) return initial_us_ * known->second;
    try {
      known->second = ratio(graph);
    } catch (...) {
      ratios_.erase(known);
      throw;
    }
    return initial_us_ * known->second;
  }

 private:
  cost::RunnableModel runnable(const graph::Graph& graph, const char* name) const {
    if (!runtime_->reads_files()) return {&graph, {}};
    write_(model_, graph, folder_.path() / name);
    return {&graph, folder_.path() / name};
  }

  double ratio(const graph::Graph& graph) {
    if (initial_us_ == 0) original_ = runnable(model_.graph, "original.onnx");
    const bool is_original = graph.hash() == model_.graph.hash();
    if (is_original && initial_us_ > 0) return 1;
    std::vector<cost::RunnableModel> both = {original_};
    if (!is_original) both.push_back(runnable(graph, "rewritten.onnx"));
    runtime_->set_input_shapes(run_shapes(model_));  // others may use the runtime, too
    const auto found = runtime_->compare(both, {repeats_, 0, 1, ++comparisons_, false});
    std::string error = found.error;
    for (const auto& timing : found.models) {
      if (error.empty()) error = timing.error;
    }
    if (!error.empty()) fail("{} cannot time the whole graph: {}", runtime_->name(), error);
    if (initial_us_ == 0) initial_us_ = found.models[0].median_us;
    return is_original ? 1 : found.ratio[1];
  }

  const std::shared_ptr<cost::Runtime> runtime_;
  const LoadedModel model_;
  const int repeats_;
  const WriteGraph write_;
  const TemporaryFolder folder_;
  std::mutex mutex_;  // of all below
  cost::RunnableModel original_;
  double initial_us_ = 0;                        // of the model's graph, once it was timed
  std::unordered_map<uint64_t, double> ratios_;  // to it, by a graph's hash
  uint64_t comparisons_ = 0;
};

}  // namespace

WholeTimer whole_timer(std::shared_ptr<cost::Runtime> runtime, const LoadedModel& model, int repeats,
                       WriteGraph write) {
  return [timed = std::make_shared<Timed>(std::move(runtime), model, repeats, std::move(write))](
             const graph::Graph& graph) { return timed->time_us(graph); };
}

}  // namespace rlgo::optimise
