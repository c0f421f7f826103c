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
#include "core/cost/runtime.h"
#include "core/cost/table.h"
#include "core/cost/timing.h"
#include "core/graph/graph.h"
#include "core/measure/calibration.h"
#include "core/onnx/onnx.h"

namespace rlgo::measure {

struct MeasurerOptions : cost::TimingOptions {
  uint64_t seed = 1;                       // of synthetic inputs and of the order of runs
  double start_timeout_s = 60;             // for the first answer of a child
  double silence_s = 60;                   // a child that states nothing for longer hangs
  int max_restarts = 8;                    // more crashes and hangs than this end its use
  std::function<bool()> should_stop = {};  // ends a request with Stopped; its child is killed
};

// What the child states of itself.
struct MeasurerHello {
  std::string runtime;  // "onnxruntime"
  std::string version;  // "1.31.1"
  std::string device;   // "AMD EPYC"
  int threads = 1;
  bool outputs = false;       // answers requests for outputs
  bool switches = false;      // answers requests for settings of its own switches
  bool profile = false;       // answers requests for times of a model's operators
  bool reference = false;     // times a reference next to samples: calibration.h
  bool pool_context = false;  // wants the operands of fused additions in its own layout: measurable() in group.h
};

using cost::Comparison;
using cost::InputValues;
using cost::Output;
using cost::Outputs;
using cost::Timing;

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

  const MeasurerHello& hello() const;  // what the child process reported of itself
  const MeasurerOptions& options() const;
  // Ends the child and starts another one, in whose process memory lies elsewhere. Shapes and values stay. Throws Error
  // where it does not start; the next request then tries again.
  void restart();
  double start_s() const;  // that the latest start took
  // "measured:onnxruntime-1.31.1", device, threads: what tables of its times are kept under.
  cost::TableOrigin origin() const;

  // Shapes of inputs, by name, to run models with that leave them open; 1 for open extents of other inputs.
  void set_input_shapes(std::map<std::string, std::vector<int64_t>> shapes);

  // Values of inputs, by name, that whole models run with; what others get is up to the measurer.
  void set_input_values(InputValues values);

  // The clock calibration to which times of small models are scaled.
  ClockCalibration& calibration();

  // Times of small models (operators, groups), loaded together and run in turns. The time of an empty run is taken off.
  std::vector<Timing> measure(std::span<const std::filesystem::path> models,
                              const std::function<void(size_t done)>& progress = {});
  // Latency of whole models, a round after the other, in random order within a round; see cost::CompareOptions. The
  // first is the one to compare with.
  Comparison compare(std::span<const std::filesystem::path> models, const cost::CompareOptions& options);

  // What models answer to the same synthetic inputs (of options().seed + `set`), one run each. Needs hello().outputs.
  // `plain`: without the runtime's own graph optimisation, where the measurer can do that.
  std::vector<Outputs> outputs(std::span<const std::filesystem::path> models, int set, bool plain = false);

  // Sends a JSON object {"do": ...} with seed (options().seed + `set`), shapes and values added; the answer. Throws
  // Error where there is none.
  std::string ask(const std::string& request, int set = 0);
  // A model's file as a request states it: under a name that is UTF-8.
  std::string name_of(const std::filesystem::path& model) const;
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
