#include "core/calibrate/kernel_bench.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <unordered_map>

#include "core/base/destination.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/quantile.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/calibrate/kernel_tables.h"
#include "core/calibrate/operator_samples.h"
#include "core/cost/kept.h"
#include "core/graph/editor.h"
#include "core/measure/group.h"
#include "core/optimise/model.h"
#include "core/zoo/zoo.h"

namespace rlgo::calibrate {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using ops::Op;
using report::Json;
using Print = std::function<void(const std::string&)>;

constexpr size_t kFirst = 4, kMost = 32;  // operators between two looks at the clock: more where they are quick
constexpr double kQuickSeconds = 2;
constexpr double kPatienceSeconds = 600;  // with what was asked for: it is refused by the runtime, or timed
constexpr int kReferences = 5;            // of each kind, so that one slow moment is no machine that is too busy

// An operator alone, and how often each model has it.
struct Sample {
  std::string op, signature;
  Graph graph;
  NodeId id;
  std::map<size_t, double> in_models;
  bool asked = false;            // the runtime was asked for its time
  double us = 0, spread_us = 0;  // 0: not timed
};

double element_count(const Graph& graph, NodeId id) {
  int64_t most = 1;
  const Node& node = graph.node(id);
  for (const auto& in : node.inputs) {
    if (!graph.node(in.node).constant) most = std::max(most, graph.type(in).elements());
  }
  for (const auto& out : node.info->outputs) most = std::max(most, out.elements());
  return static_cast<double>(most);
}

// Operators of the models that cost something, each once; those that are opaque by number, and their part of the time
// of models that the runtime gives times of.
struct Corpus {
  std::vector<Sample> samples;
  std::map<std::string, int64_t> opaque;
  std::map<std::string, double> opaque_fraction;
  int profiled = 0;
};

// Every model counts alike.
void profile(const optimise::LoadedModel& model, const std::string& file, cost::Runtime& runtime, Corpus& out) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return;
  runtime.set_input_shapes(optimise::run_shapes(model));
  const auto kept = cost::kept_operators(model.graph, runtime.operator_times({&model.graph, file}));
  runtime.set_input_shapes({});
  if (!kept.timed) return;
  ++out.profiled;
  for (const auto& [type, kind] : kept.kinds) out.opaque_fraction[type] += kind.fraction;
}

Corpus read_corpus(const std::vector<std::string>& graphs, cost::Runtime& runtime,
                   const std::function<bool()>& should_stop) {
  Corpus out;
  std::unordered_map<std::string, size_t> places;
  for (size_t m = 0; m < graphs.size(); ++m) {
    const optimise::LoadedModel model = optimise::load_model({.graph = graphs[m]}, true, should_stop);
    profile(model, graphs[m], runtime, out);
    for (const NodeId id : model.graph.order()) {
      const Node& node = model.graph.node(id);
      if (node.op() == Op::opaque && !node.constant) ++out.opaque[node.info->opaque->op_type];
      if (cost::is_free(node)) continue;
      std::string signature = measure::group_signature(model.graph, {&id, 1});
      const auto [at, is_new] = places.try_emplace(signature, out.samples.size());
      if (is_new) {
        Graph alone = measure::group_graph(model.graph, {&id, 1});
        const NodeId there = alone.outputs()[0].value.node;
        out.samples.push_back({std::string(ops::name(node.op())), std::move(signature), std::move(alone), there, {}});
      }
      ++out.samples[at->second].in_models[m];
    }
  }
  for (auto& [type, fraction] : out.opaque_fraction) fraction /= out.profiled;
  return out;
}

void keep_operators(std::vector<Sample>& samples, const std::vector<std::string>& operators) {
  if (operators.empty()) return;
  std::set<std::string> known;
  for (const Sample& one : samples) known.insert(one.op);
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& name : operators) {
    if (known.contains(name)) continue;
    fail_usage("bench kernels: no model has an operator '{}'{}; they have {}", name, did_you_mean(name, names),
               join(names, ", "));
  }
  std::erase_if(samples, [&](const Sample& one) { return std::ranges::find(operators, one.op) == operators.end(); });
}

// Times samples until the time is over. What the runtime cannot run has no time.
class Timer {
 public:
  explicit Timer(cost::Runtime& runtime) : prices_(runtime.measure()) {
    if (prices_.set_watch) prices_.set_watch([](size_t, size_t) { return kPatienceSeconds; });
  }

  void time(std::span<Sample* const> samples) {
    const bool together = prices_.model->defer();
    for (const Sample* one : samples) prices_.model->op_us(one->graph, one->id);
    if (together) prices_.model->flush();
    for (Sample* one : samples) {
      one->asked = true;
      const auto* found = find_time(*prices_.table, one->graph, one->id);
      if (found != nullptr) one->us = found->us, one->spread_us = found->spread_us;
    }
  }
  std::map<std::string, int> failures() const {
    return prices_.failures ? prices_.failures() : std::map<std::string, int>();
  }

 private:
  cost::MeasuredCosts prices_;
};

// What the runtime was asked to time and does not run alone: shapes by operator, and why.
struct Refused {
  std::map<std::string, int> operators, reasons;
};

Refused refused(const std::vector<Sample>& samples, const Timer& timer) {
  Refused out;
  for (const Sample& one : samples) out.operators[one.op] += one.asked && one.us <= 0;
  std::erase_if(out.operators, [](const auto& of) { return of.second == 0; });
  if (!out.operators.empty()) out.reasons = timer.failures();
  return out;
}

std::string to_text(const Refused& refused) {
  if (refused.operators.empty()) return "";
  std::vector<std::string> operators, reasons;
  for (const auto& [op, count] : refused.operators) operators.push_back(fmt::format("{} ({})", op, count));
  for (const auto& [reason, count] : refused.reasons) reasons.push_back(fmt::format("{} x {}", count, reason));
  return fmt::format("Left out, since the runtime does not run them alone (shapes): {}. Why: {}.\n",
                     join(operators, ", "), join(reasons, "; "));
}

Sample reference(const std::string& name, const ops::Shape& shape, int64_t columns) {
  graph::Editor editor("reference");
  const auto x = editor.add_input("x", {ops::DType::f32, shape});
  graph::Value y;
  if (columns > 0) {
    const ops::TensorType type(ops::DType::f32, {shape.back(), columns});
    y = editor.op(Op::matmul, {x, editor.add_weight("w", graph::Blob::seeded(type, 1, 0.1, 0))});
  } else {
    y = editor.op(Op::relu, {x});
  }
  editor.add_output("y", y);
  Sample out{name, {}, *editor.finish(), {}, {}};
  out.id = out.graph.outputs()[0].value.node;
  out.signature = measure::group_signature(out.graph, {&out.id, 1});
  return out;
}

// Sizes differ by a row, so that none is found in the table of an earlier one.
MachineSpeed machine_speed(Timer& timer, int64_t first_row) {
  std::vector<Sample> samples;
  constexpr int64_t kSide = 1024;
  constexpr int64_t kRows[] = {1 << 3, 1 << 6, 1 << 9, 1 << 12,
                               1 << 15};  // of 2 KiB: 16 KiB to 64 MiB, read and written
  for (int k = 0; k < kReferences; ++k) {
    samples.push_back(reference("least", {1 + first_row + k}, 0));
    samples.push_back(reference("matmul", {kSide + first_row + k, kSide}, kSide));
    for (const int64_t rows : kRows) samples.push_back(reference(std::to_string(rows), {rows + first_row + k, 256}, 0));
  }
  std::map<std::string, std::vector<double>> speeds;  // work a us
  for (Sample& one : samples) {
    Sample* const alone[] = {&one};
    timer.time(alone);
    if (one.us <= 0) continue;
    const auto& work = one.graph.node(one.id).info->work;
    speeds[one.op].push_back((one.op == "least" ? 1 : one.op == "matmul" ? work.flops : work.bytes) / one.us);
  }
  MachineSpeed out;
  for (auto& [name, values] : speeds) {
    const double speed = median(values);
    if (name == "least") {
      out.least_us = std::max(out.least_us, 1 / speed);
      continue;
    }
    // Small ones take too little to show how busy the machine is.
    if (name == "matmul" || parse_int(name).value_or(0) >= kRows[2])
      out.spread = std::max(out.spread, interquartile_range(values) / speed);
    if (name == "matmul") out.gflops = speed / 1e3;
  }
  for (const int64_t rows : kRows) {
    const auto found = speeds.find(std::to_string(rows));
    if (found == speeds.end()) continue;
    out.gbytes_per_s.emplace_back(static_cast<double>(rows) * 2048, median(found->second) / 1e3);
  }
  if (out.gflops <= 0 || out.gbytes_per_s.empty())
    fail("bench kernels: the runtime timed neither a matrix product nor a Relu, which others are compared with");
  return out;
}

void refuse_busy(const MachineSpeed& speed, double most) {
  if (speed.spread > most) {
    fail(
        "bench kernels: this machine is too busy to time kernels: times of the same operator spread by {:.0f} %, "
        "{:.0f} % are allowed; end what else runs and try again, or allow more (--spread)",
        100 * speed.spread, 100 * most);
  }
}

// Elements alone take no arithmetic that a good kernel waits for.
double waited_flops(const Sample& one) {
  return one.op == "matmul" || one.op.starts_with("conv") ? one.graph.node(one.id).info->work.flops : 0;
}

// By their part of the models' time, at the machine's own speed: what the seconds do not reach matters least.
void heaviest_first(std::vector<Sample>& samples, size_t models, const MachineSpeed& speed) {
  const auto us = [&](const Sample& one) {
    return speed.us(one.graph.node(one.id).info->work.bytes, waited_flops(one));
  };
  std::vector<double> model_us(models, 0);
  for (const Sample& one : samples)
    for (const auto& [m, count] : one.in_models) model_us[m] += count * us(one);
  std::ranges::stable_sort(samples, std::greater{}, [&](const Sample& one) {
    double fraction = 0;
    for (const auto& [m, count] : one.in_models) fraction += count * us(one) / model_us[m];
    return fraction;
  });
}

std::vector<KernelTime> kernel_times(const std::vector<Sample>& samples, size_t models, const MachineSpeed& speed) {
  std::vector<double> model_us(models, 0);
  for (const Sample& one : samples)
    for (const auto& [m, count] : one.in_models) model_us[m] += count * one.us;
  const auto counted_models = std::ranges::count_if(model_us, [](double us) { return us > 0; });
  std::vector<KernelTime> out;
  for (const Sample& one : samples) {
    if (one.us <= 0) continue;
    const auto& work = one.graph.node(one.id).info->work;
    KernelTime time{one.op, one.signature, one.us, element_count(one.graph, one.id), work.bytes};
    time.flops = waited_flops(one);
    for (const auto& [m, count] : one.in_models)
      time.fraction += count * one.us / model_us[m] / static_cast<double>(counted_models);
    time.machine_us = speed.us(time.bytes, time.flops);
    out.push_back(std::move(time));
  }
  std::ranges::sort(out, {}, [](const KernelTime& t) { return std::pair(-t.fraction, t.signature); });
  return out;
}

// A line of an operator that rlgo does not know has its type and its share alone.
std::string csv_text(const std::vector<KernelTime>& times, const Corpus& corpus) {
  std::string text = "operator,us,machine_us,elements,bytes,flops,fraction,kernel\n";
  for (const auto& one : times)
    text += fmt::format("{},{},{:.4g},{},{},{},{:.6g},\"{}\"\n", one.op, one.us, one.machine_us, one.elements,
                        one.bytes, one.flops, one.fraction, one.signature);
  for (const auto& [type, fraction] : corpus.opaque_fraction)
    text += fmt::format("{},,,,,,{:.6g},\"kept as it is\"\n", type, fraction);
  return text;
}

Json to_json(const std::vector<KernelTime>& times) {
  Json out = Json::array();
  for (const auto& one : times) {
    out.push_back({{"operator", one.op},
                   {"kernel", one.signature},
                   {"us", one.us},
                   {"machine_us", one.machine_us},
                   {"elements", one.elements},
                   {"bytes", one.bytes},
                   {"flops", one.flops},
                   {"fraction", one.fraction}});
  }
  return out;
}

// The most time first.
std::string opaque_text(const Corpus& corpus) {
  if (corpus.opaque.empty()) return "";
  cost::KeptOperators kept;
  kept.timed = corpus.profiled > 0;
  for (const auto& [type, count] : corpus.opaque) {
    const auto fraction = corpus.opaque_fraction.find(type);
    kept.kinds[type] = {static_cast<int>(count), fraction == corpus.opaque_fraction.end() ? 0.0 : fraction->second};
  }
  const std::string of = kept.timed ? fmt::format(" (of {}, whole)", counted(corpus.profiled, "model")) : "";
  return fmt::format("Not timed alone{}, since rlgo does not know them: {}.\n", of, cost::to_text(kept));
}

std::vector<std::string> corpus_names(const KernelBenchOptions& options) {
  if (!options.graphs.empty()) return options.graphs;
  std::vector<std::string> out;
  for (const auto& name : zoo::names())
    if (!name.starts_with("toy_")) out.emplace_back(name);
  return out;
}

}  // namespace

double MachineSpeed::us(double bytes, double flops) const {
  const auto enough = std::ranges::find_if(gbytes_per_s, [&](const auto& at) { return at.first >= bytes; });
  const double bandwidth = (enough == gbytes_per_s.end() ? gbytes_per_s.back() : *enough).second;
  return least_us + bytes / bandwidth / 1e3 + flops / gflops / 1e3;
}

void declare(OptionSink& o, KernelBenchOptions& options) {
  o.heading("Bench kernels");
  o.texts("graphs", options.graphs,
          "zoo graphs or .onnx files whose operators are timed, separated by commas; none: the zoo");
  o.texts("operators", options.operators, "only these, by rlgo's names, separated by commas; none: all");
  o.number("seconds", options.seconds, 1, 86400, "of timing operators, s");
  o.number("slow", options.slow, 1, 1e6, "kernels that take so many times what the machine needs are listed");
  o.number("spread", options.spread, 0, 1,
           "relative spread of reference times from which on the machine counts as too busy");
  o.text("csv", options.csv, "file for a line of each kernel");
  o.text("page", options.page, "file for the tables in Markdown");
}

Json bench_kernels(const KernelBenchOptions& options, cost::Runtime& runtime, const std::function<bool()>& should_stop,
                   const Print& print) {
  for (const auto* file : {&options.csv, &options.page})
    if (!file->empty()) check_destination(*file);
  const auto graphs = corpus_names(options);
  Corpus corpus = read_corpus(graphs, runtime, should_stop);
  keep_operators(corpus.samples, options.operators);
  Timer timer(runtime);
  MachineSpeed speed = machine_speed(timer, 0);
  refuse_busy(speed, options.spread);
  heaviest_first(corpus.samples, graphs.size(), speed);
  const Stopwatch watch;
  std::vector<Sample*> left;
  for (Sample& one : corpus.samples) left.push_back(&one);
  for (size_t k = 0, at_once = kFirst; k < left.size() && watch.seconds() < options.seconds && !should_stop();) {
    const Stopwatch request;
    const size_t count = std::min(at_once, left.size() - k);
    timer.time(std::span(left).subspan(k, count));
    k += count;
    if (request.seconds() < kQuickSeconds) at_once = std::min(kMost, 2 * at_once);
  }
  if (should_stop()) fail("stopped by a signal; nothing was written");
  const MachineSpeed after = machine_speed(timer, kReferences);
  refuse_busy(after, options.spread);
  speed.spread = std::max(speed.spread, after.spread);
  const auto times = kernel_times(corpus.samples, graphs.size(), speed);
  std::string text = fmt::format(
      "{} on {}, {}: {} of {} kernels of {} timed, each alone. The machine's own: a matrix product of 1024 x 1024 x "
      "1024 at {:.0f} GFLOP/s, Relu at {:.1f} to {:.1f} GB/s, {:.1f} us at least; times of the same spread by {:.0f} "
      "%.\n",
      runtime.name(), runtime.device(), counted(runtime.threads(), "thread"), times.size(), corpus.samples.size(),
      counted(graphs.size(), "model"), speed.gflops, speed.gbytes_per_s.back().second,
      speed.gbytes_per_s.front().second, speed.least_us, 100 * speed.spread);
  const Refused left_out = refused(corpus.samples, timer);
  text += to_text(left_out) + opaque_text(corpus);
  text += "\n" + operator_table(times) + "\n" + slow_table(times, options.slow);
  print(text);
  if (!options.csv.empty()) atomic_write(options.csv, csv_text(times, corpus));
  if (!options.page.empty()) atomic_write(options.page, text);
  return {{"reference", {{"gflops", speed.gflops}, {"least_us", speed.least_us}, {"spread", speed.spread}}},
          {"kernels", to_json(times)},
          {"not_timed", corpus.samples.size() - times.size()},
          {"refused", left_out.operators},
          {"refused_because", left_out.reasons},
          {"opaque", corpus.opaque},
          {"opaque_fraction", corpus.profiled > 0 ? Json(corpus.opaque_fraction) : Json()}};
}

}  // namespace rlgo::calibrate
