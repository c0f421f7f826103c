#include "learner/session/node_messages.h"

#include <exception>
#include <utility>

namespace rlgo::learner {
namespace {

constexpr double kDrain_s = 10;

}  // namespace

NodeMessages::NodeMessages(comm::Mailbox& mailbox, replay::StoreHeader header, replay::WriterOptions options)
    : header_(std::move(header)), options_(options), aggregator_(mailbox, {}, [this](const Episode& episode) {
        if (store_) store_->append(episode);
      }) {
  options_.writer = mailbox.rank();
}

void NodeMessages::open(const comm::Welcome& welcome) {
  if (!welcome.rollouts.empty()) store_.emplace(welcome.rollouts, header_, options_);
}

void NodeMessages::tick() {
  aggregator_.tick();
  if (store_) store_->tick(watch_.seconds());
}

void NodeMessages::end() {
  aggregator_.drain(kDrain_s);
  if (store_) store_->close();
}

void NodeMessages::leave() noexcept {
  try {
    end();
  } catch (const std::exception&) {
    // The first error ends the process.
  }
}

}  // namespace rlgo::learner
