// Episodes become whole trajectories where they are learned from, and as early as there is time for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "learner/algorithm.h"

namespace rlgo::learner {

class Decoder {
 public:
  // With a thread of its own ahead() only hands an episode over: where a GPU learns, the host decodes meanwhile.
  explicit Decoder(bool thread = false);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Decodes an episode that take() will probably be given. One whose codes are broken is left to take().
  void ahead(const Episode& episode);
  // Whole trajectories, in order. What was decoded ahead is used; what was handed over before and is not asked for is
  // forgotten. One whose codes are broken is left out, with a note. `between` is called after each that had to be
  // decoded here.
  std::vector<mdp::Trajectory> take(std::vector<Episode> episodes, std::vector<std::string>& notes,
                                    const std::function<void()>& between);

 private:
  struct Entry {
    Episode episode;   // so that no other one can have the address meanwhile
    int64_t turn = 0;  // how often take() was called before
    bool done = false;
    std::optional<mdp::Trajectory> trajectory;  // once done, where its codes are whole
  };
  void work();
  // Decodes the first of the queue; `lock` is released meanwhile.
  void decode_one(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;  // of all that follows
  std::condition_variable wake_, decoded_;
  std::unordered_map<const mdp::CodedTrajectory*, Entry> entries_;
  std::deque<const mdp::CodedTrajectory*> queue_;  // to decode; some may be forgotten
  int64_t turn_ = 0;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace rlgo::learner
