#include "core/comm/protocol.h"

namespace rlgo::comm {

void get_field(ByteReader& reader, Tag& tag) {
  tag = reader.get<Tag>();
  if (name(tag).empty()) fail("tag {}", static_cast<int>(tag));
}

void add_to_bundle(std::string& bundle, int source, Tag tag, std::string_view payload) {
  ByteWriter writer;
  writer.put<int32_t>(source);
  writer.put(tag);
  writer.put<uint64_t>(payload.size());
  bundle += writer.bytes();
  bundle += payload;
}

std::vector<Bundled> decode_bundle(std::string_view bytes) {
  ByteReader reader(bytes);
  std::vector<Bundled> messages;
  try {
    while (!reader.done()) {
      Bundled message;
      message.source = reader.get<int32_t>();
      get_field(reader, message.tag);
      message.payload = reader.get_string();
      messages.push_back(std::move(message));
    }
  } catch (const Error& error) {
    throw error.in("message bundle");
  }
  return messages;
}

InferenceCounts& InferenceCounts::operator+=(const InferenceCounts& other) {
  decided += other.decided;
  fallback += other.fallback;
  answered += other.answered;
  batches += other.batches;
  refused += other.refused;
  return *this;
}

}  // namespace rlgo::comm
