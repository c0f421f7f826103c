#include "core/rulegen/generate/enumerate.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rulegen/generate/enumerate_state.h"

namespace rlgo::rulegen {
namespace {

struct Child {
  uint64_t key = 0;
  uint32_t parent = 0, packed = 0;
};
constexpr uint32_t kBlock = 256;  // parents that a thread takes at a time

// Runs fn(thread, block) for all blocks, in any order. Stops, and gives back false, where fn does.
bool run_blocks(uint32_t blocks, int threads, const std::function<bool(int, uint32_t)>& fn) {
  std::mutex mutex;
  uint32_t next = 0;
  bool go_on = true;
  std::exception_ptr thrown;
  const auto work = [&](int thread) {
    for (;;) {
      uint32_t block = 0;
      {
        const std::scoped_lock lock(mutex);
        if (!go_on || next == blocks) return;
        block = next++;
      }
      bool fine = false;
      std::exception_ptr error;
      try {
        fine = fn(thread, block);
      } catch (...) {
        error = std::current_exception();
      }
      const std::scoped_lock lock(mutex);
      if (error && !thrown) thrown = error;
      go_on &= fine;
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (auto& thread : others) thread.join();
  if (thrown) std::rethrow_exception(thrown);
  return go_on;
}

// A set of keys, by open addressing.
class KeySet {
 public:
  explicit KeySet(size_t count) : slots_(std::bit_ceil(count * 2 + 16)) {}
  bool insert(uint64_t key) {
    key |= key == 0;
    for (size_t at = key & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == key) return false;
      if (slots_[at] == 0) {
        slots_[at] = key;
        return true;
      }
    }
  }
  uint64_t bytes() const { return slots_.size() * sizeof(uint64_t); }

 private:
  std::vector<uint64_t> slots_;
};

class Enumerator {
 public:
  Enumerator(Enumeration& out, const EnumerateOptions& options) : out_(out), options_(options) {
    for (int t = 0; t < options.threads; ++t) states_.push_back(std::make_unique<GraphState>(out.family));
  }

  bool level(int number) {
    number_ = number;
    Level level;
    std::vector<Child> children;
    if (!expand(level, children) || !unite(level, children) || !assess(level, children)) return false;
    out_.levels.push_back(std::move(level));
    return true;
  }

 private:
  bool report(const char* phase, uint64_t done, uint64_t total, uint64_t found) {
    return !options_.progress || options_.progress({number_, phase, done, total, found});
  }
  // Counts tables, not the allocator's view of them, so that the answer is the same on every machine.
  bool fits(uint64_t bytes) {
    for (const auto& level : out_.levels) {
      bytes += level.graphs.size() * sizeof(Record) + level.selves.size() * sizeof(SelfPair) +
               level.identities.size() * sizeof(IdentityPair);
    }
    out_.peak_bytes = std::max(out_.peak_bytes, bytes);
    if (bytes <= options_.memory_bytes) return true;
    out_.stopped = fmt::format("graphs of {} operators need {} and more of tables; {} are allowed", number_,
                               human_bytes(double(bytes)), human_bytes(double(options_.memory_bytes)));
    return false;
  }

  bool expand(Level& level, std::vector<Child>& children) {
    const uint64_t parents = out_.levels.back().graphs.size();
    const auto blocks = static_cast<uint32_t>((parents + kBlock - 1) / kBlock);
    std::vector<std::vector<Child>> found(blocks);
    std::mutex mutex;
    uint64_t done = 0, held = 0;
    const bool all = run_blocks(blocks, options_.threads, [&](int thread, uint32_t block) {
      GraphState& state = *states_[thread];
      uint64_t generated = 0;
      std::vector<Child> mine;
      const uint64_t end = std::min<uint64_t>(parents, uint64_t{block + 1} * kBlock);
      for (uint64_t parent = uint64_t{block} * kBlock; parent < end; ++parent) {
        state.reset(out_.sketch(number_ - 1, static_cast<uint32_t>(parent)).steps);
        state.for_each_child([&](const OpStep& step, uint64_t key) {
          ++generated;
          mine.push_back({key, static_cast<uint32_t>(parent), pack(step, 0)});
        });
      }
      drop_repeated(mine);
      const std::scoped_lock lock(mutex);
      level.generated += generated;
      held += mine.size();
      found[block] = std::move(mine);
      done = std::min(parents, done + kBlock);
      return report("extending", done, parents, level.generated) && fits(held * sizeof(Child));
    });
    if (!all) return false;
    if (!fits(2 * held * sizeof(Child))) return false;
    children.reserve(held);
    for (auto& part : found) {
      children.insert(children.end(), part.begin(), part.end());
      std::vector<Child>().swap(part);
    }
    return true;
  }

  static void drop_repeated(std::vector<Child>& children) {
    KeySet seen(children.size());
    std::erase_if(children, [&](const Child& child) { return !seen.insert(child.key); });
  }

  // The first of each class stays.
  bool unite(Level& level, std::vector<Child>& children) {
    KeySet seen(children.size());
    if (!fits(children.capacity() * sizeof(Child) + seen.bytes())) return false;
    std::erase_if(children, [&](const Child& child) { return !seen.insert(child.key); });
    level.distinct = children.size();
    return true;
  }

  bool assess(Level& level, std::vector<Child>& children) {
    const uint64_t total = children.size();
    if (!fits(children.capacity() * sizeof(Child) + 2 * total * sizeof(Record))) return false;
    constexpr uint32_t kChildren = 4096;
    const auto blocks = static_cast<uint32_t>((total + kChildren - 1) / kChildren);
    std::vector<Level> parts(blocks);
    std::mutex mutex;
    uint64_t done = 0, kept = 0;
    const bool all = run_blocks(blocks, options_.threads, [&](int thread, uint32_t block) {
      Level& part = parts[block];
      const uint64_t begin = uint64_t{block} * kChildren, end = std::min<uint64_t>(total, begin + kChildren);
      assess_block(*states_[thread], std::span(children).subspan(begin, end - begin), part);
      const std::scoped_lock lock(mutex);
      done += end - begin;
      kept += part.graphs.size();
      return report("evaluating", done, total, kept);
    });
    if (!all) return false;
    for (auto& part : parts) {
      const auto offset = static_cast<uint32_t>(level.graphs.size());
      for (auto self : part.selves) level.selves.push_back({self.index + offset, self.permutation});
      level.graphs.insert(level.graphs.end(), part.graphs.begin(), part.graphs.end());
      level.identities.insert(level.identities.end(), part.identities.begin(), part.identities.end());
      level.redundant += part.redundant;
      part = {};
    }
    level.graphs.shrink_to_fit();
    return true;
  }

  void assess_block(GraphState& state, std::span<const Child> children, Level& part) {
    int64_t current = -1;
    for (const auto& child : children) {
      if (current != child.parent) {
        current = child.parent;
        state.reset({});
        for (const auto& step : out_.sketch(number_ - 1, child.parent).steps) state.push(step, true);
      }
      const OpStep step = unpack_step(child.packed);
      state.push(step, true);
      const auto outcome = state.assess();
      state.pop();
      if (outcome.redundant) {
        ++part.redundant;
        const Record record{0, child.parent, child.packed};
        if (outcome.alone) part.identities.push_back({record, outcome.targets});
        continue;
      }
      for (size_t k = 0; k < std::min<size_t>(outcome.selves.size(), 2); ++k) {
        part.selves.push_back({static_cast<uint32_t>(part.graphs.size()), static_cast<uint32_t>(outcome.selves[k])});
      }
      part.graphs.push_back({outcome.fingerprint, child.parent, pack(step, outcome.permutation)});
    }
  }

  Enumeration& out_;
  const EnumerateOptions& options_;
  std::vector<std::unique_ptr<GraphState>> states_;
  int number_ = 0;
};

}  // namespace

uint32_t pack(const OpStep& step, int permutation) {
  return uint32_t{step.config} | uint32_t{step.operands[0]} << 7 | uint32_t{step.operands[1]} << 12 |
         uint32_t{step.operands[2]} << 17 | static_cast<uint32_t>(permutation) << 22;
}
OpStep unpack_step(uint32_t packed) {
  return {static_cast<uint8_t>(packed & 127),
          {static_cast<uint8_t>(packed >> 7 & 31), static_cast<uint8_t>(packed >> 12 & 31),
           static_cast<uint8_t>(packed >> 17 & 31)}};
}
int unpack_permutation(uint32_t packed) { return static_cast<int>(packed >> 22); }

std::vector<uint8_t> sinks_of(const Family& family, std::span<const OpStep> steps) {
  std::array<bool, kMaxTensors> read{};
  size_t tensors = family.variables.size();
  for (const auto& step : steps) {
    for (int k = 0; k < family.configs[step.config].arity; ++k) read[step.operands[k]] = true;
    tensors += family.configs[step.config].outputs;
  }
  std::vector<uint8_t> sinks;
  for (size_t t = family.variables.size(); t < tensors; ++t) {
    if (!read[t]) sinks.push_back(static_cast<uint8_t>(t));
  }
  return sinks;
}

Sketch Enumeration::sketch(int level, const Record& record) const {
  Sketch sketch;
  sketch.steps.resize(level);
  Record at = record;
  for (int l = level; l > 0; --l) {
    sketch.steps[l - 1] = unpack_step(at.packed);
    at = levels[l - 1].graphs[at.parent];
  }
  sketch.outputs = sinks_of(family, sketch.steps);
  return sketch;
}

Sketch Enumeration::sketch(int level, uint32_t index) const { return sketch(level, levels[level].graphs[index]); }

uint64_t Enumeration::graphs() const {
  uint64_t sum = 0;
  for (const auto& level : levels) sum += level.graphs.size();
  return sum - 1;
}

Enumeration enumerate(const Family& family, const EnumerateOptions& options) {
  RLGO_CHECK(options.max_ops >= 1 && options.max_ops <= kMaxSteps && options.threads >= 1);
  Enumeration out;
  out.family = family;
  out.levels.emplace_back();
  out.levels[0].graphs.emplace_back();
  if (!options.state.empty()) read_state(options.state, options.max_ops, out);
  out.resumed = static_cast<int>(out.levels.size()) - 1;
  Enumerator enumerator(out, options);
  for (int number = out.resumed + 1; number <= options.max_ops; ++number) {
    if (!enumerator.level(number)) {
      if (out.stopped.empty()) out.stopped = "stopped";
      break;
    }
    if (!options.state.empty()) write_state(options.state, out);
  }
  return out;
}

}  // namespace rlgo::rulegen
