// The state file of an enumeration: families do not change between runs, levels only grow.
#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/rulegen/generate/enumerate.h"

namespace rlgo::rulegen {
namespace {

constexpr std::string_view kMagic = "rlgo enumeration 1";

uint64_t family_hash(const Family& family) {
  uint64_t h = hash_string(family.name);
  for (const auto& variable : family.variables) {
    h = hash_combine(h, hash_string(variable.name));
    for (int64_t extent : variable.shape) h = hash_combine(h, static_cast<uint64_t>(extent));
  }
  for (const auto& config : family.configs) {
    h = hash_combine(h, hash_string(config.label));
    h = hash_combine(h, config.attrs.hash());
    for (const auto& signature : config.signatures) h = hash_combine(h, hash_string(signature));
  }
  return h;
}

}  // namespace

void write_state(const std::filesystem::path& path, const Enumeration& enumeration) {
  ByteWriter body;
  body.put(family_hash(enumeration.family));
  body.put<uint32_t>(static_cast<uint32_t>(enumeration.levels.size() - 1));
  for (size_t l = 1; l < enumeration.levels.size(); ++l) {
    const auto& level = enumeration.levels[l];
    body.put_vector(level.graphs);
    body.put_vector(level.selves);
    body.put_vector(level.identities);
    body.put(level.generated);
    body.put(level.distinct);
    body.put(level.redundant);
  }
  ByteWriter file;
  file.put_string(kMagic);
  file.put(hash_bytes(body.bytes().data(), body.bytes().size()));
  atomic_write(path, file.take() + body.bytes());
}

void read_state(const std::filesystem::path& path, int max_ops, Enumeration& enumeration) {
  if (!std::filesystem::exists(path)) return;
  const std::string bytes = read_file(path);
  const auto refuse = [&](const char* why) { fail("{}: {}; remove it to start again", path.string(), why); };
  const size_t head = sizeof(uint64_t) + kMagic.size();
  if (bytes.size() < head + sizeof(uint64_t) || bytes.compare(sizeof(uint64_t), kMagic.size(), kMagic) != 0) {
    refuse("not the state of an enumeration");
  }
  ByteReader front(std::string_view(bytes).substr(head));
  const std::string_view body = std::string_view(bytes).substr(head + sizeof(uint64_t));
  if (front.get<uint64_t>() != hash_bytes(body.data(), body.size())) refuse("damaged");
  ByteReader in(body);
  if (in.get<uint64_t>() != family_hash(enumeration.family)) refuse("the state of another set of operators");
  const int levels = static_cast<int>(in.get<uint32_t>());
  for (int l = 1; l <= std::min(levels, max_ops); ++l) {
    Level level;
    level.graphs = in.get_vector<Record>();
    level.selves = in.get_vector<SelfPair>();
    level.identities = in.get_vector<IdentityPair>();
    level.generated = in.get<uint64_t>();
    level.distinct = in.get<uint64_t>();
    level.redundant = in.get<uint64_t>();
    enumeration.levels.push_back(std::move(level));
  }
}

}  // namespace rlgo::rulegen
