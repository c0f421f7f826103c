#include "core/rulegen/generate/generate_settled.h"

#include <charconv>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"

namespace rlgo::rulegen {
namespace {

constexpr size_t kFields = 7;  // key, expressible, text, likely, why, scope, axioms

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') out += "\\\\";
    if (c == '\n') out += "\\n";
    if (c == '\t') out += "\\t";
    if (c != '\\' && c != '\n' && c != '\t') out += c;
  }
  return out;
}

std::string plain(std::string_view text) {
  std::string out;
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '\\' || k + 1 == text.size()) {
      out += text[k];
      continue;
    }
    const char c = text[++k];
    out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return out;
}

}  // namespace

SettledFile::SettledFile(const std::filesystem::path& path) {
  if (path.empty()) return;
  std::string whole;
  if (std::filesystem::exists(path)) {
    whole = read_file(path);
    whole.resize(whole.rfind('\n') == std::string::npos ? 0 : whole.rfind('\n') + 1);
    int number = 0;
    for (const auto& line : split(whole, '\n')) {
      ++number;
      if (line.empty()) continue;
      const auto fields = split(line, '\t');
      uint64_t key = 0;
      if (fields.size() != kFields ||
          std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), key, 16).ec != std::errc())
        fail("{}:{}: damaged; remove the file to prove from the start", path.string(), number);
      Settled settled{fields[1] == "1", plain(fields[2]), plain(fields[3]), plain(fields[4]), plain(fields[5]), {}};
      for (const auto& axiom : split(fields[6], ' ')) {
        if (!axiom.empty()) settled.axioms.emplace_back(axiom);
      }
      held_[key] = std::move(settled);
    }
    atomic_write(path, whole);  // without a line that was cut off
  }
  out_.open(path, std::ios::app);
  if (!out_) fail("{}: cannot be written", path.string());
}

std::optional<Settled> SettledFile::find(uint64_t key) const {
  const std::scoped_lock lock(mutex_);
  const auto held = held_.find(key);
  return held == held_.end() ? std::nullopt : std::optional(held->second);
}

void SettledFile::add(uint64_t key, const Settled& settled) {
  const std::scoped_lock lock(mutex_);
  held_[key] = settled;
  if (!out_.is_open()) return;
  out_ << fmt::format("{:x}\t{}\t{}\t{}\t{}\t{}\t{}\n", key, settled.expressible ? 1 : 0, escaped(settled.text),
                      escaped(settled.likely), escaped(settled.why), escaped(settled.scope), join(settled.axioms, " "))
       << std::flush;
}

size_t SettledFile::size() const {
  const std::scoped_lock lock(mutex_);
  return held_.size();
}

}  // namespace rlgo::rulegen
