// Times of ONNX models under the runtime that will serve them, taken by a child process (the protocol:
// docs/measurers.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/cost/table.h"
#include "core/graph/graph.h"
#include "core/onnx/onnx.h"

namespace rlgo::measure {

struct MeasurerOptions {
  int threads = 1;
  int warmup = 2;               // runs of a model before its first sample, >= 0
  int repeats = 9;              // samples of a model, >= 1; the median counts
  double min_sample_us = 500;   // short models run several times per sample, so that it lasts at least this long
  uint64_t seed = 1;            // of made-up inputs and of the order of runs
  double start_timeout_s = 60;  // for the first answer of a child
  double silence_s = 60;        // a child that says nothing for longer hangs
  int max_restarts = 8;         // more crashes and hangs than this end its use
  std::function<bool()> should_stop = {};  // ends a measurement with Error "stopped while measuring"
};

// What the child says of itself.
struct Hello {
  std::string runtime;  // "onnxruntime"
  std::string version;  // "1.31.1"
  std::string device;   // "AMD EPYC"
  int threads = 1;
  bool outputs = false;       // answers requests for outputs
  bool pool_context = false;  // wants the operands of fused additions in its own layout: measurable() in group.h
};

// Times of one model. `error` says why there are none.
struct Timing {
  double median_us = 0;  // one run, without `overhead_us` where measure() took it off
  double spread_us = 0;  // interquartile range of the samples
  double min_us = 0;
  int samples = 0;
  double layout_share =
      0;  // part of the time, in [0, 1]: data layouts changed at the model's own inputs and outputs, where known
  std::string error;
  bool ok() const { return error.empty(); }
};

// What one run of a model gave.
struct Output {
  std::string name;
  std::string dtype;  // as the runtime calls it: "float32"
  std::vector<int64_t> shape;
  std::vector<double> values;  // row-major
};
struct Outputs {
  std::vector<Output> outputs;  // in the model's order
  std::string error;            // why there are none
  bool ok() const { return error.empty(); }
};

// Numbers that inputs have, by name: one for all elements, or one for each.
using InputValues = std::map<std::string, std::vector<double>>;

// Several models run in turns.
struct Comparison {
  std::vector<Timing> models;  // in the order given; whole runs, nothing subtracted
  std::vector<double> ratio;   // of each model to the first: median over rounds of the paired quotient; 0 where failed
  std::vector<double> ratio_spread;  // interquartile range of those quotients
  double noise = 0;                  // |1 - ratio| that the first model shows against itself in the same rounds (A/A)
  std::string error;                 // the whole comparison failed
  InputValues assumed;               // what the measurer gave to inputs of the first model that may mean something
};

// Not thread-safe. A crash, a hang, or nonsense of the child is a failed measurement: the child is started again, and
// only the model that it happened with is given up.
class Measurer {
 public:
  // `command`: program and arguments. Throws Error (with the end of what the child wrote to standard error) where it
  // does not answer the greeting, speaks another protocol, or reports an error, such as a runtime that is not
  // installed.
  Measurer(std::vector<std::string> command, MeasurerOptions options, Log log = {});
  ~Measurer();
  Measurer(const Measurer&) = delete;
  Measurer& operator=(const Measurer&) = delete;

  const Hello& hello() const;
  const MeasurerOptions& options() const;
  // "measured:onnxruntime-1.31.1", device, threads: what tables of its times are kept under.
  cost::TableOrigin origin() const;

  // Shapes of inputs, by name, to run models with that leave them open; 1 for open extents of other inputs.
  void set_input_shapes(std::map<std::string, std::vector<int64_t>> shapes);

  // Values of inputs, by name, that whole models run with; what others get is up to the measurer.
  void set_input_values(InputValues values);

  // Times of small models (operators, groups), loaded together and run in turns. The time of an empty run is taken off.
  std::vector<Timing> measure(std::span<const std::filesystem::path> models,
                              const std::function<void(size_t done)>& progress = {});
  // Latency of whole models, a round after the other, in random order within a round. The first is the one to compare
  // with. `repeats` rounds; fewer, but `least` at the least, where they take longer than `seconds` (0: no limit).
  Comparison compare(std::span<const std::filesystem::path> models, int repeats, double seconds = 0, int least = 1);

  // What models answer to the same made-up inputs (of options().seed + `set`), one run each. Needs hello().outputs.
  std::vector<Outputs> outputs(std::span<const std::filesystem::path> models, int set);

  // A path in the measurer's own folder, which is removed with it; different at each call.
  std::filesystem::path temporary(std::string_view stem);
  // Crashes, hangs and nonsense so far.
  int failures() const;
  // False: it failed too often; every further measurement fails at once.
  bool usable() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// `graph` as a model file of its own in the measurer's folder. Throws Error where it cannot be exported.
std::filesystem::path export_temporary(Measurer& measurer, const graph::Graph& graph, const onnx_io::Folded& folded,
                                       int opset = 17);

}  // namespace rlgo::measure
