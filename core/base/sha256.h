// SHA-256 (FIPS 180-4): what `sha256sum` prints, so that a result can name the files that it is about.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace rlgo {

class Sha256 {
 public:
  void add(std::string_view bytes);  // further bytes of the message
  // 64 hexadecimal digits, of all that was added. To be asked once.
  std::string digest();

 private:
  void block(const unsigned char* bytes);
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> pending_ = {};
  size_t held_ = 0;  // of pending_
  uint64_t length_ = 0;
};

// Of a file's content, read in parts. Throws Error where it cannot be read.
std::string sha256_of(const std::filesystem::path& file);

}  // namespace rlgo
