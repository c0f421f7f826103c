// Whether a rewrite changed what a graph computes: original and result in double precision, value by value.
//
// In single precision a sound rewrite and a wrong one can look alike: rounding adds up over layers, one large element
// hides the others, a saturated end hides everything. In double precision a sound rewrite agrees to about 1e-9 of each
// element's own scale, so that what differs more is wrong. Elements for which double precision is not enough (large
// terms cancel, a comparison stands on its edge) are found by running the original again with noise of the size of
// rounding errors after every operator (the idea of stochastic arithmetic, Vignes 2004): what that moves is not judged.
// Constants of a file are rounded to single precision, while rules read the numbers that they stand for (0.70710677 is
// the root of 1/2): where a difference stays, noise of that size has the last word. A wrong rewrite moves the value
// that it replaces by far more.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/deadline.h"
#include "core/graph/graph.h"
#include "core/verify/numbers.h"

namespace rlgo::verify {

// A value of the original graph, and the value of the rewritten graph that must equal it.
using ValuePair = std::pair<graph::Value, graph::Value>;

// Values that both graphs have under the same id: rewriting keeps the ids of what it does not touch. `replaced`: values
// that rewrites put in the place of others (rules::Script). Constants and inputs are left out.
std::vector<ValuePair> shared_values(const graph::Graph& before, const graph::Graph& after,
                                     std::span<const ValuePair> replaced);

struct AgreementOptions {
  double tolerance = 1e-9;  // of an element's own scale: the larger of its magnitude and its channel's median magnitude
  int threads = 1;
};

// What was found out about one pair of graphs, over all sets of inputs so far.
struct Agreement {
  std::string interface;  // why they cannot be compared at all: other inputs, outputs or types; "" where they can
  int64_t compared = 0;   // elements that were judged
  int64_t unstable = 0;   // elements that noise moves as far: not judged
  int64_t rounded = 0;    // elements that differ as far as a rounding of constants explains (Noise::constants)
  int64_t undefined = 0;  // elements that are NaN or infinite in the original: not judged
  int64_t undefined_differ = 0;         // those of them that are something else in the result
  double error = 0;                     // the largest of an element, relative to its scale
  std::string worst;                    // where: "output 'y'", "value of conv2d 'c1'"
  bool wrong = false;                   // an element differs beyond the tolerance
  std::vector<bool> output_compared;    // by output: an element of it was judged
  std::vector<bool> output_moves;       // by output: an element of it differs from set to set, or within one
  std::vector<bool> replaced_compared;  // by pair of `replaced`
};

class ReferenceRuns;

// Compares pairs of values and all outputs of two graphs. Weights are loaded once.
class AgreementCheck {
 public:
  // Refers to nothing of the caller's. Throws Error where contents of weights are absent.
  AgreementCheck(const graph::Graph& before, const graph::Graph& after, std::vector<ValuePair> replaced,
                 const AgreementOptions& options = {});
  // The original's runs are kept there, for all graphs that are compared with it.
  AgreementCheck(std::shared_ptr<ReferenceRuns> original, const graph::Graph& after, std::vector<ValuePair> replaced,
                 const AgreementOptions& options = {});
  ~AgreementCheck();
  // Runs both on `inputs` and adds to found(). Throws Error where a graph cannot be run, and Stopped at the deadline of
  // the original's runs: found() is then as before. Where it comes between a comparison and its noisy runs, what
  // differs by no more than roundings of constants may explain counts as rounded.
  void run(const TensorMap& inputs);
  // The same for a set of the original's runs.
  void run(int set);
  const Agreement& found() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Sets of inputs for a check, by kind: normal numbers; numbers in [0, 1) (pictures, lengths, what roots and logarithms
// can take); normal numbers times 16, and times 1/16. The first kind has masks (random_inputs()): with
// any other integers a softmax behind a mask of -3e38 shows the mask alone.
constexpr int kInputKinds = 4;
TensorMap check_inputs(const graph::Graph& graph, uint64_t seed, int kind);

// Relative errors by name of a graph output.
using OutputErrors = std::map<std::string, double>;
// Largest error of `got` against `reference` for each output, relative to the largest magnitude of the element's
// channel (axis 1 of what has three axes or more) and at least to 1e-3 of the output's; 1 where an integer or a boolean
// differs, infinity where shapes do or a number became NaN or infinite.
OutputErrors output_errors(const TensorMap& reference, const TensorMap& got);
// The graph's outputs in single precision (in what precision it states). Throws Stopped at the deadline.
TensorMap native_outputs(const graph::Graph& graph, const TensorMap& inputs, int threads,
                         const Deadline& deadline = {});
// ... in double precision. `weights`: contents that are there already; null: none.
TensorMap exact_outputs(const graph::Graph& graph, const TensorMap& inputs, int threads,
                        std::shared_ptr<WeightStore> weights = {}, const Deadline& deadline = {});

}  // namespace rlgo::verify
