#include "core/options/places.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> kWritten = {"--json", "--csv", "--curve",    "--report", "--out",
                                                      "-o",     "--svg", "--unproved", "--explain"};

struct Word {
  std::string option;  // "" for what stands by itself
  std::string value;
  bool written() const { return std::ranges::find(kWritten, option) != kWritten.end(); }
};

// A flag takes the word behind it along, which does no harm: what counts is the value.
std::vector<Word> words_of(const std::vector<std::string>& arguments) {
  std::vector<Word> words;
  for (size_t k = 0; k < arguments.size(); ++k) {
    const std::string& word = arguments[k];
    const auto equals = word.find('=');
    if (!word.starts_with("-") || word == "-")
      words.push_back({"", word});
    else if (equals != std::string::npos)
      words.push_back({word.substr(0, equals), word.substr(equals + 1)});
    else if (k + 1 < arguments.size() && !arguments[k + 1].starts_with("--"))
      words.push_back({word, arguments[++k]});
  }
  return words;
}

bool is_one_file(const std::string& a, const std::string& b, bool also_new) {
  std::error_code error;
  if (fs::exists(a, error) && fs::exists(b, error)) return fs::is_regular_file(a, error) && fs::equivalent(a, b, error);
  return also_new && fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
}

std::string text_of(const Word& word) {
  if (!word.option.empty() && word.option != "--graph") return word.option;
  return word.value.ends_with(".onnx") ? "the model" : "the file that is read";
}

}  // namespace

bool holds_other(const std::string& file) {
  constexpr size_t kLook = 64;  // the schema is a document's first member
  std::string begin(kLook, '\0');
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return false;
  std::ifstream stream(file, std::ios::binary);
  stream.read(begin.data(), kLook);
  begin.resize(static_cast<size_t>(stream.gcount()));
  return !begin.empty() && begin.find("\"schema\"") == std::string::npos;
}

std::string overwritten_file(const std::vector<std::string>& arguments) {
  const auto words = words_of(arguments);
  for (const Word& written : words) {
    if (!written.written() || written.value.empty() || written.value == "-") continue;
    for (const Word& other : words) {
      if (&other == &written || other.option == "--resume") continue;
      auto files = split(other.value, ',');
      files.push_back(other.value);
      const bool same = std::ranges::any_of(files, [&](const std::string& file) {
        return !file.empty() && file != "-" && is_one_file(written.value, file, other.written());
      });
      if (same)
        return fmt::format("{} {}: is {} itself; name another file", written.option, written.value, text_of(other));
    }
  }
  return {};
}

}  // namespace rlgo
