#include "core/base/text_file.h"

#include <string_view>

#include "core/base/error.h"
#include "core/base/file.h"

namespace rlgo {

std::string plain_text(std::string bytes, const std::string& name) {
  using namespace std::string_view_literals;
  const auto begins = [&](std::string_view mark) { return bytes.starts_with(mark); };
  for (const auto mark : {"\xff\xfe"sv, "\xfe\xff"sv, "\x00\x00\xfe\xff"sv}) {
    if (begins(mark)) fail("{}: is UTF-16 or UTF-32 text, by its byte order mark; save it as UTF-8", name);
  }
  if (begins("\xef\xbb\xbf"sv)) bytes.erase(0, 3);
  if (bytes.find("\r\n") == std::string::npos) return bytes;
  std::string text;
  text.reserve(bytes.size());
  for (size_t k = 0; k < bytes.size(); ++k) {
    if (bytes[k] != '\r' || k + 1 == bytes.size() || bytes[k + 1] != '\n') text += bytes[k];
  }
  return text;
}

std::string read_text(const std::filesystem::path& path) { return plain_text(read_file(path), path.string()); }

}  // namespace rlgo
