#include "core/cost/table_file.h"

#include <algorithm>
#include <cctype>

#include "core/base/hash.h"
#include "core/base/text.h"

namespace rlgo::cost {
namespace {

constexpr uint64_t kWayOfTiming = 2;  // operators: tables of another way are not read (2: large weights are cold)

}  // namespace

std::string header(const TableFormat& format, const TableOrigin& origin) {
  return fmt::format("{}\n# model {}\n# device {}\n# threads {}\n{}\n", format.title, origin.model, origin.device,
                     origin.threads, format.columns);
}

std::string describe(const TableOrigin& origin) {
  return fmt::format("model '{}', device '{}', {}", origin.model, origin.device, counted(origin.threads, "thread"));
}

std::string file_stem(const TableOrigin& origin) {
  uint64_t hash = hash_string(origin.device, hash_string(origin.model));
  hash = hash_combine(hash_combine(hash, static_cast<uint64_t>(origin.threads)), kWayOfTiming);
  std::string name = origin.model;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.'; },
      '-');
  return fmt::format("{}-{}t-{:08x}", name, origin.threads, hash >> 32);
}

TableOrigin on_one_line(TableOrigin origin) {
  for (std::string* text : {&origin.model, &origin.device}) {
    std::replace_if(
        text->begin(), text->end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  }
  return origin;
}

TableReader::TableReader(TableFormat format, std::string file, std::string_view text)
    : format_(std::move(format)), file_(std::move(file)), lines_(split(text, '\n')) {}

std::optional<std::string> TableReader::line() {
  if (next_ >= lines_.size()) return std::nullopt;
  std::string text = lines_[next_++];
  if (text.ends_with('\r')) text.pop_back();
  if (next_ == lines_.size()) {
    // Every line that was written ends with a line break: what follows the last one is empty, or cut off.
    if (!text.empty()) fail_here("the last line is cut off");
    return std::nullopt;
  }
  return text;
}

void TableReader::expect(std::string_view wanted) {
  const auto text = line();
  if (!text || *text != wanted) fail_here("not a {} of this version: expected '{}'", format_.kind, wanted);
}

std::string TableReader::header_field(std::string_view key) {
  const std::string start = fmt::format("# {} ", key);
  const auto text = line();
  if (!text || !text->starts_with(start)) fail_here("expected '{}...'", start);
  return text->substr(start.size());
}

void TableReader::expect_header(const TableOrigin& wanted) {
  TableOrigin origin;
  expect(format_.title);
  origin.model = header_field("model");
  origin.device = header_field("device");
  const auto threads = parse_int(header_field("threads"));
  if (!threads || *threads < 1 || *threads > 1 << 20) fail_here("the number of threads is not a positive number");
  origin.threads = static_cast<int>(*threads);
  expect(format_.columns);
  if (origin != wanted)
    fail("{}: the costs were measured with {}; this run needs {}", file_, describe(origin), describe(wanted));
}

std::optional<std::vector<std::string>> TableReader::row() {
  const auto text = line();
  if (!text) return std::nullopt;
  auto parts = split(*text, '\t');
  const size_t wanted = split(format_.columns, '\t').size();
  if (parts.size() != wanted) fail_here("{} columns instead of {}", parts.size(), wanted);
  return parts;
}

}  // namespace rlgo::cost
