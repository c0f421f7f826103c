#include "core/env/checkpoints.h"

namespace rlgo::env {

int64_t Checkpoint::bytes() const {
  return mark.bytes() + features.bytes() +
         static_cast<int64_t>(rewrites.size() * sizeof(rules::Rewrite) + cost_us.size() * sizeof(double));
}

std::shared_ptr<const Checkpoint> Checkpoints::find(uint64_t key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found->second);
  return found->second->second;
}

void Checkpoints::keep(uint64_t key, Checkpoint checkpoint) {
  const auto kept = std::make_shared<const Checkpoint>(std::move(checkpoint));
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return;
  kept_.emplace_front(key, kept);
  by_key_[key] = kept_.begin();
  bytes_ += kept->bytes();
  while (bytes_ > most_bytes_ && kept_.size() > 1) {
    bytes_ -= kept_.back().second->bytes();
    by_key_.erase(kept_.back().first);
    kept_.pop_back();
  }
}

size_t Checkpoints::size() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

}  // namespace rlgo::env
