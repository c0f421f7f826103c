// Random changes to bytes and texts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/fuzz/engine.h"

namespace rlgo::fuzz {

// Numbers at which readers trip: powers of two and their neighbours, small ones, negative ones.
int64_t odd_number(Rng& rng);
// true in one of n cases.
bool one_in(Rng& rng, uint64_t n);
size_t pick(Rng& rng, size_t count);

// A few changes: bytes flipped, set, cut out, repeated, moved, numbers of 1 to 8 bytes or varints replaced; parts of
// another input put in.
std::string mutate_bytes(const Corpus& corpus, Rng& rng);
std::string change_bytes(std::string bytes, const Corpus& corpus, Rng& rng);
// A few changes by words, numbers, brackets and lines; `words` are ones that the language knows.
std::string mutate_text(const Corpus& corpus, std::span<const std::string_view> words, Rng& rng);

}  // namespace rlgo::fuzz
