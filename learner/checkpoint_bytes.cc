// Checkpoints as bytes: counts, then names and values of each map in its order.
#include "core/base/bytes.h"
#include "core/base/error.h"
#include "learner/checkpoint.h"

namespace rlgo::learner {
namespace {

template <typename Map, typename Put>
void put_map(ByteWriter& out, const Map& map, Put put) {
  out.put<uint64_t>(map.size());
  for (const auto& [name, value] : map) {
    out.put_string(name);
    put(value);
  }
}

template <typename Map, typename Get>
void get_map(ByteReader& in, Map& map, Get get) {
  const auto count = in.get<uint64_t>();
  for (uint64_t i = 0; i < count; ++i) {
    std::string name = in.get_string();
    map.emplace(std::move(name), get());
  }
}

}  // namespace

std::string encode(const Checkpoint& c) {
  ByteWriter out;
  put_map(out, c.tensors, [&](const TensorData& tensor) {
    out.put_string(tensor.dtype);
    out.put_vector(tensor.shape);
    out.put_string(tensor.bytes);
  });
  put_map(out, c.texts, [&](const std::string& text) { out.put_string(text); });
  put_map(out, c.counters, [&](int64_t value) { out.put(value); });
  put_map(out, c.numbers, [&](double value) { out.put(value); });
  put_map(out, c.streams, [&](const Rng::State& state) { out.put(state); });
  return out.take();
}

Checkpoint decode_checkpoint(std::string_view bytes) {
  ByteReader in(bytes);
  Checkpoint c;
  get_map(in, c.tensors, [&] {
    TensorData tensor;
    tensor.dtype = in.get_string();
    tensor.shape = in.get_vector<int64_t>();
    tensor.bytes = in.get_string();
    return tensor;
  });
  get_map(in, c.texts, [&] { return in.get_string(); });
  get_map(in, c.counters, [&] { return in.get<int64_t>(); });
  get_map(in, c.numbers, [&] { return in.get<double>(); });
  get_map(in, c.streams, [&] { return in.get<Rng::State>(); });
  if (!in.done()) fail("checkpoint: bytes left over after the last field");
  return c;
}

}  // namespace rlgo::learner
