#include "core/optimise/whole_timer.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/quantile.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/base/write_error.h"
#include "core/optimise/benchmark.h"

namespace rlgo::optimise {
namespace {

constexpr int kMostFailures = 2;  // of one graph

// What was seen of one graph.
struct Looks {
  std::vector<double> quotients;  // of all rounds
  std::vector<double> medians;    // of each look
  int failures = 0;
  std::string failure;  // the last one

  double ratio() const { return median(quotients); }
  double error() const {
    const auto [low, high] = std::ranges::minmax(medians);
    return std::max(margin(0, interquartile_range(quotients), static_cast<double>(quotients.size())), (high - low) / 2);
  }
};

class Timed {
 public:
  Timed(std::shared_ptr<cost::Runtime> runtime, const LoadedModel& model, const WholeTimerOptions& options,
        WriteGraph write)
      : runtime_(std::move(runtime)),
        model_(model),
        options_(options),
        write_(std::move(write)),
        folder_("rlgo-whole") {}

  cost::WholeTiming time(const graph::Graph& graph, double against) {
    const std::lock_guard lock(mutex_);
    if (graph.hash() == model_.graph.hash()) return unmodified();
    Looks& looks = looks_[graph.hash()];
    while (wants_more(looks, against) && look(graph, looks)) {
    }
    if (std::ssize(looks.medians) < options_.least_looks) return {initial_us_, 1, 0, looks.failure};
    return {initial_us_, looks.ratio(), looks.error(), ""};
  }

 private:
  bool wants_more(const Looks& looks, double against) const {
    if (looks.failures >= kMostFailures || std::ssize(looks.medians) >= options_.most_looks) return false;
    if (std::ssize(looks.medians) < options_.least_looks) return true;
    return std::abs(looks.ratio() - against) <= looks.error() && looks.error() > kLeastMargin;
  }

  cost::RunnableModel runnable(const graph::Graph& graph, const char* name) const {
    if (!runtime_->reads_files()) return {&graph, {}};
    write_(model_, graph, folder_.path() / name);
    return {&graph, folder_.path() / name};
  }

  // The model's own graph and `other`, if any, in turns. Returns why that failed, or "".
  std::string compare(const graph::Graph* other, cost::Comparison& found) {
    try {
      if (original_.graph == nullptr) original_ = runnable(model_.graph, "original.onnx");
      std::vector<cost::RunnableModel> both = {original_};
      if (other != nullptr) both.push_back(runnable(*other, "rewritten.onnx"));
      runtime_->set_input_shapes(run_shapes(model_));  // others may use the runtime, too
      ++comparisons_;
      found = runtime_->compare(both, {options_.rounds, 0, 1, comparisons_, false, static_cast<int>(comparisons_ % 2)});
    } catch (const WriteError&) {
      throw;  // no room: of no graph
    } catch (const Error& e) {
      return e.what();
    }
    if (!found.error.empty()) return found.error;
    for (const auto& timing : found.models) {
      if (!timing.ok()) return timing.error;
    }
    if (initial_us_ == 0) initial_us_ = found.models[0].median_us;
    return "";
  }

  cost::WholeTiming unmodified() {
    cost::Comparison found;
    const std::string failure = initial_us_ > 0 ? "" : compare(nullptr, found);
    return {initial_us_, 1, 0, failure};
  }

  // False where it failed.
  bool look(const graph::Graph& graph, Looks& looks) {
    cost::Comparison found;
    const std::string failure = compare(&graph, found);
    if (!failure.empty() || found.quotients[1].empty()) {
      ++looks.failures;
      looks.failure = failure.empty() ? "no rounds" : failure;
      return false;
    }
    looks.quotients.insert(looks.quotients.end(), found.quotients[1].begin(), found.quotients[1].end());
    looks.medians.push_back(median(found.quotients[1]));
    return true;
  }

  const std::shared_ptr<cost::Runtime> runtime_;
  const LoadedModel model_;
  const WholeTimerOptions options_;
  const WriteGraph write_;
  const TemporaryFolder folder_;
  std::mutex mutex_;  // of all below
  cost::RunnableModel original_;
  double initial_us_ = 0;                      // of the model's graph, once it was timed
  std::unordered_map<uint64_t, Looks> looks_;  // by a graph's hash
  uint64_t comparisons_ = 0;
};

}  // namespace

cost::WholeTimer whole_timer(std::shared_ptr<cost::Runtime> runtime, const LoadedModel& model,
                             const WholeTimerOptions& options, WriteGraph write) {
  RLGO_CHECK(options.rounds >= 1 && options.least_looks >= 1 && options.most_looks >= options.least_looks);
  return [timed = std::make_shared<Timed>(std::move(runtime), model, options, std::move(write))](
             const graph::Graph& graph, double against) { return timed->time(graph, against); };
}

std::string timed_under(const cost::Runtime& runtime) {
  return fmt::format("{}, {}, {}", runtime.name(), runtime.device(), counted(runtime.threads(), "thread"));
}

}  // namespace rlgo::optimise
