// Several learners as threads of one process.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/comm/device_group.h"
#include "learner/distributed/learner_group.h"

namespace rlgo::test {

// Calls work(place, group) for each of `count` learners at once. Throws what the first of them threw.
inline void as_learners(int count, const std::function<void(int, std::shared_ptr<learner::LearnerGroup>)>& work,
                        double timeout_s = 60) {
  auto comms = comm::local_comms(count);
  std::vector<int> ranks;
  for (int rank = 0; rank < count; ++rank) ranks.push_back(rank);
  std::vector<std::exception_ptr> errors(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int place = 0; place < count; ++place) {
    threads.emplace_back([&, place] {
      comm::Mailbox mailbox(*comms[static_cast<size_t>(place)]);
      try {
        std::shared_ptr<comm::DeviceGroup> ring =
            comm::ring_group(mailbox, ranks, {.timeout_s = timeout_s, .transport = ""});
        work(place, std::make_shared<learner::LearnerGroup>(ring, nullptr, mailbox, ranks, timeout_s));
        mailbox.flush(10);
      } catch (...) {
        errors[static_cast<size_t>(place)] = std::current_exception();
        for (int rank : ranks) {
          if (rank != place) mailbox.send(rank, comm::Tag::stop, "a test learner failed");
        }
        mailbox.flush(10);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace rlgo::test
