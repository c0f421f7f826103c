#include "actors/remote_policy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/stopwatch.h"

namespace rlgo::actors {

using comm::Tag;

namespace {

constexpr double kTendEvery_ms = 20;
constexpr double kLateBy = 0.1;  // of the time that an answer takes, by which it may be seen too late

// Whether the environment would accept it, and the learner.
bool is_sound(const Decision& decision, const mdp::Observation& observation) {
  const auto& [rule, location] = decision.action;
  const auto rules = static_cast<int32_t>(observation.counts.size());
  const bool legal = rule == rules ? location == 0
                                   : rule >= 0 && rule < rules && location >= 0 &&
                                         location < observation.counts[static_cast<size_t>(rule)];
  return legal && std::isfinite(decision.log_prob_rule) && std::isfinite(decision.log_prob_location);
}

}  // namespace

RemotePolicy::RemotePolicy(comm::Mailbox& mailbox, int inference_rank, DrawnPolicy& own, InferenceOptions options,
                           RemoteHooks hooks)
    : mailbox_(mailbox),
      rank_(inference_rank),
      own_(own),
      options_(options),
      hooks_(std::move(hooks)),
      newest_version_(own.version()),
      version_(own.version()) {}

std::vector<Decision> RemotePolicy::decide(std::span<const mdp::Observation* const> observations,
                                           std::span<const double> uniforms) {
  if (auto answer = ask(observations, uniforms)) {
    version_ = answer->version;
    counts_.decided += static_cast<int64_t>(observations.size());
    return std::move(answer->decisions);
  }
  counts_.fallback += static_cast<int64_t>(observations.size());
  return own().decide(observations, uniforms);
}

std::vector<float> RemotePolicy::value(std::span<const mdp::Observation* const> observations) {
  const auto answer = ask(observations, {});
  if (!answer) return own().value(observations);
  std::vector<float> values;
  for (const auto& decision : answer->decisions) values.push_back(decision.value_rule);
  return values;
}

void RemotePolicy::load(std::string_view weights, int64_t version) {
  weights_ = weights;
  newest_version_ = version_ = version;
}

DrawnPolicy& RemotePolicy::own() {
  if (own_.version() != newest_version_) own_.load(weights_, newest_version_);
  own_.set_greedy(greedy());
  version_ = newest_version_;
  return own_;
}

// `uniforms`: none where values are asked for.
std::optional<Answer> RemotePolicy::ask(std::span<const mdp::Observation* const> observations,
                                        std::span<const double> uniforms) {
  hear();
  if (silent_ || left_ || greedy()) return {};
  Question question{.number = ++number_,
                    .base = base_,
                    .version = newest_version_,
                    .values = uniforms.empty(),
                    .count = static_cast<uint32_t>(observations.size()),
                    .uniforms = {uniforms.begin(), uniforms.end()},
                    .observations = code_observations(observations, bases_)};
  base_ = 0;
  bases_.clear();
  answer_.reset();
  mailbox_.send(rank_, Tag::ask, encode(question));
  if (!wait_for_answer()) return {};
  if (const auto why = fault(*answer_, observations, question.values); !why.empty()) {
    log_once(logged_refused_, fmt::format("inference rank {} did not decide ({}); this actor does", rank_, why));
    return {};
  }
  base_ = number_;
  for (const auto* observation : observations) bases_.push_back(*observation);
  return std::exchange(answer_, {});
}

bool RemotePolicy::wait_for_answer() {
  const Stopwatch waited;
  for (;;) {
    hear();
    if (answer_) return true;
    if (left_) return false;
    if (waited.seconds() >= options_.timeout_s) break;
    hooks_.tend();
    mailbox_.wait(std::clamp(kLateBy * 1e3 * waited.seconds(), 0.05, kTendEvery_ms));
  }
  silent_ = true;
  log_once(logged_silent_, fmt::format("inference rank {} has not answered for {:.3g} s: this actor decides for itself",
                                       rank_, options_.timeout_s));
  return false;
}

void RemotePolicy::leave() {
  if (silent_) mailbox_.forget(rank_);
}

void RemotePolicy::hear() {
  while (const auto message = mailbox_.take(Tag::decided, rank_)) take(*message);
}

void RemotePolicy::take(const comm::Incoming& message) {
  if (message.source != rank_) return;
  Answer answer;
  try {
    answer = decode_answer(message.payload);
  } catch (const Error& e) {
    answer.refused = e.what();
  }
  if (std::exchange(silent_, false)) log_once(logged_back_, fmt::format("inference rank {} answers again", rank_));
  if (answer.leaving) {
    left_ = true;
  } else if (answer.number == number_ || answer.number == 0) {
    answer_ = std::move(answer);
  }
}

// Why an answer is not used; "": it is.
std::string RemotePolicy::fault(const Answer& answer, std::span<const mdp::Observation* const> observations,
                                bool values) const {
  if (!answer.refused.empty()) return answer.refused;
  if (answer.version < newest_version_)
    return fmt::format("its weights are of version {}, those here of version {}", answer.version, newest_version_);
  if (answer.decisions.size() != observations.size())
    return fmt::format("{} decisions on {} observations", answer.decisions.size(), observations.size());
  for (size_t i = 0; i < observations.size(); ++i) {
    const auto& decision = answer.decisions[i];
    if (values ? !std::isfinite(decision.value_rule) : !is_sound(decision, *observations[i]))
      return fmt::format("rule {}, location {}, value {} is no decision", decision.action.rule,
                         decision.action.location, decision.value_rule);
  }
  return "";
}

void RemotePolicy::log_once(bool& logged, const std::string& text) const {
  if (!std::exchange(logged, true)) hooks_.log_line(text);
}

}  // namespace rlgo::actors
