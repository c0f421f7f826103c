#include "core/measure/measurer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>

#include "core/base/deadline.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/quantile.h"
#include "core/base/rng.h"
#include "core/base/stopwatch.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/measure/answers.h"
#include "core/measure/calibration.h"
#include "core/measure/child.h"
#include "core/measure/outputs.h"

namespace rlgo::measure {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kProtocol = 1;
constexpr size_t kModelsAtOnce = 48;  // in one request: they are all loaded together
constexpr double kLeastUs = 0.01;     // a time that the overhead swallows
// Of a whole model: long next to a run that finds the caches full of another model (150 us in place of 45 us).
constexpr double kWholeSampleUs = 4000;

bool is_utf8(const std::string& text) {
  try {
    return !Json(text).dump().empty();
  } catch (const Json::type_error&) {
    return false;
  }
}

}  // namespace

struct Measurer::Impl {
  std::vector<std::string> command;
  MeasurerOptions options;
  Log log;
  TemporaryFolder home{"rlgo-measure"};
  const fs::path& folder = home.path();
  MeasurerHello hello;
  std::unique_ptr<Child> child;
  int64_t next_id = 1;
  int failures = 0;
  double start_s = 0;  // that the latest start took
  int64_t files = 0;
  StandardModels standard{folder};
  ClockCalibration calibration;
  std::map<std::string, std::vector<int64_t>> shapes;  // see set_input_shapes
  InputValues values;

  ~Impl() {
    if (child) child->write_line(Json{{"id", next_id}, {"do", "quit"}}.dump(), 1.0);
    child.reset();
  }
  fs::path error_file() const { return folder / "stderr.txt"; }
  // As a request has it. JSON holds UTF-8 alone: a file of another name gets a link of such a name.
  std::string name_of(const fs::path& model) const {
    if (is_utf8(model.string())) return model.string();
    const fs::path link = folder / fmt::format("named-{:016x}.onnx", hash_string(fs::absolute(model).string()));
    std::error_code there;
    fs::create_symlink(fs::absolute(model), link, there);
    if (!is_utf8(link.string())) fail("{}: is not UTF-8; set TMPDIR to a folder whose name is", folder.string());
    return link.string();
  }
  bool stopped() const { return options.should_stop && options.should_stop(); }
  void end_if_stopped() {
    if (!stopped()) return;
    if (child) child->kill();
    child.reset();
    throw Stopped("stopped while measuring");
  }

  // The final answer to a request. Throws ChildFailure; Error where the whole request was refused; Stopped.
  Json ask(Json request, double timeout_s) {
    request["id"] = next_id++;
    if (!child->write_line(request.dump(), timeout_s)) throw ChildFailure{"does not read requests", {}};
    std::optional<size_t> at;
    Stopwatch silence;
    std::string line;
    for (;;) {
      const auto read = child->read_line(line, std::min(0.2, timeout_s));
      end_if_stopped();
      if (read == Child::Read::end) throw ChildFailure{"ended in the middle of a request", at};
      if (read == Child::Read::timeout) {
        if (silence.seconds() > timeout_s) throw ChildFailure{fmt::format("no answer for {:.0f} s", timeout_s), at};
        continue;
      }
      silence.restart();
      Json answer = Json::parse(line, nullptr, false);
      if (!answer.is_object() || answer.value("id", Json()) != request["id"]) {
        throw ChildFailure{
            fmt::format("answers '{}', which is no answer to request {}", line.substr(0, 80), request["id"].dump()),
            at};
      }
      if (answer.contains("error") && answer["error"].is_string()) fail("{}", answer["error"].get<std::string>());
      if (answer.contains("round")) at.reset();
      if (answer.contains("at") && answer["at"].is_number_unsigned()) at = answer["at"].get<size_t>();
      if (!answer.contains("at") && !answer.contains("round")) return answer;
    }
  }

  void start() {
    const Stopwatch watch;
    child = std::make_unique<Child>(command, error_file());
    const Json answer =
        ask({{"do", "hello"}, {"protocol", kProtocol}, {"threads", options.threads}, {"seed", options.seed}},
            options.start_timeout_s);
    try {
      hello.runtime = answer.at("runtime").get<std::string>();
      hello.version = answer.at("version").get<std::string>();
      hello.device = answer.at("device").get<std::string>();
      hello.threads = answer.at("threads").get<int>();
      hello.outputs = answer.value("outputs", false);
      hello.switches = answer.value("switches", false);
      hello.profile = answer.value("profile", false);
      hello.pool_context = answer.value("pool_context", false);
      hello.reference = answer.value("reference", false);
    } catch (const Json::exception&) {
      throw ChildFailure{"greets without runtime, version, device and threads: " + answer.dump().substr(0, 200), {}};
    }
    if (hello.threads < 1) throw ChildFailure{fmt::format("greets with {} threads", hello.threads), {}};
    start_s = watch.seconds();
  }

  std::string describe(const ChildFailure& failure) {
    const std::string end = child ? child->wait_end(0.2) : "not running";
    return fmt::format("measurer '{}' {} ({}){}", join(command, " "), failure.what, end, last_words(error_file()));
  }

  // A request to a living child, with a restart before it where needed. Throws ChildFailure, and Error for refusals.
  Json request(const Json& message) {
    end_if_stopped();
    if (!child) start();
    return ask(message, options.silence_s);
  }

  // Ends the child after a failure and reports so.
  void note(const ChildFailure& failure) {
    ++failures;
    log.warn("{}; {}", describe(failure),
             failures > options.max_restarts ? "that was once too often: no more measurements" : "it is started again");
    if (child) child->kill();
    child.reset();
  }
  bool usable() const { return failures <= options.max_restarts; }

  Json timing_request(const char* what, std::vector<std::string> models, int repeats, double min_sample_us) const {
    Json request{{"do", what},         {"models", std::move(models)},    {"warmup", options.warmup},
                 {"repeats", repeats}, {"min_sample_us", min_sample_us}, {"seed", options.seed}};
    if (!shapes.empty()) request["shapes"] = shapes;
    return request;
  }

  std::vector<Timing> timings(Json& answer, size_t expected) {
    try {
      Json& results = answer.at("results");
      if (results.size() != expected)
        throw ChildFailure{fmt::format("answers {} results to {} models", results.size(), expected), {}};
      calibration.scale(results);
      std::vector<Timing> out;
      for (const auto& result : results) out.push_back(timing_of(result));
      return out;
    } catch (const Error& e) {
      throw ChildFailure{e.what(), {}};
    } catch (const Json::exception& e) {
      throw ChildFailure{fmt::format("answers results that cannot be read ({})", e.what()), {}};
    }
  }

  // Models of one request, the empty one among them. Throws like request().
  std::vector<Timing> measure_some(std::span<const fs::path> models) {
    std::vector<std::string> names;
    for (const auto& model : models) names.push_back(model.string());
    names.push_back(standard.empty());
    Json message = timing_request("measure", names, options.repeats, options.min_sample_us);
    if (hello.reference) message["reference"] = standard.reference();
    Json answer = request(message);
    auto times = timings(answer, names.size());
    const double overhead_us = times.back().ok() ? times.back().median_us : 0;
    times.pop_back();
    for (Timing& t : times) {
      if (!t.ok()) continue;
      t.median_us = std::max(kLeastUs, t.median_us - overhead_us);
      t.min_us = std::max(kLeastUs, t.min_us - overhead_us);
    }
    return times;
  }

  // One request. `places`: indices of models, 0 first and (options.twin) again last; `order`: which of them is loaded
  // when. Throws like request().
  void compare_some(std::span<const fs::path> models, std::span<const size_t> places, std::span<const size_t> order,
                    const cost::CompareOptions& compare, Comparison& out) {
    std::vector<std::string> names;
    for (const size_t k : order) names.push_back(name_of(models[places[k]]));
    Json message = timing_request("compare", names, compare.repeats, kWholeSampleUs);
    message["seed"] = options.seed + compare.order;
    if (!values.empty()) message["values"] = values;
    if (compare.seconds > 0)
      message.update({{"seconds", compare.seconds}, {"least_repeats", std::min(compare.least, compare.repeats)}});
    Json answer = request(message);
    const auto reported = timings(answer, names.size());
    std::vector<Timing> times(places.size());
    std::vector<Json> results(places.size());
    for (size_t i = 0; i < order.size(); ++i) {
      times[order[i]] = reported[i];
      results[order[i]] = answer["results"][i];
    }
    const size_t own = places.size() - (compare.twin ? 1 : 0);
    for (size_t k = 0; k < own; ++k) out.models[places[k]] = times[k];
    if (!times[0].ok()) {
      out.error = times[0].error;
      return;
    }
    out.assumed = read_assumed(results[0].dump());
    const auto first = samples_of(results[0]);
    for (size_t k = 0; k < places.size(); ++k) {
      if (!times[k].ok()) continue;
      const auto samples = samples_of(results[k]);
      if (samples.size() != first.size())
        throw ChildFailure{"answers different numbers of samples in one comparison", {}};
      if (k < own)
        cost::set_quotients(out, places[k], samples, first);
      else
        out.noise = cost::noise_of(samples, first);
    }
  }
};

Measurer::Measurer(std::vector<std::string> command, MeasurerOptions options, Log log)
    : impl_(std::make_unique<Impl>()) {
  impl_->command = std::move(command);
  impl_->options = std::move(options);
  impl_->log = std::move(log);
  try {
    impl_->start();
  } catch (const ChildFailure& failure) {
    fail("{}", impl_->describe(failure));
  } catch (const Error& e) {
    throw e.in(fmt::format("measurer '{}'", join(impl_->command, " ")));
  }
}

Measurer::~Measurer() = default;

const MeasurerHello& Measurer::hello() const { return impl_->hello; }
const MeasurerOptions& Measurer::options() const { return impl_->options; }
void Measurer::set_input_shapes(std::map<std::string, std::vector<int64_t>> shapes) {
  impl_->shapes = std::move(shapes);
}
void Measurer::set_input_values(InputValues values) { impl_->values = std::move(values); }
int Measurer::failures() const { return impl_->failures; }
bool Measurer::usable() const { return impl_->usable(); }
ClockCalibration& Measurer::calibration() { return impl_->calibration; }

double Measurer::start_s() const { return impl_->start_s; }

void Measurer::restart() {
  impl_->child.reset();
  try {
    impl_->start();
  } catch (const ChildFailure& failure) {
    const std::string why = impl_->describe(failure);
    impl_->child.reset();
    fail("{}", why);
  }
}

cost::TableOrigin Measurer::origin() const {
  const MeasurerHello& h = impl_->hello;
  return {fmt::format("measured:{}-{}", h.runtime, h.version), h.device, h.threads};
}

std::string Measurer::name_of(const fs::path& model) const { return impl_->name_of(model); }

fs::path Measurer::temporary(std::string_view stem) {
  return impl_->folder / fmt::format("{}-{}.onnx", stem, ++impl_->files);
}

std::vector<Timing> Measurer::measure(std::span<const fs::path> models, const std::function<void(size_t)>& progress) {
  std::vector<Timing> out(models.size(), failed("not measured: the measurer failed too often"));
  std::vector<size_t> pending(models.size());
  std::iota(pending.begin(), pending.end(), 0);
  size_t at_once = kModelsAtOnce;
  while (!pending.empty() && usable()) {
    const size_t count = std::min(at_once, pending.size());
    std::vector<fs::path> some;
    for (size_t i = 0; i < count; ++i) some.push_back(models[pending[i]]);
    try {
      const auto times = impl_->measure_some(some);
      for (size_t i = 0; i < count; ++i) out[pending[i]] = times[i];
      pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(count));
    } catch (const ChildFailure& failure) {
      // Given up: the model that was being loaded, or the only one. Else the culprit is looked for by halves.
      const bool blamed = failure.at && *failure.at < count;
      if (blamed || count == 1) {
        const size_t index = blamed ? *failure.at : 0;
        out[pending[index]] = failed(impl_->describe(failure));
        pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(index));
        at_once = kModelsAtOnce;
      } else {
        at_once = count / 2;
      }
      impl_->note(failure);
    }
    if (progress) progress(models.size() - pending.size());
  }
  return out;
}

Comparison Measurer::compare(std::span<const fs::path> models, const cost::CompareOptions& options) {
  RLGO_CHECK(!models.empty() && options.repeats >= 1 && options.least >= 1);
  Comparison out;
  out.models.assign(models.size(), failed("not measured"));
  out.quotients.resize(models.size());
  out.ratio.assign(models.size(), 0);
  out.ratio_spread.assign(models.size(), 0);
  std::vector<size_t> left(models.size());
  std::iota(left.begin(), left.end(), 0);
  if (options.twin) left.push_back(0);  // its twin: the last one
  Rng rng({impl_->options.seed, options.order});
  std::string last = "already before";
  while (usable()) {
    // What is loaded first may be faster for that alone.
    std::vector<size_t> order(left.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    const auto first =
        std::ranges::find_if(order, [&](size_t k) { return static_cast<int>(left[k]) == options.first; });
    if (first != order.end()) std::swap(order.front(), *first);
    try {
      impl_->compare_some(models, left, order, options, out);
      return out;
    } catch (const ChildFailure& failure) {
      const std::string why = last = impl_->describe(failure);
      const bool blamed = failure.at && *failure.at < order.size() && left[order[*failure.at]] != 0;
      impl_->note(failure);
      if (!blamed) {
        out.error = why;
        return out;
      }
      const size_t culprit = order[*failure.at];
      out.models[left[culprit]] = failed(why);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(culprit));
    }
  }
  out.error = "the measurer failed too often: " + last;
  return out;
}

std::vector<Outputs> Measurer::outputs(std::span<const fs::path> models, int set, bool plain) {
  const fs::path folder = impl_->folder / "outputs";
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  std::vector<Outputs> out(models.size());
  std::string why = impl_->hello.outputs ? "the measurer failed too often" : "the measurer answers no outputs";
  if (impl_->hello.outputs && usable()) {
    try {
      std::vector<std::string> names;
      for (const auto& model : models) names.push_back(name_of(model));
      const Json request{{"do", "outputs"}, {"models", names}, {"folder", folder.string()}, {"plain", plain}};
      out = read_outputs(ask(request.dump(), set), models.size());
      why.clear();
    } catch (const Error& e) {
      why = e.what();
    }
  }
  fs::remove_all(folder, ignored);
  if (!why.empty()) out.assign(models.size(), {{}, why});
  return out;
}

std::string Measurer::ask(const std::string& text, int set) {
  Json request = Json::parse(text);
  request["seed"] = impl_->options.seed + static_cast<uint64_t>(set);
  if (!impl_->shapes.empty()) request["shapes"] = impl_->shapes;
  if (!impl_->values.empty()) request["values"] = impl_->values;
  try {
    return impl_->request(request).dump();
  } catch (const ChildFailure& failure) {
    impl_->note(failure);
    fail("{}", impl_->describe(failure));
  }
}

}  // namespace rlgo::measure
