// Small text helpers shared by parsers, options and messages.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlgo {

std::string_view trim(std::string_view text);  // without blanks at both ends
// Splits at every `separator`; keeps empty parts. split("", ',') is {""}.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
// Whole-string parses: nothing where any character is left over or the value is out of range.
std::optional<int64_t> parse_int(std::string_view text);
std::optional<double> parse_double(std::string_view text);
// The same, finite. Throws Error where it is not.
double finite_number(std::string_view text);
// The known word nearest to `word` by edit distance, when near enough to be a likely typo (at most a third of its
// length, at least 1).
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);
// " (did you mean 'x'?)", why rlgo no longer has a word of that name (removed.h), or "" where nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);
// A hash or checksum as people and files see it: 16 digits, zeros in front ("00c0ffee00c0ffee").
std::string hex(uint64_t value);
// "1 thread", "2 threads".
template <std::integral Count>
std::string counted(Count count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}
// "1.5 GiB", "312 B".
std::string human_bytes(double bytes);
// "2 h 03 min", "41.3 s", "12 ms"; "unknown" for an infinite or absurd time.
std::string human_seconds(double seconds);

}  // namespace rlgo
