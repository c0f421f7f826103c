// The model that candidates are compared with, at its sample sizes and at others: loaded and run once for all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cost/runtime.h"
#include "core/optimise/inputs.h"
#include "core/optimise/model.h"
#include "core/verify/range_inputs.h"
#include "core/verify/reference_runs.h"
#include "core/verify/unknown_types.h"

namespace rlgo::optimise {

// What a result is held against: inputs, the original's outputs in double precision, and by how much each of its own
// outputs in single precision misses these (verify::output_errors).
struct Expected {
  evaluate::TensorMap inputs, outputs;
  verify::OutputErrors own_errors;
  verify::UnknownTypes unknown;  // of the original
  bool centred = false;  // inputs near what the model takes away: the rounding of folded weights counts there, too
};

// The original at other sizes of its open dimensions. The graph itself is not kept: weights may be large.
struct AtSizes {
  Sizes sizes;
  cost::InputShapes shapes;  // of all inputs
  bool synthetic = false;    // an operator is unknown here, and a synthetic function stands for it
  Expected expected;
};

class Original {  // its outputs, computed once for all candidates
 public:
  // Refers to `model`. `seed`: of the inputs. `deadline`: of all runs, which end with Stopped. Throws Error where
  // contents of weights are absent.
  Original(const LoadedModel& model, int threads, uint64_t seed, Deadline deadline = {})
      : model_(model),
        threads_(threads),
        seed_(seed),
        deadline_(std::move(deadline)),
        left_to_try_(check_sizes(model.samples)) {}

  // At the sample sizes, with at least `sets` sets of inputs, whose kinds take turns; set 1 is of inputs near what the
  // model takes away from them (verify::centred_inputs) where it does.
  std::shared_ptr<verify::ReferenceRuns> runs(int sets);
  Expected expected(int set);
  // Whether set 1 is such.
  bool has_centred();
  // A set of inputs across the range of numbers, below verify::kRangeSets; null where the original leaves that range.
  const verify::RangeSet* range(int set);
  // Contents of its weights, in a store of their own that may take more: those of a large model are the most that a
  // check holds.
  std::shared_ptr<evaluate::WeightStore> weights();
  // The k-th of the sizes at which the original runs; null where there are no more. Sizes at which it does not are
  // passed over, once. `soon`: of those that were not tried yet, the smallest come first.
  const AtSizes* other(size_t k, bool soon);

 private:
  bool try_sizes(const Sizes& sizes);

  const LoadedModel& model_;
  int threads_;
  uint64_t seed_;
  Deadline deadline_;
  std::shared_ptr<verify::ReferenceRuns> runs_;
  std::optional<evaluate::TensorMap> centred_;
  std::vector<std::optional<verify::RangeSet>> ranges_;  // those that were asked for
  std::vector<Sizes> left_to_try_;
  std::vector<std::unique_ptr<AtSizes>> others_;
};

// The file that `options` name with its open dimensions fixed to `sizes`, next to those that the options fix. Throws
// Error where it cannot have them.
LoadedModel load_at_sizes(ModelOptions options, const Sizes& sizes, bool with_weights);

// The model read with smaller sample sizes, at which a run takes `share` of the operations or less, or the smallest
// there are; operators have the same numbers. Null where no dimension is open, or none of these sizes will do. Throws
// Stopped at the deadline.
std::unique_ptr<LoadedModel> at_smaller_sizes(const LoadedModel& model, double fraction, const Deadline& deadline);

}  // namespace rlgo::optimise
