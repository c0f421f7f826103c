#include "replay/checksum.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text.h"

namespace rlgo::replay {
namespace {

constexpr size_t kBlockBytes = 1 << 20;

std::string checksum_text(std::string_view kind, uint64_t bytes, uint64_t hash) {
  std::string text =
      fmt::format("rlgo {}\nHDF5 from byte {}\nbytes {}\nhash {}\n", kind, kChecksumBytes, bytes, hex(hash));
  RLGO_CHECK_LE(text.size(), kChecksumBytes);
  text.resize(kChecksumBytes, '\0');
  return text;
}

}  // namespace

void add_checksum(std::string& file, std::string_view kind) {
  RLGO_CHECK_LE(kChecksumBytes, file.size());
  uint64_t hash = 0;
  for (size_t at = kChecksumBytes; at < file.size(); at += kBlockBytes) {
    hash = hash_bytes(file.data() + at, std::min(kBlockBytes, file.size() - at), hash);
  }
  file.replace(0, kChecksumBytes, checksum_text(kind, file.size(), hash));
}

void verify_checksum(const std::filesystem::path& path, std::string_view kind) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    fail("{}: {}", path.string(), std::filesystem::exists(path, error) ? "not a file" : "no such file");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("{}: cannot open: {}", path.string(), std::strerror(errno));
  std::string head(kChecksumBytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  const std::string start = fmt::format("rlgo {}\n", kind);
  if (!head.starts_with(start)) fail("{}: not a file of rlgo {} (its checksum is missing)", path.string(), kind);
  if (in.gcount() < static_cast<std::streamsize>(kChecksumBytes))
    fail("{}: truncated: {} bytes", path.string(), in.gcount());
  uint64_t hash = 0;
  uint64_t bytes = kChecksumBytes;
  std::vector<char> block(kBlockBytes);
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto count = static_cast<size_t>(in.gcount());
    if (count == 0) break;
    hash = hash_bytes(block.data(), count, hash);
    bytes += count;
  }
  if (in.bad()) fail("{}: cannot read: {}", path.string(), std::strerror(errno));
  if (head == checksum_text(kind, bytes, hash)) return;
  if (head.find(fmt::format("\nbytes {}\n", bytes)) == std::string::npos) {
    fail("{}: truncated or altered: its size, {} bytes, is not the one it was written with", path.string(), bytes);
  }
  fail("{}: altered: its contents do not match the hash that it was written with", path.string());
}

}  // namespace rlgo::replay
