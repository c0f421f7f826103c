#include "core/search/gumbel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"

namespace rlgo::search {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kVisitOffset = 50;  // the paper's c_visit

// Of logits, one of which is finite.
std::vector<double> softmax(std::vector<double> logits) {
  const double top = *std::ranges::max_element(logits);
  double total = 0;
  for (double& logit : logits) total += logit = std::exp(logit - top);
  for (double& logit : logits) logit /= total;
  return logits;
}

double gumbel(Rng& rng) { return -std::log(-std::log(std::max(rng.uniform(), 1e-300))); }

}  // namespace

void Branches::add(std::vector<double> of_policy, double of_graph) {
  logits = std::move(of_policy);
  value = of_graph;
  forget_visits();
}

void Branches::forget_visits() {
  visits.assign(logits.size(), 0);
  sums.assign(logits.size(), 0);
}

void Branches::visit(size_t action, double found) {
  ++visits[action];
  sums[action] += found;
}

int Branches::visited() const { return std::accumulate(visits.begin(), visits.end(), 0); }

std::vector<double> value_logits(const Branches& b, double scale) {
  const auto policy = softmax(b.logits);
  const int visited = b.visited();
  double weight = 0, mean = 0;
  for (size_t a = 0; a < policy.size(); ++a) {
    if (b.visits[a] == 0) continue;
    weight += policy[a];
    mean += policy[a] * b.sums[a] / b.visits[a];
  }
  const double mixed = weight > 0 ? (b.value + visited * mean / weight) / (1 + visited) : b.value;
  const double factor = (kVisitOffset + *std::ranges::max_element(b.visits)) * scale;
  std::vector<double> result;
  for (size_t a = 0; a < policy.size(); ++a)
    result.push_back(factor * ((b.visits[a] > 0 ? b.sums[a] / b.visits[a] : mixed) - b.value));
  return result;
}

size_t lagging_action(const Branches& b, double scale) {
  auto improved = value_logits(b, scale);
  for (size_t a = 0; a < improved.size(); ++a) improved[a] += b.logits[a];
  improved = softmax(std::move(improved));
  const double visits = 1 + b.visited();
  const auto lag = [&](size_t a) { return b.logits[a] == kNever ? kNever : improved[a] - b.visits[a] / visits; };
  size_t best = 0;
  for (size_t a = 1; a < improved.size(); ++a) {
    if (lag(a) > lag(best)) best = a;
  }
  return best;
}

std::vector<int> considered_visits(int considered, int simulations) {
  const int rounds = std::max(1, static_cast<int>(std::ceil(std::log2(considered))));
  std::vector<int> result;
  int visits = 0;
  while (std::ssize(result) < simulations) {
    const int times = std::max(1, simulations / (rounds * considered));
    for (int k = 0; k < times; ++k, ++visits) result.insert(result.end(), static_cast<size_t>(considered), visits);
    considered = std::max(std::min(considered, 2), considered / 2);
  }
  result.resize(static_cast<size_t>(simulations));
  return result;
}

RootChoice::RootChoice(const Branches& branches, double scale, int considered, int simulations, Rng& rng)
    : branches_(branches), scale_(scale) {
  std::vector<double> noisy;
  for (const double logit : branches.logits) noisy.push_back(logit == kNever ? kNever : logit + gumbel(rng));
  for (size_t a = 0; a < noisy.size(); ++a) {
    if (noisy[a] != kNever) considered_.push_back(a);
  }
  std::ranges::stable_sort(considered_, std::greater<>(), [&](size_t a) { return noisy[a]; });
  considered_.resize(std::min(considered_.size(), static_cast<size_t>(considered)));
  RLGO_CHECK_LT(0u, considered_.size());
  for (const size_t a : considered_) drawn_.push_back(noisy[a]);
  schedule_ = considered_visits(static_cast<int>(considered_.size()), simulations);
}

std::optional<size_t> RootChoice::highest(int visits, bool may_be_taken) const {
  const auto raised = value_logits(branches_, scale_);
  double most = kNever;
  std::optional<size_t> best;
  for (size_t k = 0; k < considered_.size(); ++k) {
    const size_t a = considered_[k];
    if (branches_.visits[a] != visits || (may_be_taken && branches_.logits[a] == kNever)) continue;
    if (best && drawn_[k] + raised[a] <= most) continue;
    most = drawn_[k] + raised[a];
    best = a;
  }
  return best;
}

size_t RootChoice::next() { return highest(schedule_[done_++], false).value(); }

std::optional<size_t> RootChoice::best() const {
  int most = 0;
  for (const size_t a : considered_) {
    if (branches_.logits[a] != kNever) most = std::max(most, branches_.visits[a]);
  }
  return highest(most, true);
}

}  // namespace rlgo::search
