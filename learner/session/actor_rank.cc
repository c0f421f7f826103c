#include "learner/session/actor_rank.h"

#include <exception>
#include <optional>
#include <utility>

#include "core/base/stopwatch.h"
#include "core/comm/device_group.h"
#include "core/comm/protocol.h"
#include "learner/session/node_messages.h"

namespace rlgo::learner {
namespace {

// Of a list by rank that may be empty.
int at(const std::vector<int>& ranks, int rank) { return ranks.empty() ? 0 : ranks.at(static_cast<size_t>(rank)); }

}  // namespace

std::optional<comm::Incoming> wait_for_start(comm::Mailbox& mailbox, comm::Tag tag, double silence_s,
                                             const std::function<bool()>& should_stop) {
  Stopwatch since_heard;
  while (!should_stop()) {
    if (auto message = mailbox.take(tag, 0)) return message;
    if (mailbox.take(comm::Tag::stop, 0)) return {};
    while (mailbox.take(comm::Tag::heartbeat, 0)) since_heard.restart();
    if (since_heard.seconds() > silence_s)
      throw comm::NoAnswer(
          fmt::format("nothing was heard from rank 0 for {:.3g} s, and the run has not begun", silence_s));
    mailbox.wait(100);
  }
  return {};
}

int run(ActorRank part) {
  auto& mailbox = part.mailbox;
  std::optional<NodeMessages> node;
  const int via = at(part.loop.via, mailbox.rank());
  if (via == mailbox.rank()) {
    node.emplace(mailbox, std::move(part.header), part.store);
    part.handlers.merge(node->handlers());
    part.options.welcomed = [&](const comm::Welcome& welcome) { node->open(welcome); };
    part.options.tend = [&] { node->tick(); };
  } else {
    part.options.via = via;
  }
  part.options.inference_rank = at(part.loop.inference, mailbox.rank());
  actors::ActorLoop loop(mailbox, part.envs, part.policy, std::move(part.options), std::move(part.handlers));
  try {
    const auto end = loop.run(part.should_stop);
    if (node) node->end();
    return end == actors::ActorEnd::deserted ? 1 : 0;
  } catch (const std::exception& e) {
    mailbox.send(0, comm::Tag::stats, std::string("failed: ") + e.what());
    mailbox.send(0, comm::Tag::goodbye, encode(comm::Heartbeat()));
    mailbox.flush(2);
    if (node) node->leave();
    throw;
  }
}

}  // namespace rlgo::learner
