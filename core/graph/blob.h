// Contents of weights, and payloads of operators that rlgo does not know. Shared, immutable, never copied with a graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/ops/types.h"

namespace rlgo::graph {

// Which infinite numbers a tensor may hold, as bits; a NaN counts as both.
constexpr uint8_t kFinite = 0, kPositiveInfinite = 1, kNegativeInfinite = 2;
constexpr uint8_t kBothInfinite = kPositiveInfinite | kNegativeInfinite;

uint8_t infinities_of(ops::DType dtype, const std::string& data);  // of raw bytes

// A constant tensor. Its bytes may be made on demand (seeded zoo weights), held, or left behind (actors do not need
// them). Raw little-endian bytes, row-major, elements of type.dtype.
class Blob {
 public:
  // Normal(0, scale) + shift numbers drawn from `seed`, computed at each load(); f32 only.
  // `positive` takes their absolute value plus 0.5 (variances).
  static std::shared_ptr<const Blob> seeded(ops::TensorType type, uint64_t seed, double scale, double shift = 0.0,
                                            bool positive = false);
  // Held in memory. Throws Error where the size does not fit the type.
  static std::shared_ptr<const Blob> bytes(ops::TensorType type, std::string data);
  // The same with a content hash of its own, for contents that other processes know without having them.
  static std::shared_ptr<const Blob> bytes(ops::TensorType type, std::string data, uint64_t content_hash);
  // Only type, content hash and what infinities() is: load() throws. For processes that rewrite but never compute.
  static std::shared_ptr<const Blob> absent(ops::TensorType type, uint64_t content_hash, uint8_t infinities = kFinite);

  const ops::TensorType& type() const { return type_; }
  uint64_t content_hash() const { return hash_; }
  uint8_t infinities() const { return infinities_; }  // of numbers in it
  bool available() const { return kind_ != Kind::absent; }
  std::string load() const;  // all bytes; throws Error where contents are absent
  // The same without a copy where they are held; nobody may write there.
  std::shared_ptr<const std::string> share() const;
  // For text form: "seed=7 scale=0.1 shift=0 positive=0", "hash=... infinities=1" (left out where it is 0).
  std::string describe() const;

 private:
  enum class Kind : uint8_t { seeded, bytes, absent };
  Blob() = default;
  Kind kind_ = Kind::absent;
  ops::TensorType type_;
  uint64_t hash_ = 0;
  uint8_t infinities_ = kFinite;
  uint64_t seed_ = 0;
  double scale_ = 0, shift_ = 0;
  bool positive_ = false;
  std::shared_ptr<const std::string> data_;
};

// An operator that rlgo does not know, kept byte for byte. The graph node's inputs are the present ones of the formal
// inputs, then the captured values of subgraphs.
struct Opaque {
  std::string op_type;                // "LSTM"
  std::string domain;                 // "" is ai.onnx
  std::string payload;                // serialized onnx NodeProto
  std::vector<bool> formal_inputs;    // one per formal input: present or left out ("")
  std::vector<std::string> captured;  // names in the payload's subgraphs that the trailing inputs stand for: numbers
  std::vector<std::string> outputs;  // names as in the payload (numbers), "" where left out; ports count the named ones
  bool deterministic = true;         // false: RandomNormal and the like: never merged with an equal node
  uint8_t infinities = kFinite;      // of numbers in the payload; part of no hash, which the payload is
  std::vector<std::shared_ptr<const Blob>> known;  // its results, where import computed them from weights; in no hash
  uint64_t hash() const;
};

}  // namespace rlgo::graph
