// How the exporter writes contents of weights.
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/hash.h"
#include "core/onnx/exporter.h"
#include "core/onnx/weight_files.h"

namespace rlgo::onnx_io {
namespace {

constexpr int64_t kLeastFlushed = 16;  // elements

// Where a number stands next to them that they vanish before in any sum: a tensor of denormal numbers alone may be
// scaled up again.
template <typename Float>
int64_t flush(std::string& bytes) {
  constexpr Float kMuchLarger = std::numeric_limits<Float>::min() / (std::numeric_limits<Float>::epsilon() / 2);
  bool has_much_larger = false;
  std::vector<size_t> found;
  for (size_t at = 0; at + sizeof(Float) <= bytes.size(); at += sizeof(Float)) {
    Float number;
    std::memcpy(&number, bytes.data() + at, sizeof(Float));
    has_much_larger = has_much_larger || (std::isfinite(number) && std::abs(number) >= kMuchLarger);
    if (std::fpclassify(number) == FP_SUBNORMAL) found.push_back(at);
  }
  if (!has_much_larger) return 0;
  for (const size_t at : found) std::memset(bytes.data() + at, 0, sizeof(Float));
  return static_cast<int64_t>(found.size());
}

// Sets denormal numbers to zero; returns how many.
int64_t flush_denormals(const ops::TensorType& type, std::string& bytes) {
  if (type.elements() < kLeastFlushed) return 0;
  if (type.dtype == ops::DType::f32) return flush<float>(bytes);
  if (type.dtype == ops::DType::f64) return flush<double>(bytes);
  return 0;
}

}  // namespace

// Returns how many numbers were set to zero.
int64_t Exporter::load_weight(const graph::Blob& blob, std::string& bytes) const {
  bytes = blob.load();
  return flush_denormals_ ? flush_denormals(blob.type(), bytes) : 0;
}

void Exporter::write_weight(const std::string& name, const graph::Blob& blob) {
  const auto found = skeleton_.notes.find(name);
  const std::string notes = found == skeleton_.notes.end() ? "" : found->second;
  const bool in_file =
      weight_files_ != nullptr && blob.type().bytes() >= WeightFiles::kLeastBytes && writer_.takes_initialiser(name);
  std::string bytes;
  int64_t flushed = 0;
  if (in_file) {
    const uint64_t key = hash_combine(blob.content_hash(), blob.type().hash());
    const auto* file = weight_files_->find(key);
    if (file == nullptr) {
      flushed = load_weight(blob, bytes);
      file = &weight_files_->add(key, bytes, flushed);
    }
    flushed = file->denormals;
    writer_.constant_in_file(name, blob.type(), file->name, notes);
  } else {
    flushed = load_weight(blob, bytes);
    writer_.constant(name, blob.type(), std::move(bytes), notes);
  }
  report_.denormals += flushed;
  report_.denormal_tensors += flushed > 0 ? 1 : 0;
}

}  // namespace rlgo::onnx_io
