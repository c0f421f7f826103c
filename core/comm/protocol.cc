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
  writer.put_vector(message.next_episode);
  writer.put_string(message.weights);
  return writer.take();
}

Weights decode_weights(std::string_view bytes) {
  return decode<Weights>(bytes, "message weights", [](ByteReader& reader) {
    Weights message;
    message.version = reader.get<int64_t>();
    message.quota_steps = reader.get<int64_t>();
    message.next_episode = reader.get_vector<int64_t>();
    message.weights = reader.get_string();
    return message;
  });
}

std::string encode(const Heartbeat& message) {
  ByteWriter writer;
  for (int64_t value :
       {message.version, message.quota_steps, message.episodes, message.steps, message.errors, message.quota_left})
    writer.put(value);
  for (double value : {message.env_s, message.policy_s, message.wait_s}) writer.put(value);
  return writer.take();
}

Heartbeat decode_heartbeat(std::string_view bytes) {
  return decode<Heartbeat>(bytes, "message heartbeat", [](ByteReader& reader) {
    Heartbeat message;
    for (int64_t* value : {&message.version, &message.quota_steps, &message.episodes, &message.steps, &message.errors,
                           &message.quota_left})
      *value = reader.get<int64_t>();
    for (double* value : {&message.env_s, &message.policy_s, &message.wait_s}) *value = reader.get<double>();
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
