// The runtime that will serve a model: what times its operators, runs whole models in turns, and answers with outputs.
// LibTorch within this process (core/exec/runtime.h), any other in a child process (core/measure/runtime.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/cost/cost.h"
#include "core/cost/table.h"
#include "core/graph/graph.h"

namespace rlgo::cost {

// What a model takes next to its runs.
struct LoadCost {
  double seconds = 0;  // to load it; 0: not known
  int64_t bytes = 0;   // that the process grew by, at most, until it had run once
  bool known() const { return seconds > 0; }
};

// Times of one model. `error` states why there are none.
struct Timing {
  double median_us = 0;  // one run
  double spread_us = 0;  // interquartile range of the samples
  double min_us = 0;
  int samples = 0;
  double layout_fraction = 0;  // of the time, in [0, 1]: layouts changed at the model's own inputs and outputs
  LoadCost loading;            // of the first model that a process of the runtime loads
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

// A number, or the text of an input of strings. The functions are for nlohmann's JSON.
struct InputValue : std::variant<double, std::string> {
  InputValue() = default;
  InputValue(double number) : variant(number) {}              // NOLINT(google-explicit-constructor)
  InputValue(std::string text) : variant(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  template <typename Json>
  friend void to_json(Json& json, const InputValue& value) {
    std::visit([&](const auto& held) { json = held; }, value);
  }
  template <typename Json>
  friend void from_json(const Json& json, InputValue& value) {
    if (json.is_string())
      value = json.template get<std::string>();
    else
      value = json.template get<double>();
  }
};
// What inputs have, by name: one number for all elements, or one for each; texts that are drawn from, or one for each.
using InputValues = std::map<std::string, std::vector<InputValue>>;
// Shapes of inputs, by name.
using InputShapes = std::map<std::string, std::vector<int64_t>>;

// A model in both forms: a runtime takes the one that it runs. Refers to the caller's graph.
struct RunnableModel {
  const graph::Graph* graph = nullptr;
  std::filesystem::path file = {};  // written from `graph`; may be "" where !Runtime::reads_files()
};

struct CompareOptions {
  int repeats = 9;     // rounds, >= 1
  double seconds = 0;  // when so much has passed no further round is begun, once there are `least`; 0: no limit
  int least = 1;
  uint64_t order = 0;  // seeds the order in which models are loaded and run
  bool twin = true;    // the first model is loaded twice, for Comparison::noise
  int first = -1;      // the model that is loaded first; -1: any
};

// Several models run in turns: round by round, in random order within a round.
struct Comparison {
  std::vector<Timing> models;                  // in the order given; whole runs, nothing subtracted
  std::vector<std::vector<double>> quotients;  // of each model: its time over the first one's, round by round
  std::vector<double> ratio;                   // median of the quotients; 0 where failed
  std::vector<double> ratio_spread;            // interquartile range of the quotients
  double noise = 0;                            // |1 - ratio| that the first model shows against its twin
  std::string error;                           // the whole comparison failed
  InputValues assumed;                         // what inputs of the first model that may mean something were given
};
// Fills in `quotients`, `ratio`, `ratio_spread` of model `k` from its samples and the first model's, round by round.
void set_quotients(Comparison& comparison, size_t k, std::span<const double> us, std::span<const double> first_us);
// What the first model shows against its twin: the difference that is there, or the half-width of the 95 % interval of
// a median (1.57 interquartile ranges over the root of the samples, McGill et al. 1978), whichever is larger.
double noise_of(std::span<const double> twin_us, std::span<const double> first_us);

// Told how many operators of a request are timed (0 of 0: one by one), answers how many seconds more it may take: 0 or
// less ends it.
using MeasureWatch = std::function<double(size_t done, size_t of)>;

// Costs of operators that a runtime times when they are asked for.
struct MeasuredCosts {
  std::shared_ptr<TableCost> table;  // keeps the times
  std::shared_ptr<CostModel> model;  // asks the table, and what fills it
  // What may not be timed any more is estimated. None set: everything is timed.
  std::function<void(MeasureWatch)> set_watch;
  // Makes estimates again, from all times so far; null where nothing is estimated.
  std::function<void()> refresh = {};
  // What the same operators are predicted to take, by a model that learned from others; null where there is none.
  std::shared_ptr<CostModel> predicted = {};
  // Why operators have no time, as the runtime states it, with their number; null where all have one.
  std::function<std::map<std::string, int>()> failures = {};
  std::string learned_on = {};  // the processors whose times it learned from: "AMD EPYC"
};

// Whole models under one setting of the runtime's own switches.
struct SwitchTiming {
  std::string level;       // of graph optimisation, as the runtime calls it: "extended"
  int threads = 1;         // that share the work of one run
  bool usual = false;      // the setting of all other measurements
  std::vector<double> us;  // of each model, median of elapsed times; 0: not measured
  std::string error;       // why there are none
};

// One kernel that a runtime ran for a model.
struct OperatorTime {
  std::string name, op;  // as the file calls it, "" where it does not; its type in ONNX or the runtime's own
  double us = 0;         // in one run
};

// Not thread-safe.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::string name() const = 0;    // "LibTorch", "onnxruntime 1.31.1"
  virtual std::string device() const = 0;  // the hardware, as it calls itself: "AMD EPYC 7B13"
  virtual int threads() const = 0;
  // True: runs RunnableModel::file, else RunnableModel::graph.
  virtual bool reads_files() const = 0;
  // False: outputs() cannot be asked for.
  virtual bool answers_outputs() const = 0;

  // Shapes to run models with that leave them open; the runtime's own choice for inputs that are not named.
  virtual void set_input_shapes(InputShapes shapes) = 0;
  // Numbers that inputs of whole models are to hold; what others get is up to the runtime.
  virtual void set_input_values(InputValues values) = 0;

  // Starts the runtime again in a fresh process, where memory lies elsewhere; shapes and values stay. False: it runs in
  // this process and has no other. Throws Error where it does not start again.
  virtual bool restart() { return false; }
  // How long such a start takes, s; 0 where there is none.
  virtual double start_s() const { return 0; }

  // A new table and the model that fills it (`measure`: single operators or, where the runtime fuses, groups of them).
  virtual MeasuredCosts measure() = 0;
  // Latency of whole models. The first is the one to compare with. Failures of single models are in the result.
  virtual Comparison compare(std::span<const RunnableModel> models, const CompareOptions& options) = 0;
  // Whole models under each setting of the runtime's own switches, in about `seconds`; nothing where it has none.
  virtual std::vector<SwitchTiming> switches(std::span<const RunnableModel> models, double seconds) {
    static_cast<void>(models);
    static_cast<void>(seconds);
    return {};
  }
  // The kernels of one run of a model, by the runtime's own account; nothing where it gives none.
  virtual std::vector<OperatorTime> operator_times(const RunnableModel& model) {
    static_cast<void>(model);
    return {};
  }
  // What models answer to the same synthetic inputs (number `set`), one run each.
  virtual std::vector<Outputs> outputs(std::span<const RunnableModel> models, int set) = 0;
  // The same without the runtime's own graph optimisation; where it has none to turn off, outputs() or nothing.
  virtual std::vector<Outputs> plain_outputs(std::span<const RunnableModel> models, int set) {
    static_cast<void>(models);
    static_cast<void>(set);
    return {};
  }
};

}  // namespace rlgo::cost
