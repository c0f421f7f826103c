#include "core/cost/profile_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string_view>

#include "core/base/error.h"
#include "core/cost/least_squares.h"
#include "core/cost/profile_fields.h"

namespace rlgo::cost {
namespace {

constexpr double kHuber = 0.2;
// Before slopes are followed, and again between, each constant is tried at 2^-5 to 2^5 times its value: where a price
// is that of the bytes the fraction of the peak has no slope, though a twentieth of it might be right.
constexpr int kRounds = 4, kDoublings = 5;
constexpr double kMostDeviation = std::numbers::ln2;
// While fractions of the peak are sought the peak is so many times higher, so that none of them meets its end at 1;
// where one does, so many times more.
constexpr double kRoom = 2, kMoreRoom = 8, kMostRoom = 1e4;
// A share that starts at 1 would have no slope.
constexpr double kMostFraction = 0.9;

// A constant as the number that is sought: log(value + offset), so that sizes may come near 0.
struct Sought {
  const ProfileField* field;
  double offset;
  double start;

  double number() const { return std::log(start + offset); }
  double value(double number) const { return std::clamp(std::exp(number) - offset, lowest(), field->high); }
  // Sizes end at 0; of what must be above it the logarithm takes care.
  double lowest() const { return field->open_low ? 1e-12 : field->low; }
};

bool is_arithmetic(const ProfileField& field) { return std::string_view(field.key).starts_with("arithmetic."); }

bool is_peak(const ProfileField& field) { return field.member == &AnalyticOptions::peak_gflops; }

std::vector<Sought> all_sought(const AnalyticOptions& start) {
  std::vector<Sought> out;
  for (const ProfileField& field : profile_fields()) {
    const double value = start.*field.member;
    if (is_peak(field) || value == 0) continue;
    const bool fraction = field.high == 1;
    double offset = field.open_low || fraction ? 0 : 1;
    if (field.member == &AnalyticOptions::launch_us) offset = 0.1;
    out.push_back({&field, offset, fraction && !is_arithmetic(field) ? std::min(value, kMostFraction) : value});
  }
  return out;
}

AnalyticOptions with_room(AnalyticOptions options, double room) {
  options.peak_gflops *= room;
  for (const ProfileField& field : profile_fields()) {
    if (is_arithmetic(field)) options.*field.member /= room;
  }
  return options;
}

AnalyticOptions with(AnalyticOptions options, const std::vector<Sought>& sought, std::span<const double> numbers) {
  for (size_t k = 0; k < sought.size(); ++k) options.*sought[k].field->member = sought[k].value(numbers[k]);
  return options;
}

double largest_fraction(const AnalyticOptions& options, const std::vector<Sought>& of) {
  double largest = 0;
  for (const Sought& one : of) {
    if (is_arithmetic(*one.field)) largest = std::max(largest, options.*one.field->member);
  }
  return largest;
}

double rounded(double value) { return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr); }

// Numbers that least squares found, and those of `sought` that it should not be asked for.
struct Solution {
  AnalyticOptions options;
  size_t least_known = 0;  // index of `sought`
  bool known = true;       // all of them
};

double loss(const std::vector<double>& residuals) {
  double sum = 0;
  for (const double residual : residuals) sum += bent(residual, kHuber) * bent(residual, kHuber);
  return sum;
}

void scan(const Residuals& residuals, std::vector<double>& numbers) {
  double least = loss(residuals(numbers));
  for (double& number : numbers) {
    double best = number;
    const double middle = number;
    for (int doublings = -kDoublings; doublings <= kDoublings; ++doublings) {
      number = middle + doublings * std::numbers::ln2;
      const double found = loss(residuals(numbers));
      if (found >= least) continue;
      least = found;
      best = number;
    }
    number = best;
  }
}

Solution solve(std::span<const TimedOperator> operators, const AnalyticOptions& base,
               const std::vector<Sought>& sought) {
  std::vector<double> numbers;
  for (const Sought& one : sought) numbers.push_back(one.number());
  const auto residuals = [&](std::span<const double> x) {
    AnalyticCost prices(with(base, sought, x));
    std::vector<double> out;
    for (const TimedOperator& one : operators)
      out.push_back(std::log(std::max(1e-9, prices.op_us(*one.graph, one.id)) / one.us));
    return out;
  };
  LeastSquares found{std::move(numbers), {}};
  for (int round = 0; round < kRounds; ++round) {
    scan(residuals, found.x);
    found = least_squares(residuals, std::move(found.x), kHuber);
  }
  Solution out{with(base, sought, found.x), 0, true};
  const auto worst = std::ranges::max_element(found.deviation);
  if (worst == found.deviation.end()) return out;
  out.least_known = static_cast<size_t>(worst - found.deviation.begin());
  out.known = *worst <= kMostDeviation;
  return out;
}

struct Fit {
  AnalyticOptions options;  // with room
  std::vector<Sought> sought;
  std::vector<std::string> kept;
  double largest_fraction() const { return cost::largest_fraction(options, sought); }
};

Fit fit(std::span<const TimedOperator> operators, const AnalyticOptions& start, double room) {
  const AnalyticOptions base = with_room(start, room);
  Fit out{base, all_sought(base), {}};
  for (;;) {
    const Solution found = solve(operators, base, out.sought);
    out.options = found.options;
    if (found.known) return out;
    out.kept.emplace_back(out.sought[found.least_known].field->key);
    out.sought.erase(out.sought.begin() + static_cast<std::ptrdiff_t>(found.least_known));
  }
}

}  // namespace

FittedProfile fit_profile(std::span<const TimedOperator> operators, const AnalyticOptions& start) {
  for (const TimedOperator& one : operators) {
    if (!(one.us > 0)) fail("an operator's time must be above zero, not {} us", one.us);
  }
  double room = kRoom;
  Fit found = fit(operators, start, room);
  while (found.largest_fraction() > kMostFraction && room < kMostRoom) found = fit(operators, start, room *= kMoreRoom);
  FittedProfile out{found.options, found.kept};
  // Fractions and peak as a file has them: what is kept is a fraction of the new peak.
  const double largest = found.largest_fraction();
  const double scale = largest > 0 ? largest_fraction(start, found.sought) / largest : room;
  out.options.peak_gflops /= scale;
  for (const Sought& one : found.sought) {
    if (is_arithmetic(*one.field)) out.options.*one.field->member *= scale;
  }
  for (const ProfileField& field : profile_fields()) {
    const bool kept = std::ranges::find(out.kept, field.key) != out.kept.end();
    if (kept) out.options.*field.member = start.*field.member;
    out.options.*field.member = std::clamp(rounded(out.options.*field.member), field.low, field.high);
  }
  return out;
}

}  // namespace rlgo::cost
