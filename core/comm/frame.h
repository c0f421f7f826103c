// How a message looks on its way: one header, then the payload, cut into packets.
//
//   packet 1   header (48 bytes), then the payload's first bytes
//   packet 2.. the rest of the payload, in order, nothing else
//
// A packet holds at most MailboxOptions::packet_bytes. Packets of one sender arrive in order (Comm), so that the
// packets of two messages never mix. All numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "core/base/hash.h"
#include "core/comm/tags.h"

namespace rlgo::comm {

inline constexpr uint32_t kFrameMagic = 0x4F474C52;  // "RLGO"
// 1: weights carried all ranks' episode counters; 2: heartbeats did not mention inference; 3: no Tag::fetched.
inline constexpr uint16_t kFrameVersion = 4;

struct FrameHeader {
  uint32_t magic = kFrameMagic;
  uint16_t version = kFrameVersion;
  uint8_t tag = 0;
  uint8_t zero = 0;
  int32_t source = 0;
  int32_t destination = 0;
  uint64_t sequence = 0;      // 0, 1, 2, ... from this source to this destination
  uint64_t length = 0;        // of the payload, bytes
  uint64_t payload_hash = 0;  // hash_bytes of the payload
  uint64_t header_hash = 0;   // hash_bytes of everything above
};
static_assert(sizeof(FrameHeader) == 48 && std::is_trivially_copyable_v<FrameHeader>);

inline uint64_t hash_header(const FrameHeader& header) {  // of all fields but the hash itself
  return hash_bytes(&header, offsetof(FrameHeader, header_hash));
}

enum class FrameFault : uint8_t { none, not_a_frame, other_version };  // what is wrong with a packet

// Reads a header from the start of a packet.
inline FrameFault read_header(std::string_view packet, FrameHeader* header) {
  if (packet.size() < sizeof(FrameHeader)) return FrameFault::not_a_frame;
  std::memcpy(header, packet.data(), sizeof(FrameHeader));
  if (header->magic != kFrameMagic) return FrameFault::not_a_frame;
  if (header->version != kFrameVersion) return FrameFault::other_version;
  if (header->header_hash != hash_header(*header)) return FrameFault::not_a_frame;
  return FrameFault::none;
}

}  // namespace rlgo::comm
