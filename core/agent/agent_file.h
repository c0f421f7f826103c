// A trained agent as one small file: weights, what it reads, where it comes from.
//
// Format, little-endian: "rlgo-agent", u32 version, then the sizes of observations, the network's shape, texts
// about its origin, tensors by name (float32), each count before what it counts, and 64 hexadecimal digits of SHA-256
// over all that.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/agent/network.h"

namespace rlgo::agent {

struct AgentFile {
  mdp::ObservationSpec spec;  // rule_names tell which rules the tables of the weights are for
  Shape shape;
  Tensors tensors;
  // Origin: "command", "graphs", "revision", ... in words.
  std::map<std::string, std::string> about;
  bool operator==(const AgentFile&) const = default;

  Network network() const { return {spec, shape, tensors}; }
};

// The bytes of the file.
std::string encode(const AgentFile& file);
// Throws Error where the bytes are no agent of this version, or damaged.
AgentFile decode_agent(std::string_view bytes);

// Writes atomically. Throws Error where the disk fails.
void save(const AgentFile& agent, const std::filesystem::path& path);
// Throws Error that names the file, and says why it is refused and what to do.
AgentFile load_agent(const std::filesystem::path& path);

}  // namespace rlgo::agent
