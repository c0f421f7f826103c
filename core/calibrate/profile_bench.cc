#include "core/calibrate/profile_bench.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/correlation.h"
#include "core/base/destination.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/quantile.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/cost/profile.h"
#include "core/cost/profile_fields.h"
#include "core/measure/group.h"

namespace rlgo::calibrate {
namespace {

using cost::AnalyticOptions;
using report::Json;

constexpr double kLeastUs = 0.05;
constexpr int kHeldOutOf = 4;
constexpr size_t kFewest = 120;  // operators to fit 30 constants to

Json to_json(const PriceScore& found) {
  return {{"operators", found.operators}, {"factor", found.factor}, {"rank_correlation", found.rank}};
}

std::string source_text(const cost::Runtime& runtime, std::span<const TimedSample> samples, const PriceScore& all,
                        const std::vector<std::string>& kept) {
  std::string text = fmt::format(
      "{} on {}, {}.\n\nSource: fitted by `rlgo bench profile` to {} operators timed alone. Of {} others the price is\n"
      "off by a factor of {:.2f} in the median; rank correlation {:.3f}.",
      runtime.name(), runtime.device(), counted(runtime.threads(), "thread"), samples.size() - all.operators,
      all.operators, all.factor, all.rank);
  if (!kept.empty()) text += "\nNot determined by the times, kept: " + join(kept, ", ") + ".";
  return text;
}

}  // namespace

void declare(OptionSink& o, ProfileBenchOptions& options) {
  o.heading("Bench profile");
  o.number("seconds", options.seconds, 1, 86400, "of timing operators, s");
  o.integer("drawn", options.drawn, 0, 10000, "operators of each kind with drawn sizes, next to the zoo's");
  o.text("cost.profile", options.start, "the profile whose constants the fit begins at: a name, or a file");
  o.text("out", options.out, "file for the fitted profile, for --cost.profile ./FILE");
  o.integer("seed", options.seed, 0, kNoLimit, "of the drawn sizes and the order");
}

std::vector<TimedSample> time_operators(const std::vector<OperatorKind>& kinds, cost::Runtime& runtime, double seconds,
                                        const std::function<bool()>& should_stop) {
  const cost::MeasuredCosts prices = runtime.measure();
  const Stopwatch watch;
  const auto ended = [&] { return watch.seconds() >= seconds || should_stop(); };
  std::vector<TimedSample> out;
  std::vector<int> timed(kinds.size());
  bool any = true;
  for (size_t turn = 0; any && !ended(); ++turn) {
    any = false;
    const bool together = prices.model->defer();
    for (const auto& kind : kinds) {
      if (turn >= kind.samples.size() || (!together && ended())) continue;
      any = true;
      prices.model->op_us(kind.samples[turn].graph, kind.samples[turn].id);
    }
    if (together) prices.model->flush();
    for (size_t k = 0; k < kinds.size(); ++k) {
      if (turn >= kinds[k].samples.size()) continue;
      const OperatorSample& sample = kinds[k].samples[turn];
      const auto* time = find_time(*prices.table, sample.graph, sample.id);
      if (time == nullptr || time->us < kLeastUs) continue;
      out.push_back({&sample, kinds[k].name, time->us, ++timed[k] % kHeldOutOf == 0});
    }
  }
  return out;
}

PriceScore score(std::span<const TimedSample> samples, const std::string& kind, const AnalyticOptions& profile) {
  cost::AnalyticCost prices(profile, "scored");
  std::vector<double> priced, timed, factors;
  for (const TimedSample& one : samples) {
    if (!one.held_out || (!kind.empty() && one.kind != kind)) continue;
    priced.push_back(prices.op_us(one.sample->graph, one.sample->id));
    timed.push_back(one.us);
    factors.push_back(std::exp(std::abs(std::log(std::max(1e-9, priced.back()) / one.us))));
  }
  if (factors.empty()) return {};
  return {factors.size(), median(factors), rank_correlation(priced, timed)};
}

Json bench_profile(const ProfileBenchOptions& options, cost::Runtime& runtime, const std::function<bool()>& should_stop,
                   const std::function<void(const std::string&)>& print) {
  const AnalyticOptions start = cost::named_profile(options.start);
  if (!options.out.empty()) check_destination(options.out);
  const auto kinds = operator_samples(static_cast<int>(options.drawn), options.seed);
  const auto samples = time_operators(kinds, runtime, options.seconds, should_stop);
  if (should_stop()) fail("stopped by a signal; {} operators were timed, nothing was fitted", samples.size());
  std::vector<cost::TimedOperator> fitted_to;
  std::set<std::string> names;
  for (const TimedSample& one : samples) {
    names.insert(one.kind);
    if (!one.held_out) fitted_to.push_back({&one.sample->graph, one.sample->id, one.us});
  }
  if (fitted_to.size() < kFewest) {
    fail("{} operators were timed in {} s, too few to fit {} constants to; give more --seconds", samples.size(),
         options.seconds, cost::profile_fields().size());
  }
  const cost::FittedProfile fitted = cost::fit_profile(fitted_to, start);
  print(
      fmt::format("{} on {}, {}: {} operators timed, a quarter of them held out\n{:<16} {:>9}   profile {:<8}  "
                  "fitted\n{:<16} {:>9}   "
                  "factor  rank      factor  rank\n",
                  runtime.name(), runtime.device(), counted(runtime.threads(), "thread"), samples.size(), "", "",
                  options.start, "", "held out"));
  Json rows = Json::array();
  const PriceScore all = score(samples, "", fitted.options);
  names.insert("");
  for (const auto& name : names) {
    const PriceScore before = score(samples, name, start);
    const PriceScore after = name.empty() ? all : score(samples, name, fitted.options);
    rows.push_back({{"kind", name.empty() ? "all" : name}, {"before", to_json(before)}, {"after", to_json(after)}});
    print(fmt::format("{:<16} {:>9}   {:6.2f} {:5.2f}      {:6.2f} {:5.2f}\n", name.empty() ? "all" : name,
                      after.operators, before.factor, before.rank, after.factor, after.rank));
  }
  print("factor: of a price to its time or the other way round, the median; rank: correlation of ranks\n");
  if (!fitted.kept.empty()) print(fmt::format("not determined by the times, kept: {}\n", join(fitted.kept, ", ")));
  Json constants = Json::object(), timed = Json::array();
  for (const auto& field : cost::profile_fields()) constants[field.key] = fitted.options.*field.member;
  cost::AnalyticCost prices(fitted.options, "fitted");
  for (const TimedSample& one : samples) {
    timed.push_back({{"kind", one.kind},
                     {"operator", cost::signature(one.sample->graph, one.sample->id)},
                     {"us", one.us},
                     {"price_us", prices.op_us(one.sample->graph, one.sample->id)},
                     {"held_out", one.held_out}});
  }
  if (!options.out.empty()) {
    atomic_write(options.out, cost::to_text(fitted.options, source_text(runtime, samples, all, fitted.kept)));
    print(fmt::format("written: {}\n", options.out));
  }
  return {{"kinds", std::move(rows)},
          {"constants", std::move(constants)},
          {"kept", fitted.kept},
          {"timed", std::move(timed)}};
}

}  // namespace rlgo::calibrate
