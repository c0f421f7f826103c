#include "core/optimise/quantised.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/onnx/quantised.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/clock.h"
#include "core/optimise/model.h"
#include "core/optimise/optimise.h"
#include "core/optimise/result.h"

namespace rlgo::optimise {
namespace {

constexpr int kUsualSteps = 2;       // of --allow rounding
constexpr int kSets = 3;             // of inputs whose outputs are compared
constexpr int kRounds = 40;          // of a comparison, at most
constexpr double kFraction = 0.25;   // of the time that is left, for all comparisons of times
constexpr double kLeastGain = 0.01;  // what a rewrite must gain beyond doubt

// Whether the processor adds products of u8 by s8 in 16 bits (AVX2, AVX512 without VNNI).
bool saturates_here() {
  std::ifstream file("/proc/cpuinfo");
  const std::string about((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return about.find(" avx2 ") != std::string::npos && about.find("_vnni") == std::string::npos;
}

// The rewrites of a model, one after the other and together.
class Chooser {
 public:
  Chooser(const OptimiseOptions& options, LoadedModel& model, cost::Runtime& runtime, Benchmark& benchmark,
          std::filesystem::path folder, OptimiseClock& clock, const Log& log, Result& result)
      : options_(options),
        model_(model),
        runtime_(runtime),
        benchmark_(benchmark),
        folder_(std::move(folder)),
        clock_(clock),
        log_(log),
        result_(result),
        allowed_(allowed_steps(options.allow)) {}

  void run() {
    std::vector<Tried> single;
    for (const auto name : onnx_io::quantised_rewrites())
      if (model_.quantised.matches.contains(std::string(name))) single.push_back(try_out({std::string(name)}));
    time(single);
    std::ranges::stable_sort(single, {}, [](const Tried& one) { return one.trial.taken() ? one.trial.ratio : 2; });
    std::set<std::string> all;
    for (const Tried& one : single)
      if (one.trial.taken()) all.insert(one.names.begin(), one.names.end());
    if (all.contains("quantised-moves")) all.erase("dead-quantised");  // part of it
    if (all.size() > 1) {
      std::vector<Tried> both = {single[0], try_out(all)};
      time(both);
      if (both[1].trial.taken() && both[1].trial.ratio < both[0].trial.ratio) take(both[1]);
      result_.quantised.push_back(both[1].trial);
    }
    for (const Tried& one : single) result_.quantised.push_back(one.trial);
    if (!taken_ && !all.empty()) take(single[0]);
  }

 private:
  struct Tried {
    std::set<std::string> names;
    QuantisedTrial trial;
    std::filesystem::path file;
  };

  Tried try_out(const std::set<std::string>& names) {
    Tried out{names, {}, {}};
    out.trial.name = join(std::vector(names.begin(), names.end()), " + ");
    for (const auto& name : names) out.trial.matches += model_.quantised.matches.at(name);
    out.trial.why = refused(names);
    if (!out.trial.why.empty()) return out;
    out.file = folder_ / fmt::format("quantised-{}.onnx", files_++);
    try {
      onnx_io::write_requantised(options_.model.graph, names, out.file);
      compare_outputs(out);
    } catch (const Error& e) {
      out.trial.why = e.what();
    }
    return out;
  }

  // Why the rewrites are not even tried; "" where they are.
  std::string refused(const std::set<std::string>& names) const {
    for (const auto& name : names) {
      if (allowed_ == 0 && onnx_io::changes_rounding(name))
        return "the target's integer kernels round otherwise; --allow rounding admits that";
      if (model_.quantised.saturating.contains(name) && saturates_here())
        return "this processor has no VNNI: kernels for u8 by s8 may saturate with these weights";
    }
    return {};
  }

  void compare_outputs(Tried& tried) {
    const cost::RunnableModel both[] = {{&model_.graph, options_.model.graph}, {&model_.graph, tried.file}};
    QuantisedTrial& trial = tried.trial;
    for (int set = 0; set < kSets && trial.why.empty(); ++set) {
      const auto found = runtime_.outputs(both, set);
      if (!found[1].ok() && found[0].ok()) {
        trial.why = fmt::format("{} cannot run it: {}", runtime_.name(), found[1].error);
        return;
      }
      const auto apart = steps_apart(found[0], found[1], model_.quantised, trial.why);
      if (!apart) return;
      trial.steps = std::max(trial.steps, *apart);
      if (trial.steps > allowed_)
        trial.why = fmt::format("its outputs differ by up to {:.3g} quantisation steps in {}{}", trial.steps,
                                runtime_.name(), allowed_ == 0 ? "; --allow rounding=N admits N" : "");
    }
  }

  // Sets the ratios of those that passed, and why they are not taken where they gain nothing.
  void time(std::vector<Tried>& some) {
    std::vector<size_t> runners;
    std::vector<cost::RunnableModel> models;
    for (size_t k = 0; k < some.size(); ++k) {
      if (!some[k].trial.taken()) continue;
      runners.push_back(k);
      models.push_back({&model_.graph, some[k].file});
    }
    if (models.empty()) return;
    const auto compared = benchmark_.compare(models, kRounds, kFraction / 2 * std::max(0.0, clock_.left()), 3);
    for (size_t k = 0; k < runners.size(); ++k) {
      QuantisedTrial& trial = some[runners[k]].trial;
      const size_t at = k + 1;  // after the original
      if (!compared.error.empty()) {
        trial.why = compared.error;
        continue;
      }
      trial.ratio = compared.ratio[at];
      if (!compared.models[at].error.empty())
        trial.why = compared.models[at].error;
      else if (trial.ratio > 1 - std::max(kLeastGain, margin_of(compared, at)))
        trial.why = "it is not faster";
    }
  }

  void take(const Tried& tried) {
    ModelOptions options = model_.source;
    options.quantised = tried.names;
    try {
      auto loaded = load_model(options, true);
      loaded.other_shapes = model_.other_shapes;
      if (tried.trial.steps > 0) loaded.reference = tried.file;
      model_ = std::move(loaded);
    } catch (const Error& e) {
      log_.warn("the model with {} cannot be read: {}", tried.trial.name, e.what());
      return;
    }
    taken_ = true;
    result_.before = model_.graph;
    result_.about = model_.about;
    result_.changes = model_.changes;
    result_.steps_apart = tried.trial.steps;
  }

  const OptimiseOptions& options_;
  LoadedModel& model_;
  cost::Runtime& runtime_;
  Benchmark& benchmark_;
  std::filesystem::path folder_;
  OptimiseClock& clock_;
  const Log& log_;
  Result& result_;
  int allowed_;
  int files_ = 0;
  bool taken_ = false;
};

}  // namespace

std::string to_text(const QuantisedTrial& trial) {
  std::string text = fmt::format("{} ({}", trial.name, counted(static_cast<size_t>(trial.matches), "operator"));
  if (trial.ratio > 0) text += fmt::format(", {:.3g} of the latency", trial.ratio);
  if (trial.taken() && trial.steps == 0) text += ", the same outputs bit for bit";
  if (trial.taken() && trial.steps > 0)
    text += fmt::format(", differs by at most {:.3g} quantisation steps", trial.steps);
  return text + (trial.taken() ? ")" : "): " + trial.why);
}

int allowed_steps(const std::string& allow) {
  if (allow.empty()) return 0;
  if (allow == "rounding") return kUsualSteps;
  const std::string name = "rounding=";
  const auto steps = allow.starts_with(name) ? parse_int(allow.substr(name.size())) : std::nullopt;
  if (!steps || *steps < 1 || *steps > 255)
    fail_usage("--allow '{}': expected rounding, or rounding=N with 1 to 255 quantisation steps", allow);
  return static_cast<int>(*steps);
}

std::optional<double> steps_apart(const cost::Outputs& a, const cost::Outputs& b, const onnx_io::QuantisedReport& model,
                                  std::string& why) {
  if (!a.ok() || !b.ok()) {
    why = a.ok() ? b.error : a.error;
    return std::nullopt;
  }
  double apart = 0;
  for (size_t k = 0; k < a.outputs.size(); ++k) {
    const auto& x = a.outputs[k];
    why = fmt::format("output '{}' has another type or shape", x.name);
    if (b.outputs.size() != a.outputs.size() || b.outputs[k].name != x.name) return std::nullopt;
    const auto& y = b.outputs[k];
    if (y.dtype != x.dtype || y.values.size() != x.values.size() || y.shape != x.shape) return std::nullopt;
    double largest = 0;
    for (size_t i = 0; i < x.values.size(); ++i) {
      if (x.values[i] == y.values[i] || (std::isnan(x.values[i]) && std::isnan(y.values[i]))) continue;
      largest = std::max(largest, std::abs(x.values[i] - y.values[i]));
      if (!std::isfinite(x.values[i]) || !std::isfinite(y.values[i])) largest = HUGE_VAL;
    }
    if (largest == 0) continue;
    const auto step = model.steps.find(x.name);
    if (step == model.steps.end() || step->second <= 0) {
      why = fmt::format("output '{}' differs by up to {:.3g}, and its quantisation step is not known", x.name, largest);
      return std::nullopt;
    }
    apart = std::max(apart, largest / step->second);
  }
  why.clear();
  // A step is a difference of rounded numbers.
  return std::abs(apart - std::round(apart)) < 1e-3 ? std::round(apart) : apart;
}

void choose_quantised(const OptimiseOptions& options, LoadedModel& model, cost::Runtime& runtime, Benchmark& benchmark,
                      const std::filesystem::path& folder, OptimiseClock& clock, const Log& log, Result& result) {
  if (!runtime.reads_files() || !runtime.answers_outputs() || model.quantised.matches.empty()) return;
  clock.phase("quantised rewrites", "rewriting the quantised model");
  Chooser(options, model, runtime, benchmark, folder, clock, log, result).run();
}

}  // namespace rlgo::optimise
