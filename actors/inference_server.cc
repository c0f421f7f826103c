#include "actors/inference_server.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"

namespace rlgo::actors {

using comm::Tag;

InferenceServer::InferenceServer(comm::Mailbox& mailbox, DrawnPolicy& policy, mdp::ObservationSpec spec,
                                 InferenceOptions options)
    : mailbox_(mailbox), policy_(policy), spec_(std::move(spec)), options_(options) {}

void InferenceServer::take(const comm::Incoming& message) {
  Pending pending;
  pending.from = message.source;
  Seen& seen = seen_[message.source];
  // An actor has one question at a time: it no longer waits for the one before.
  std::erase_if(pending_, [&](const Pending& other) { return other.from == message.source; });
  try {
    pending.question = decode_question(message.payload);
    const auto& question = pending.question;
    if (question.base != 0 && question.base != seen.number)
      fail("its observations differ from those of question {}, which is not known here", question.base);
    pending.observations =
        decode_observations(question.observations, question.count,
                            question.base == 0 ? std::span<const mdp::Observation>() : seen.observations);
    for (const auto& observation : pending.observations) mdp::check(observation, spec_);
  } catch (const Error& e) {
    return refuse(message.source, pending.question.number, e.what());
  }
  pending_.push_back(std::move(pending));
}

bool InferenceServer::turn() {
  // Those that wait for newer weights stay.
  const auto ripe = std::stable_partition(pending_.begin(), pending_.end(), [this](const Pending& one) {
    return one.question.version <= policy_.version();
  });
  const auto limit = static_cast<size_t>(options_.batch);
  size_t observations = 0;
  auto end = pending_.begin();
  for (; end != ripe && (observations == 0 || observations + end->observations.size() <= limit); ++end)
    observations += end->observations.size();
  if (end == pending_.begin()) return false;
  const double left_us = options_.wait_us - pending_.front().waiting.us();
  if (end == ripe && observations < limit && pending_.size() < seen_.size() && left_us > 0) {
    mailbox_.wait(1e-3 * left_us);  // the reader of the mailbox comes back with what has arrived
    return true;
  }
  std::vector<Pending> batch(std::make_move_iterator(pending_.begin()), std::make_move_iterator(end));
  pending_.erase(pending_.begin(), end);
  answer(std::move(batch));
  return true;
}

void InferenceServer::answer(std::vector<Pending> batch) {
  std::vector<const mdp::Observation*> to_decide, to_value;
  std::vector<double> uniforms;
  for (const auto& one : batch) {
    for (const auto& observation : one.observations)
      (one.question.values ? to_value : to_decide).push_back(&observation);
    uniforms.insert(uniforms.end(), one.question.uniforms.begin(), one.question.uniforms.end());
  }
  std::vector<Decision> decisions;
  std::vector<float> values;
  try {
    if (!to_decide.empty()) decisions = policy_.decide(to_decide, uniforms);
    if (!to_value.empty()) values = policy_.value(to_value);
  } catch (const std::exception& e) {  // LibTorch's errors are not rlgo's
    for (const auto& one : batch) refuse(one.from, one.question.number, e.what());
    return;
  }
  counts_.answered += static_cast<int64_t>(decisions.size());
  counts_.batches += to_decide.empty() ? 0 : 1;
  auto decision = decisions.begin();
  auto value = values.begin();
  for (auto& one : batch) {
    Answer answer{.number = one.question.number, .version = policy_.version()};
    if (one.question.values) {
      answer.decisions.resize(one.observations.size());
      for (auto& valued : answer.decisions) valued.value_rule = *value++;
    } else {
      const auto first = decision;
      decision += static_cast<std::ptrdiff_t>(one.observations.size());
      answer.decisions.assign(first, decision);
    }
    mailbox_.send(one.from, Tag::decided, encode(answer));
    seen_[one.from] = {one.question.number, std::move(one.observations)};
  }
}

void InferenceServer::refuse(int from, uint64_t number, std::string why) {
  ++counts_.refused;
  mailbox_.send(from, Tag::decided, encode(Answer{.number = number, .refused = std::move(why)}));
}

void InferenceServer::leave() {
  for (const auto& [rank, seen] : seen_) mailbox_.send(rank, Tag::decided, encode(Answer{.leaving = true}));
}

}  // namespace rlgo::actors
