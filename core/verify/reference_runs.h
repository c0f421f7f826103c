// What a graph computes in double precision, kept: the side of a comparison that all candidates share.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/verify/agreement.h"
#include "core/verify/numbers.h"

namespace rlgo::verify {

// One value of a run, of which so much is kept as is compared.
struct Kept {
  std::vector<int64_t> places;  // flat indices of what is kept; none: all
  ops::Shape sizes;
  ops::DType type = ops::DType::f64;
  std::vector<double> values;
  std::vector<double> scale;  // of floats: the larger of an element's magnitude and its channel's median
  // Largest |noisy - values|, by Noise; none before ReferenceRuns::add_noise().
  std::array<std::vector<double>, 2> noise;
};

// What moves every number of a noisy run, in relative terms.
enum class Noise : uint8_t {
  operators,  // 1e-13, the rounding of double precision
  constants,  // 6e-8: what a file's single precision leaves of a constant (0.70710677 stands for the root of 1/2)
};

// Elements of `tensor` at `places` (all where there are none), in double precision.
std::vector<double> picked(const Tensor& tensor, const std::vector<int64_t>& places);

// Every number times 1 + `noise` * a random number: a tensor of its own, because others may share the elements.
Tensor noisy(const Tensor& tensor, double noise, uint64_t seed, int threads);

// A graph in double precision on sets of inputs. Every set is run once, whatever is compared with it; of inner values
// a sample is kept, for as many sets as fit into kMostKeptBytes: those of further sets are computed again.
class ReferenceRuns {
 public:
  static constexpr int64_t kMostKeptBytes = int64_t{1} << 29;
  using Key = std::pair<graph::NodeId, int32_t>;  // a value: node, port

  // `weights`: contents that are there already; null: none. `deadline`: of all runs, which then end with Stopped and
  // can be asked for again. Throws Error where contents of weights are absent.
  ReferenceRuns(graph::Graph graph, int threads, std::shared_ptr<WeightStore> weights = {}, Deadline deadline = {});
  const graph::Graph& graph() const { return graph_; }
  int threads() const { return threads_; }
  const Deadline& deadline() const { return deadline_; }
  // Contents of weights, to be shared with graphs made from this one.
  const std::shared_ptr<WeightStore>& weights() const { return weights_; }
  // How often the graph has run, noisy runs and runs in single precision included.
  int64_t runs() const { return runs_; }

  // A new set of inputs; returns its number, counted from 0.
  int add(TensorMap inputs);
  int sets() const { return static_cast<int>(sets_.size()); }
  const TensorMap& inputs(int set) const { return sets_[static_cast<size_t>(set)].inputs; }
  // Outputs in double precision. Throws Error where the graph cannot be run on them.
  const TensorMap& outputs(int set);
  // All values that are computed, by node and port, and the outputs by name.
  std::map<Key, Kept>& inner(int set);
  std::map<std::string, Kept>& kept_outputs(int set);
  // Runs again with noise after every operator, twice a round, until there were so many rounds; inner() and
  // kept_outputs() then show how far it moves them at most. That of constants comes on top of that of operators. Throws
  // Stopped at once where these runs would take longer than until the deadline.
  void add_noise(int set, Noise noise, int rounds = 1);
  // Errors of the graph's own outputs in single precision.
  const OutputErrors& own_errors(int set);

 private:
  struct Set {
    TensorMap inputs;
    std::optional<TensorMap> outputs;
    std::map<std::string, Kept> kept_outputs;
    std::optional<std::map<Key, Kept>> inner;
    int64_t bytes = 0;                  // of `inner`, about
    std::array<int, 2> noise_rounds{};  // by Noise: those that `inner` shows
    std::optional<OutputErrors> own_errors;
  };
  Set& run(int set, bool with_inner);
  void make_room(int64_t bytes);

  graph::Graph graph_;
  int threads_;
  Deadline deadline_;
  std::shared_ptr<WeightStore> weights_;
  evaluate::Interpreter interpreter_;
  std::vector<Set> sets_;
  int64_t runs_ = 0;
  double run_s_ = 0;  // what the latest run without noise took
};

}  // namespace rlgo::verify
