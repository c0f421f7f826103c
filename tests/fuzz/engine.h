// Feeds a reader with mutated inputs, in a child process with limits, and keeps those that break it. Everything follows
// from (seed, index): an input can be made again from its number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/rng.h"

namespace rlgo::fuzz {

using Corpus = std::vector<std::string>;

// One reader.
struct Target {
  std::string name;
  std::function<Corpus()> seeds;  // valid inputs
  std::function<std::string(const Corpus& corpus, Rng& rng)> mutate;
  // Throws rlgo::Error where it refuses the input; anything else that it throws is a fault. It may read and write in
  // `folder` (the current folder is another one, which must stay empty).
  std::function<void(const std::string& input, const std::filesystem::path& folder)> run;
  uint64_t ci_inputs = 1000;
  // The same reading behind the protection that users have (a child process), where `run` goes without it, for speed.
  // An input that breaks `run` counts as contained where this takes or refuses it. Null: there is no such protection.
  std::function<void(const std::string& input, const std::filesystem::path& folder)> contained = {};
};

struct Limits {
  int cpu_s = 10;                             // for one input, processor time
  double wall_s = 60;                         // for one input; where the machine is busy it is longer than cpu_s
  uint64_t memory_bytes = uint64_t{2} << 30;  // more than the process had at its start
};

struct Fault {
  uint64_t index = 0;
  std::string what;  // "signal 11", "more than 10 s", "more than 2 GiB", "exception: ..."
  std::string input;
};

struct Tally {
  uint64_t inputs = 0, accepted = 0;  // the others were refused, or are faults
  uint64_t peak_bytes = 0;            // resident, the largest worker
  double seconds = 0;
  std::vector<Fault> faults;
  std::vector<Fault> contained;     // broke `run`, but not Target::contained
  std::vector<std::string> strays;  // files that appeared or changed outside the given folder
};

// Inputs first .. first + count - 1 of the stream `seed`. Stops after `most_faults` faults.
Tally fuzz(const Target& target, const Corpus& corpus, uint64_t seed, uint64_t first, uint64_t count,
           const Limits& limits = {}, size_t most_faults = 50);
// One given input.
Tally run_one(const Target& target, const std::string& input, const Limits& limits = {});
// The input of that number.
std::string input_of(const Target& target, const Corpus& corpus, uint64_t seed, uint64_t index);

// Bytes that no reader may get to see: they lie in files next to the folder that a target is given.
extern const std::string kSecret;

// engine.cc: all of them, by name.
const std::vector<Target>& targets();
const Target& find_target(const std::string& name);

}  // namespace rlgo::fuzz
