#include "core/comm/protocol.h"

#include "core/base/bytes.h"

namespace rlgo::comm {
namespace {

template <typename Message, typename Read>
Message decode(std::string_view bytes, std::string_view what, Read read) {
  try {
    ByteReader reader(bytes);
    Message message = read(reader);
    if (!reader.done()) fail("bytes are left over");
    return message;
  } catch (const Error& error) {
    throw error.in(what);
  }
}

}  // namespace

std::string encode(const Hello& message) {
  ByteWriter writer;
  writer.put(message.spec_hash);
  writer.put(message.rules_hash);
  writer.put<uint8_t>(message.dream);
  writer.put_string(message.host);
  return writer.take();
}

Hello decode_hello(std::string_view bytes) {
  return decode<Hello>(bytes, "message hello", [](ByteReader& reader) {
    Hello message;
    message.spec_hash = reader.get<uint64_t>();
    message.rules_hash = reader.get<uint64_t>();
    message.dream = reader.get<uint8_t>() != 0;
    message.host = reader.get_string();
    return message;
  });
}

std::string encode(const Weights& message) {
  ByteWriter writer;
  writer.put(message.version);
  writer.put(message.quota_steps);
  writer.put_string(message.weights);
  writer.put_string(message.starts);
  return writer.take();
}

Weights decode_weights(std::string_view bytes) {
  return decode<Weights>(bytes, "message weights", [](ByteReader& reader) {
    Weights message;
    message.version = reader.get<int64_t>();
    message.quota_steps = reader.get<int64_t>();
    message.weights = reader.get_string();
    message.starts = reader.get_string();
    return message;
  });
}

std::string encode(const Welcome& message) {
  ByteWriter writer;
  writer.put(message.next_episode);
  writer.put_string(message.rollouts);
  return writer.take();
}

Welcome decode_welcome(std::string_view bytes) {
  return decode<Welcome>(bytes, "message welcome", [](ByteReader& reader) {
    Welcome message;
    message.next_episode = reader.get<int64_t>();
    message.rollouts = reader.get_string();
    return message;
  });
}

std::string encode(const Quota& message) {
  ByteWriter writer;
  writer.put(message.version);
  writer.put(message.quota_steps);
  return writer.take();
}

Quota decode_quota(std::string_view bytes) {
  return decode<Quota>(bytes, "message quota", [](ByteReader& reader) {
    Quota message;
    message.version = reader.get<int64_t>();
    message.quota_steps = reader.get<int64_t>();
    return message;
  });
}

std::string encode(const FanOut& message) {
  ByteWriter writer;
  writer.put_vector(message.ranks);
  writer.put(message.tag);
  writer.put<uint8_t>(message.newest_only);
  writer.put_string(message.payload);
  return writer.take();
}

FanOut decode_fan_out(std::string_view bytes) {
  return decode<FanOut>(bytes, "message fan_out", [](ByteReader& reader) {
    FanOut message;
    message.ranks = reader.get_vector<int32_t>();
    message.tag = reader.get<Tag>();
    if (name(message.tag).empty()) fail("tag {}", static_cast<int>(message.tag));
    message.newest_only = reader.get<uint8_t>() != 0;
    message.payload = reader.get_string();
    return message;
  });
}

std::string encode(const Route& message) {
  ByteWriter writer;
  writer.put(message.via);
  return writer.take();
}

Route decode_route(std::string_view bytes) {
  return decode<Route>(bytes, "message route", [](ByteReader& reader) {
    Route message;
    message.via = reader.get<int32_t>();
    return message;
  });
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
      message.tag = reader.get<Tag>();
      if (name(message.tag).empty()) fail("tag {}", static_cast<int>(message.tag));
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

std::string encode(const Heartbeat& message) {
  ByteWriter writer;
  for (int64_t value :
       {message.version, message.quota_steps, message.episodes, message.steps, message.errors, message.quota_left})
    writer.put(value);
  for (double value : {message.env_s, message.policy_s, message.wait_s}) writer.put(value);
  writer.put(message.inference);
  return writer.take();
}

Heartbeat decode_heartbeat(std::string_view bytes) {
  return decode<Heartbeat>(bytes, "message heartbeat", [](ByteReader& reader) {
    Heartbeat message;
    for (int64_t* value : {&message.version, &message.quota_steps, &message.episodes, &message.steps, &message.errors,
                           &message.quota_left})
      *value = reader.get<int64_t>();
    for (double* value : {&message.env_s, &message.policy_s, &message.wait_s}) *value = reader.get<double>();
    message.inference = reader.get<InferenceCounts>();
    return message;
  });
}

std::string encode(const ErrorReport& message) {
  ByteWriter writer;
  writer.put(message.rank);
  writer.put(message.episode);
  writer.put(message.seed);
  writer.put_string(message.what);
  return writer.take();
}

ErrorReport decode_error_report(std::string_view bytes) {
  return decode<ErrorReport>(bytes, "message error_report", [](ByteReader& reader) {
    ErrorReport message;
    message.rank = reader.get<int32_t>();
    message.episode = reader.get<int64_t>();
    message.seed = reader.get<uint64_t>();
    message.what = reader.get_string();
    return message;
  });
}

}  // namespace rlgo::comm
