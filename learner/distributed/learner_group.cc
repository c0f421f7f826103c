#include "learner/distributed/learner_group.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"

namespace rlgo::learner {

using comm::Tag;

namespace {

constexpr size_t kPartBytes = size_t{16} << 20;  // of trajectories in one message

}  // namespace

LearnerGroup::LearnerGroup(std::shared_ptr<comm::DeviceGroup> host, std::shared_ptr<comm::DeviceGroup> gpu,
                           comm::Mailbox& mailbox, std::vector<int> ranks, double timeout_s)
    : host_(std::move(host)),
      gpu_(std::move(gpu)),
      mailbox_(&mailbox),
      ranks_(std::move(ranks)),
      timeout_s_(timeout_s) {
  const auto self = std::find(ranks_.begin(), ranks_.end(), mailbox.rank());
  if (self == ranks_.end()) fail("learners: rank {} is none of them", mailbox.rank());
  place_ = static_cast<int>(self - ranks_.begin());
}

std::string LearnerGroup::name() const {
  if (gpu_) return gpu_->name();
  return host_ ? host_->name() : "one learner";
}

void LearnerGroup::sum(std::span<double> values) const {
  if (host_) host_->all_reduce_sum(values.data(), values.size());
}

void LearnerGroup::sum(torch::Tensor& values) const {
  RLGO_CHECK(values.is_contiguous() && values.scalar_type() == torch::kFloat64);
  if (size() == 1) return;
  const auto count = static_cast<size_t>(values.numel());
  if (values.is_cpu()) return sum({values.data_ptr<double>(), count});
  if (gpu_) return gpu_->all_reduce_sum(values.data_ptr<double>(), count);
  auto host = values.to(torch::kCPU);
  sum({host.data_ptr<double>(), count});
  values.copy_(host);
}

double LearnerGroup::max(double value) const {
  const auto all = gather({&value, 1}).values;
  return *std::max_element(all.begin(), all.end());
}

LearnerGroup::Gathered LearnerGroup::gather(std::span<const double> own) const {
  if (!host_) return {{own.begin(), own.end()}, 0};
  std::vector<double> counts(static_cast<size_t>(size()));
  counts[static_cast<size_t>(place_)] = static_cast<double>(own.size());
  sum(counts);
  Gathered result;
  result.first = static_cast<size_t>(std::accumulate(counts.begin(), counts.begin() + place_, 0.0));
  result.values.resize(static_cast<size_t>(std::accumulate(counts.begin(), counts.end(), 0.0)));
  std::copy(own.begin(), own.end(), result.values.begin() + static_cast<std::ptrdiff_t>(result.first));
  sum(result.values);
  return result;
}

std::string LearnerGroup::receive() const {
  const Stopwatch watch;
  for (;;) {
    if (auto message = mailbox_->take(Tag::learner, ranks_[0])) return std::move(message->payload);
    if (auto message = mailbox_->take(Tag::stop, ranks_[0])) fail("the first learner ended: {}", message->payload);
    if (watch.seconds() > timeout_s_)
      throw comm::NoAnswer(fmt::format("the first learner (rank {}) sent nothing within {} s", ranks_[0], timeout_s_));
    mailbox_->wait(5);
  }
}

void LearnerGroup::send(int place, std::string message) const {
  mailbox_->send(ranks_.at(static_cast<size_t>(place)), Tag::learner, std::move(message));
}

// A share travels as messages of some trajectories each; the first byte shows whether more follow.
std::vector<std::string> LearnerGroup::receive_part() const {
  std::vector<std::string> own;
  for (bool more = true; more;) {
    const std::string message = receive();
    ByteReader in(message);
    more = in.get<uint8_t>() != 0;
    while (!in.done()) own.push_back(in.get_string());
  }
  return own;
}

void LearnerGroup::send_parts(const std::vector<int>& places, const std::function<std::string(size_t)>& encoded) const {
  for (int to = 1; to < size(); ++to) {
    ByteWriter out;
    out.put<uint8_t>(1);
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] != to) continue;
      out.put_string(encoded(i));
      if (out.bytes().size() < kPartBytes) continue;
      send(to, out.take());
      out = {};
      out.put<uint8_t>(1);
    }
    std::string last = out.take();
    last[0] = 0;
    send(to, std::move(last));
  }
  // What sums on a GPU does not look after the mailbox.
  if (gpu_ && !mailbox_->flush(timeout_s_, ranks_))
    throw comm::NoAnswer("a learner does not take its part of the data");
}

std::vector<mdp::Trajectory> LearnerGroup::scatter(std::vector<mdp::Trajectory> trajectories,
                                                   const std::vector<int>& places) const {
  if (size() == 1) return trajectories;
  std::vector<mdp::Trajectory> own;
  if (place_ > 0) {
    for (const auto& bytes : receive_part()) own.push_back(mdp::decode(bytes));
    return own;
  }
  RLGO_CHECK_EQ(trajectories.size(), places.size());
  send_parts(places, [&](size_t i) { return mdp::encode(std::exchange(trajectories[i], {})); });
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] == 0) own.push_back(std::move(trajectories[i]));
  }
  return own;
}

std::vector<Episode> LearnerGroup::scatter(std::vector<Episode> episodes, const std::vector<int>& places) const {
  if (size() == 1) return episodes;
  std::vector<Episode> own;
  if (place_ > 0) {
    for (const auto& bytes : receive_part())
      own.push_back(std::make_shared<const mdp::CodedTrajectory>(mdp::decode_coded(bytes)));
  } else {
    RLGO_CHECK_EQ(episodes.size(), places.size());
    send_parts(places, [&](size_t i) { return mdp::encode(*std::exchange(episodes[i], nullptr)); });
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] == 0) own.push_back(std::move(episodes[i]));
    }
  }
  return own;
}

namespace {

// Of items with so many steps each; `stays`: whether one stays with the leader.
std::vector<int> balance(const std::vector<size_t>& steps, int members, const std::function<bool(size_t)>& stays) {
  std::vector<int> places(steps.size(), 0);
  std::vector<size_t> load(static_cast<size_t>(members));
  std::vector<size_t> order;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (stays(i)) {
      load[0] += steps[i];
    } else {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return steps[a] > steps[b]; });
  for (size_t i : order) {
    const auto least = std::min_element(load.begin(), load.end());
    places[i] = static_cast<int>(least - load.begin());
    *least += steps[i];
  }
  return places;
}

}  // namespace

std::vector<int> balanced(const std::vector<mdp::Trajectory>& trajectories, int members,
                          const std::function<bool(const mdp::Trajectory&)>& leader) {
  std::vector<size_t> steps;
  for (const auto& t : trajectories) steps.push_back(t.steps.size());
  return balance(steps, members, [&](size_t i) { return leader && leader(trajectories[i]); });
}

std::vector<int> balanced(const std::vector<Episode>& episodes, int members) {
  std::vector<size_t> steps;
  for (const auto& episode : episodes) steps.push_back(episode->facts.steps.size());
  return balance(steps, members, [](size_t) { return false; });
}

}  // namespace rlgo::learner
