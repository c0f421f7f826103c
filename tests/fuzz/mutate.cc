#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <limits>

namespace rlgo::fuzz {
namespace {

constexpr size_t kLongest = 1 << 17;

std::string_view part_of(const std::string& text, Rng& rng, size_t longest) {
  if (text.empty()) return {};
  const size_t begin = pick(rng, text.size());
  return std::string_view(text).substr(begin, 1 + pick(rng, longest));
}

void replace_number(std::string& bytes, Rng& rng) {
  const size_t width = size_t{1} << rng.below(4);
  if (bytes.size() < width) return;
  const int64_t number = odd_number(rng);
  std::memcpy(bytes.data() + pick(rng, bytes.size() - width + 1), &number, width);
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

void change_once(std::string& bytes, const Corpus& corpus, Rng& rng) {
  const size_t at = bytes.empty() ? 0 : pick(rng, bytes.size());
  switch (rng.below(9)) {
    case 0:
      if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
      break;
    case 1:
      if (!bytes.empty()) bytes[at] = static_cast<char>(rng.below(256));
      break;
    case 2:
      bytes.erase(at, 1 + pick(rng, 16));
      break;
    case 3:
      bytes.insert(at, std::string(part_of(bytes, rng, 32)));
      break;
    case 4:
      bytes.insert(at, std::string(part_of(corpus[pick(rng, corpus.size())], rng, 64)));
      break;
    case 5:
      replace_number(bytes, rng);
      break;
    case 6:
      bytes.replace(at, 1 + pick(rng, 2), varint(static_cast<uint64_t>(odd_number(rng))));
      break;
    case 7:
      if (one_in(rng, 4)) bytes.resize(at);
      break;
    default:
      bytes.insert(at, 1 + pick(rng, 300), static_cast<char>(rng.below(256)));
  }
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '?'; }

// Begin and length of the word, number or sign at or behind a place.
std::pair<size_t, size_t> token_at(const std::string& text, size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  if (at >= text.size()) return {text.size(), 0};
  if (!is_word(text[at])) return {at, 1};
  size_t begin = at, end = at;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return {begin, end - begin};
}

std::string token_of(const std::string& text, Rng& rng) {
  if (text.empty()) return {};
  const auto [begin, length] = token_at(text, pick(rng, text.size()));
  return text.substr(begin, length);
}

std::string odd_word(Rng& rng) {
  constexpr auto kWords = std::to_array<std::string_view>({"",
                                                           "-",
                                                           "nan",
                                                           "inf",
                                                           "-inf",
                                                           "1e309",
                                                           "1e-400",
                                                           "0x10",
                                                           "9223372036854775808",
                                                           "-9223372036854775808",
                                                           "18446744073709551616",
                                                           "\"",
                                                           "\\",
                                                           "\\x",
                                                           "\n",
                                                           "\r\n",
                                                           "\t",
                                                           "%",
                                                           "{",
                                                           "}",
                                                           "[[",
                                                           "]",
                                                           "((",
                                                           "))",
                                                           "...",
                                                           ",,",
                                                           "=",
                                                           "==",
                                                           "#",
                                                           "\xff\xfe",
                                                           "\xf0\x9f\x98\x80",
                                                           "../../etc/passwd",
                                                           "/etc/passwd"});
  if (one_in(rng, 2)) return std::to_string(odd_number(rng));
  if (one_in(rng, 40)) return std::string(1 + pick(rng, 5000), static_cast<char>(32 + rng.below(95)));
  return std::string(kWords[pick(rng, kWords.size())]);
}

std::string line_of(const std::string& text, Rng& rng) {
  if (text.empty()) return {};
  const size_t at = pick(rng, text.size());
  const size_t begin = text.rfind('\n', at);
  const size_t end = text.find('\n', at);
  const size_t first = begin == std::string::npos ? 0 : begin + 1;
  return text.substr(std::min(first, at), end == std::string::npos ? end : end - std::min(first, at) + 1);
}

void change_text_once(std::string& text, const Corpus& corpus, std::span<const std::string_view> words, Rng& rng) {
  const auto [begin, length] = token_at(text, text.empty() ? 0 : pick(rng, text.size()));
  switch (rng.below(9)) {
    case 0:
      text.erase(begin, length);
      break;
    case 1:
      text.replace(begin, length, odd_word(rng));
      break;
    case 2:
      text.replace(begin, length, token_of(text, rng));
      break;
    case 3:
      text.replace(begin, length, token_of(corpus[pick(rng, corpus.size())], rng));
      break;
    case 4:
      if (!words.empty()) text.replace(begin, length, words[pick(rng, words.size())]);
      break;
    case 5:
      if (!words.empty()) text.insert(begin, std::string(words[pick(rng, words.size())]) + " ");
      break;
    case 6: {
      // Deep nesting, long lists.
      const std::string token = text.substr(begin, std::min<size_t>(length + 1 + pick(rng, 3), 40));
      const size_t times = one_in(rng, 8) ? 1 + pick(rng, 3000) : 1 + pick(rng, 5);
      std::string many;
      for (size_t k = 0; k < times && many.size() < kLongest; ++k) many += token;
      text.insert(begin, many);
      break;
    }
    case 7:
      text.insert(begin, line_of(one_in(rng, 2) ? text : corpus[pick(rng, corpus.size())], rng));
      break;
    default:
      change_once(text, corpus, rng);
  }
}

size_t number_of_changes(Rng& rng) { return 1 + pick(rng, one_in(rng, 4) ? 12 : 3); }

}  // namespace

int64_t odd_number(Rng& rng) {
  constexpr auto kNumbers = std::to_array<int64_t>(
      {-1000, -65, -8, -7, -5, -4, -3, -2, -1,  0,   0,   1,   1,    2,    3,     4,     5,     6,      7,
       8,     9,   15, 16, 17, 63, 64, 65, 127, 128, 255, 256, 1000, 1024, 32767, 65535, 65536, 1000000});
  switch (rng.below(4)) {
    case 0: {
      const auto power = static_cast<int64_t>(uint64_t{1} << rng.below(64));
      const auto near = static_cast<int64_t>(static_cast<uint64_t>(power) + rng.below(3) - 1);
      return one_in(rng, 4) && near != std::numeric_limits<int64_t>::min() ? -near : near;
    }
    case 1:
      return static_cast<int64_t>(rng.below(12)) - 3;
    default:
      return kNumbers[pick(rng, kNumbers.size())];
  }
}

bool one_in(Rng& rng, uint64_t n) { return rng.below(n) == 0; }
size_t pick(Rng& rng, size_t count) { return static_cast<size_t>(rng.below(count)); }

std::string change_bytes(std::string bytes, const Corpus& corpus, Rng& rng) {
  for (size_t k = number_of_changes(rng); k > 0; --k) change_once(bytes, corpus, rng);
  if (bytes.size() > kLongest) bytes.resize(kLongest);
  return bytes;
}

std::string mutate_bytes(const Corpus& corpus, Rng& rng) {
  return change_bytes(corpus[pick(rng, corpus.size())], corpus, rng);
}

std::string mutate_text(const Corpus& corpus, std::span<const std::string_view> words, Rng& rng) {
  std::string text = corpus[pick(rng, corpus.size())];
  for (size_t k = number_of_changes(rng); k > 0; --k) change_text_once(text, corpus, words, rng);
  if (text.size() > kLongest) text.resize(kLongest);
  return text;
}

}  // namespace rlgo::fuzz
