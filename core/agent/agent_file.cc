#include "core/agent/agent_file.h"

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/sha256.h"

namespace rlgo::agent {
namespace {

constexpr std::string_view kMagic = "rlgo-agent";
constexpr uint32_t kVersion = 1;
constexpr size_t kDigits = 64;
constexpr uint64_t kMostItems = 1'000'000;  // of any list: more is damage

std::string digest(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.digest();
}

void put(ByteWriter& out, const mdp::ObservationSpec& spec) {
  for (const int32_t size : {spec.ops, spec.node_features, spec.edge_features, spec.global_features, spec.rules,
                             spec.max_locations, spec.location_features})
    out.put(size);
  for (const auto& name : spec.rule_names) out.put_string(name);
  out.put_vector(spec.nonlocal_node_features);
}

mdp::ObservationSpec get_spec(ByteReader& in) {
  mdp::ObservationSpec spec;
  for (int32_t* size : {&spec.ops, &spec.node_features, &spec.edge_features, &spec.global_features, &spec.rules,
                        &spec.max_locations, &spec.location_features}) {
    *size = in.get<int32_t>();
    if (*size < 0 || static_cast<uint64_t>(*size) > kMostItems) fail("a size of {} is out of bounds", *size);
  }
  for (int32_t k = 0; k < spec.rules; ++k) spec.rule_names.push_back(in.get_string());
  spec.nonlocal_node_features = in.get_vector<int32_t>();
  return spec;
}

void put(ByteWriter& out, const Shape& shape) {
  out.put<int32_t>(shape.rounds);
  out.put<int32_t>(shape.width);
  for (const bool flag :
       {shape.mean_aggregation, shape.mean_pooling, shape.both_directions, shape.shared, shape.pointer})
    out.put<uint8_t>(flag ? 1 : 0);
}

Shape get_shape(ByteReader& in) {
  Shape shape;
  shape.rounds = in.get<int32_t>();
  shape.width = in.get<int32_t>();
  for (bool* flag :
       {&shape.mean_aggregation, &shape.mean_pooling, &shape.both_directions, &shape.shared, &shape.pointer})
    *flag = in.get<uint8_t>() != 0;
  return shape;
}

uint64_t get_count(ByteReader& in) {
  const auto count = in.get<uint64_t>();
  if (count > kMostItems) fail("a count of {} is out of bounds", count);
  return count;
}

}  // namespace

std::string encode(const AgentFile& file) {
  ByteWriter out;
  out.put_bytes(kMagic);
  out.put(kVersion);
  put(out, file.spec);
  put(out, file.shape);
  out.put<uint64_t>(file.about.size());
  for (const auto& [key, text] : file.about) {
    out.put_string(key);
    out.put_string(text);
  }
  out.put<uint64_t>(file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    out.put_string(name);
    out.put_vector(tensor.shape);
    out.put_vector(tensor.values);
  }
  std::string bytes = out.take();
  return bytes + digest(bytes);
}

AgentFile decode_agent(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) fail("this is no agent file");
  if (bytes.size() < kMagic.size() + sizeof kVersion + kDigits)
    fail("cut off: an agent file of this version is longer");
  ByteReader in(bytes.substr(kMagic.size(), bytes.size() - kMagic.size() - kDigits));
  const auto version = in.get<uint32_t>();
  if (version != kVersion) fail("an agent file of version {}, this rlgo reads {}", version, kVersion);
  if (digest(bytes.substr(0, bytes.size() - kDigits)) != bytes.substr(bytes.size() - kDigits))
    fail("damaged or cut off: the checksum does not agree");
  AgentFile file;
  file.spec = get_spec(in);
  file.shape = get_shape(in);
  for (uint64_t left = get_count(in); left > 0; --left) {
    auto key = in.get_string();
    file.about[std::move(key)] = in.get_string();
  }
  for (uint64_t left = get_count(in); left > 0; --left) {
    auto name = in.get_string();
    auto shape = in.get_vector<int64_t>();
    file.tensors[std::move(name)] = {std::move(shape), in.get_vector<float>()};
  }
  return file;
}

void save(const AgentFile& agent, const std::filesystem::path& path) { atomic_write(path, encode(agent)); }

AgentFile load_agent(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  try {
    return decode_agent(bytes);
  } catch (const Error& error) {
    fail("{}: {}. `rlgo imitate` and `rlgo evaluate --agent.file` write agent files (docs/agents.md)", path.string(),
         error.what());
  }
}

}  // namespace rlgo::agent
