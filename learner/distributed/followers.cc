#include "learner/distributed/followers.h"

#include <algorithm>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::learner {

using comm::Tag;

namespace {

enum class Kind : uint8_t { alive, plan, update, done };

constexpr double kBeatS = 1;

std::string alive() {
  ByteWriter out;
  out.put(Kind::alive);
  return out.take();
}

std::string encode(const FollowerReport& report) {
  ByteWriter out;
  out.put(Kind::done);
  out.put(report.digest);
  for (const double value : {report.update_s, report.host_bytes, report.device_bytes}) out.put(value);
  return out.take();
}

FollowerReport decode_report(ByteReader& in) {
  FollowerReport report;
  report.digest = in.get<uint64_t>();
  for (double* value : {&report.update_s, &report.host_bytes, &report.device_bytes}) *value = in.get<double>();
  return report;
}

// What a part of an update throws, the other learners hear of here: before unwinding destroys this one's group, whose
// end may need theirs. Silence (NoAnswer) is the leader's alone to announce: it decides what follows.
template <typename Work>
auto announcing(comm::Mailbox& mailbox, const std::vector<int>& ranks, bool leads, const Work& work) {
  try {
    return work();
  } catch (const comm::NoAnswer& e) {
    if (leads) comm::announce_stop(mailbox, ranks, e.what());
    throw;
  } catch (const std::exception& e) {  // LibTorch's errors are not rlgo's
    comm::announce_stop(mailbox, ranks, e.what());
    throw;
  }
}

// Takes part in what the leader begins.
void obey(comm::Mailbox& mailbox, int leader, Algorithm& algorithm, const Inspect& inspect,
          const std::string& message) {
  ByteReader in(message);
  const auto kind = in.get<Kind>();
  if (kind == Kind::plan) {
    const auto epoch = in.get<int64_t>();
    const auto progress = in.get<double>();
    algorithm.plan(epoch, progress, in.get<int64_t>());
  } else if (kind == Kind::update) {
    UpdateContext context;
    context.version = in.get<int64_t>();
    context.progress = in.get<double>();
    const Stopwatch watch;
    algorithm.update({}, context);
    auto report = inspect();
    report.update_s = watch.seconds();
    mailbox.send(leader, Tag::learner, encode(report));
  }
}

}  // namespace

LeaderAlgorithm::LeaderAlgorithm(std::shared_ptr<Algorithm> algorithm, std::shared_ptr<LearnerGroup> group,
                                 comm::Mailbox& mailbox, std::vector<int> ranks, Inspect inspect, double timeout_s)
    : algorithm_(std::move(algorithm)),
      group_(std::move(group)),
      mailbox_(mailbox),
      ranks_(std::move(ranks)),
      inspect_(std::move(inspect)),
      timeout_s_(timeout_s),
      reports_(ranks_.size()),
      done_(ranks_.size()),
      since_heard_(ranks_.size()) {}

EpochPlan LeaderAlgorithm::plan(int64_t epoch, double progress, int64_t steps) {
  ByteWriter out;
  out.put(Kind::plan);
  out.put(epoch);
  out.put(progress);
  out.put(steps);
  for (size_t place = 1; place < ranks_.size(); ++place) mailbox_.send(ranks_[place], Tag::learner, out.bytes());
  return algorithm_->plan(epoch, progress, steps);
}

UpdateReport LeaderAlgorithm::update(std::vector<Episode> episodes, const UpdateContext& context) {
  ByteWriter out;
  out.put(Kind::update);
  out.put(context.version);
  out.put(context.progress);
  for (size_t place = 1; place < ranks_.size(); ++place) mailbox_.send(ranks_[place], Tag::learner, out.bytes());
  // A sum on a GPU may keep this thread for long: the learners must have their orders. Nobody waits for actors.
  if (group_->gpu() != nullptr) mailbox_.flush(timeout_s_, ranks_);
  updating_ = true;
  const Stopwatch watch;
  auto report = announcing(mailbox_, ranks_, true, [&] { return algorithm_->update(std::move(episodes), context); });
  reports_[0] = inspect_();
  reports_[0].update_s = watch.seconds();
  done_[0] = ++updates_;
  for (auto& since : since_heard_) since.restart();
  updating_ = false;
  while (std::any_of(done_.begin(), done_.end(), [this](int64_t done) { return done < updates_; })) {
    tend();
    context.between();
    mailbox_.wait(5);
  }
  for (size_t place = 0; place < ranks_.size(); ++place) {
    if (reports_[place].digest != reports_[0].digest)
      fail(
          "learner rank {} has other weights than rank 0 after update {} (checksums {} and {}): this is a bug, or the "
          "learners run different builds",
          ranks_[place], context.version, hex(reports_[place].digest), hex(reports_[0].digest));
  }
  return report;
}

void LeaderAlgorithm::read(size_t place, const std::string& message) {
  since_heard_[place].restart();
  ByteReader in(message);
  if (in.get<Kind>() != Kind::done) return;
  reports_[place] = decode_report(in);
  ++done_[place];
}

void LeaderAlgorithm::tend() {
  if (updating_) return;
  for (size_t place = 1; place < ranks_.size(); ++place) {
    while (auto message = mailbox_.take(Tag::learner, ranks_[place])) read(place, message->payload);
    if (auto message = mailbox_.take(Tag::stop, ranks_[place]))
      fail("learner rank {} ended: {}", ranks_[place], message->payload);
    if (since_heard_[place].seconds() > timeout_s_)
      throw comm::NoAnswer(
          fmt::format("learner rank {} is lost: nothing was heard from it for {:.3g} s", ranks_[place], timeout_s_));
  }
  if (since_beat_.seconds() < kBeatS) return;
  since_beat_.restart();
  for (size_t place = 1; place < ranks_.size(); ++place) mailbox_.send(ranks_[place], Tag::learner, alive());
}

void LeaderAlgorithm::stop(const std::string& reason) {
  for (size_t place = 1; place < ranks_.size(); ++place) mailbox_.send(ranks_[place], Tag::stop, reason);
  mailbox_.flush(2);
  // The followers take leave of the group now, and wait for this one only for a short time.
  group_ = std::make_shared<LearnerGroup>();
  algorithm_->set_group(group_);
}

std::string follow(comm::Mailbox& mailbox, const std::vector<int>& ranks, Algorithm& algorithm, const Inspect& inspect,
                   double timeout_s) {
  const int leader = ranks.front();
  Stopwatch since_heard, since_beat;
  for (;;) {
    if (auto message = mailbox.take(Tag::stop, leader)) return message->payload;
    auto message = mailbox.take(Tag::learner, leader);
    if (!message) {
      if (since_heard.seconds() > timeout_s)
        throw comm::NoAnswer(
            fmt::format("nothing was heard from the first learner (rank {}) for {:.0f} s", leader, timeout_s));
      if (since_beat.seconds() >= kBeatS) {
        since_beat.restart();
        mailbox.send(leader, Tag::learner, alive());
      }
      mailbox.wait(100);
      continue;
    }
    since_heard.restart();
    announcing(mailbox, ranks, false, [&] { obey(mailbox, leader, algorithm, inspect, message->payload); });
    since_heard.restart();
  }
}

}  // namespace rlgo::learner
