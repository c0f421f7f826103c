// All graphs of up to so many operators over a family, one of each class that renaming of variables makes equal, with
// the fingerprint of what they compute.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/rulegen/generate/enumerate_family.h"

namespace rlgo::rulegen {

// The last step of a graph, its other steps being those of its parent: 16 bytes a graph.
struct Record {
  uint64_t fingerprint = 0;  // the least, over all permutations of variables, of the hash of all results
  uint32_t parent = 0;       // in the level below
  uint32_t packed = 0;       // step and the permutation of the fingerprint: pack()
  bool operator==(const Record&) const = default;
};
uint32_t pack(const OpStep& step, int permutation);
OpStep unpack_step(uint32_t packed);
int unpack_permutation(uint32_t packed);

// A graph that computes the same under a renaming of its variables, although it is another graph then: x + (y + z).
struct SelfPair {
  uint32_t index = 0;
  uint32_t permutation = 0;
};
// A graph whose last step computes what is there already: relu(relu(x)). targets: for each of its outputs the tensor.
struct IdentityPair {
  Record record;
  std::array<uint8_t, 2> targets{};
};

struct Level {
  std::vector<Record> graphs;
  std::vector<SelfPair> selves;
  std::vector<IdentityPair> identities;
  uint64_t generated = 0;  // graphs made, before isomorphic ones were dropped
  uint64_t distinct = 0;   // classes
  uint64_t redundant = 0;  // classes left out because a step computes what is there already
};

struct EnumerationProgress {  // of the level in work
  int level = 0;
  const char* phase = "";
  uint64_t done = 0, total = 0, found = 0;
};

struct EnumerateOptions {
  int max_ops = 3;
  int threads = 1;
  uint64_t memory_bytes = uint64_t{4} << 30;
  std::filesystem::path state;  // levels that are done are kept here, and taken from here; "" for none
  std::function<bool(const EnumerationProgress&)> progress;  // false: stop; from one thread at a time
};

struct Enumeration {
  Family family;
  std::vector<Level> levels;  // [0] holds the graph without steps
  std::string stopped;        // why not all levels are there; "" where they are
  uint64_t peak_bytes = 0;    // of the tables, by count
  int resumed = 0;            // levels that came from the state file

  // The steps; outputs are those that nothing reads, in the order of their tensors.
  Sketch sketch(int level, uint32_t index) const;
  Sketch sketch(int level, const Record& record) const;
  uint64_t graphs() const;
};

// Does not depend on the number of threads. Throws Error where the state file belongs to another family or is damaged.
Enumeration enumerate(const Family& family, const EnumerateOptions& options);

// Outputs that nothing reads.
std::vector<uint8_t> sinks_of(const Family& family, std::span<const OpStep> steps);

// Levels 1.. of an enumeration. Written whole to a temporary name, then renamed.
void write_state(const std::filesystem::path& path, const Enumeration& enumeration);
// Puts the levels that the file holds, at most max_ops, into `enumeration`. Nothing where there is no file.
void read_state(const std::filesystem::path& path, int max_ops, Enumeration& enumeration);

}  // namespace rlgo::rulegen
