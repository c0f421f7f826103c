#include "learner/algorithm.h"

#include "core/base/hash.h"
#include "learner/checkpoint.h"

namespace rlgo::learner {

uint64_t digest(const Algorithm& algorithm) {
  Checkpoint checkpoint;
  algorithm.store(checkpoint);
  std::erase_if(checkpoint.tensors, [](const auto& item) { return item.first.starts_with(kOwnPrefix); });
  const std::string bytes = encode(checkpoint);
  return hash_bytes(bytes.data(), bytes.size());
}

}  // namespace rlgo::learner
