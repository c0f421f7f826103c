// Why buckets: graphs with different fingerprints cannot be equal, so only those of one bucket are paired, and each
// with the cheapest of its bucket alone: what two others have in common follows from their pairs with it.
#include "core/rulegen/generate/candidate.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "core/base/error.h"

namespace rlgo::rulegen {
namespace {

Family without_permutations(Family family) {
  family.permutations.resize(1);
  return family;
}

struct Entry {
  uint64_t fingerprint = 0;
  uint32_t level = 0, index = 0;
};

std::vector<Entry> sorted_entries(const Enumeration& enumeration) {
  std::vector<Entry> entries;
  entries.reserve(enumeration.graphs());
  for (uint32_t level = 1; level < enumeration.levels.size(); ++level) {
    const auto& graphs = enumeration.levels[level].graphs;
    for (uint32_t index = 0; index < graphs.size(); ++index) {
      entries.push_back({graphs[index].fingerprint, level, index});
    }
  }
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::tie(a.fingerprint, a.level, a.index) < std::tie(b.fingerprint, b.level, b.index);
  });
  return entries;
}

Sketch named(const Enumeration& enumeration, const Entry& entry) {
  const auto& record = enumeration.levels[entry.level].graphs[entry.index];
  return renamed(enumeration.family, enumeration.sketch(static_cast<int>(entry.level), record),
                 enumeration.family.permutations[unpack_permutation(record.packed)]);
}

// Buckets of more than one graph, the cheapest first in each; as [begin, end).
std::vector<std::pair<uint64_t, uint64_t>> buckets(const Enumeration& enumeration, std::vector<Entry>& entries,
                                                   CandidateCounts& counts) {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  for (uint64_t begin = 0; begin < entries.size();) {
    uint64_t end = begin + 1;
    while (end < entries.size() && entries[end].fingerprint == entries[begin].fingerprint) ++end;
    ++counts.fingerprints;
    if (end - begin > 1) {
      uint64_t best = begin;
      double least = 0;
      for (uint64_t at = begin; at < end && entries[at].level == entries[begin].level; ++at) {
        const auto sketch = enumeration.sketch(static_cast<int>(entries[at].level), entries[at].index);
        const double cost = cost_of(enumeration.family, sketch);
        if (at == begin || cost < least) best = at, least = cost;
      }
      std::swap(entries[begin], entries[best]);
      found.emplace_back(begin, end);
      counts.pairs += end - begin - 1;
    }
    begin = end;
  }
  return found;
}

class Producer {
 public:
  Producer(const Enumeration& enumeration, int threads, const std::function<bool(int, uint64_t, Candidate)>& fn)
      : fn_(fn) {
    for (int t = 0; t < threads; ++t) evaluators_.push_back(std::make_unique<SketchEvaluator>(enumeration.family));
  }

  // Items are taken in runs; item k is given to make(thread, k), which may call emit().
  bool run(uint64_t items, const std::function<bool(int, uint64_t)>& make) {
    std::atomic<uint64_t> next{0};
    std::atomic<bool> go_on{true};
    std::exception_ptr thrown;
    std::mutex mutex;
    constexpr uint64_t kRun = 64;
    const auto work = [&](int thread) {
      try {
        for (uint64_t begin; go_on && (begin = next.fetch_add(kRun)) < items;) {
          for (uint64_t k = begin; k < std::min(items, begin + kRun) && go_on; ++k) {
            if (!make(thread, k)) go_on = false;
          }
        }
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!thrown) thrown = std::current_exception();
        go_on = false;
      }
    };
    std::vector<std::thread> others;
    for (size_t t = 1; t < evaluators_.size(); ++t) others.emplace_back(work, static_cast<int>(t));
    work(0);
    for (auto& thread : others) thread.join();
    if (thrown) std::rethrow_exception(thrown);
    return go_on;
  }

  bool emit(int thread, uint64_t number, Sketch source, Sketch target) {
    auto pair = aligned(*evaluators_[thread], std::move(source), std::move(target));
    return !pair || fn_(thread, number, std::move(*pair));
  }

 private:
  const std::function<bool(int, uint64_t, Candidate)>& fn_;
  std::vector<std::unique_ptr<SketchEvaluator>> evaluators_;
};

Candidate identity_candidate(const Enumeration& enumeration, int level, const IdentityPair& pair) {
  Candidate candidate;
  candidate.source = enumeration.sketch(level, pair.record);
  candidate.target = candidate.source;
  for (size_t k = 0; k < candidate.source.outputs.size(); ++k) candidate.target.outputs[k] = pair.targets[k];
  candidate.target = pruned(enumeration.family, candidate.target);
  return candidate;
}

}  // namespace

SketchEvaluator::SketchEvaluator(const Family& family) : family_(without_permutations(family)), state_(family_) {}

SketchHashes SketchEvaluator::hashes(const Sketch& sketch) { return hashes_without(sketch, 0); }

SketchHashes SketchEvaluator::hashes_without(const Sketch& sketch, uint64_t structure) {
  state_.reset({});
  for (const auto& step : sketch.steps) {
    const int before = state_.tensors();
    state_.push(step, true);
    for (int t = before; t < state_.tensors(); ++t) {
      if (state_.structure(t) == structure) state_.forget(t, structure);
    }
  }
  SketchHashes hashes;
  for (int t = 0; t < state_.tensors(); ++t) {
    hashes.structure.push_back(state_.structure(t));
    hashes.value.push_back(state_.value(t));
  }
  return hashes;
}

Sketch renamed(const Family& family, const Sketch& sketch, std::span<const uint8_t> names) {
  Sketch result = sketch;
  const size_t variables = family.variables.size();
  const auto rename = [&](uint8_t& tensor) {
    if (tensor < variables) tensor = names[tensor];
  };
  for (auto& step : result.steps) {
    for (int k = 0; k < family.configs[step.config].arity; ++k) rename(step.operands[k]);
  }
  for (auto& output : result.outputs) rename(output);
  return result;
}

Sketch pruned(const Family& family, const Sketch& sketch) {
  const size_t variables = family.variables.size();
  std::vector<size_t> first(sketch.steps.size());
  size_t tensors = variables;
  for (size_t s = 0; s < sketch.steps.size(); ++s) {
    first[s] = tensors;
    tensors += family.configs[sketch.steps[s].config].outputs;
  }
  std::vector<bool> needed(tensors, false);
  for (int output : sketch.outputs) needed[output] = true;
  std::vector<bool> kept(sketch.steps.size(), false);
  for (size_t s = sketch.steps.size(); s-- > 0;) {
    const auto& config = family.configs[sketch.steps[s].config];
    for (int p = 0; p < config.outputs; ++p) kept[s] = kept[s] || needed[first[s] + p];
    for (int k = 0; kept[s] && k < config.arity; ++k) needed[sketch.steps[s].operands[k]] = true;
  }
  std::vector<uint8_t> number(tensors);
  std::iota(number.begin(), number.begin() + static_cast<ptrdiff_t>(variables), uint8_t{0});
  Sketch result;
  size_t next = variables;
  for (size_t s = 0; s < sketch.steps.size(); ++s) {
    if (!kept[s]) continue;
    OpStep step = sketch.steps[s];
    for (int k = 0; k < family.configs[step.config].arity; ++k) step.operands[k] = number[step.operands[k]];
    result.steps.push_back(step);
    for (int p = 0; p < family.configs[step.config].outputs; ++p) number[first[s] + p] = static_cast<uint8_t>(next++);
  }
  for (int output : sketch.outputs) result.outputs.push_back(number[output]);
  return result;
}

std::optional<Candidate> aligned(SketchEvaluator& evaluator, Sketch source, Sketch target) {
  const auto left = evaluator.hashes(source), right = evaluator.hashes(target);
  if (source.outputs.size() != target.outputs.size()) return std::nullopt;
  auto rest = target.outputs;
  for (size_t k = 0; k < source.outputs.size(); ++k) {
    const auto found =
        std::ranges::find_if(rest, [&](int t) { return right.value[t] == left.value[source.outputs[k]]; });
    if (found == rest.end()) return std::nullopt;
    target.outputs[k] = *found;
    rest.erase(found);
  }
  return Candidate{std::move(source), std::move(target)};
}

bool for_each_candidate(const Enumeration& enumeration, int threads, CandidateCounts& counts,
                        const std::function<bool(int, uint64_t, Candidate)>& fn) {
  Producer producer(enumeration, threads, fn);
  auto entries = sorted_entries(enumeration);
  const auto groups = buckets(enumeration, entries, counts);
  const auto of_bucket = [&](int thread, uint64_t b) {
    const auto [begin, end] = groups[b];
    const Sketch cheapest = named(enumeration, entries[begin]);
    for (uint64_t at = begin + 1; at < end; ++at) {
      if (!producer.emit(thread, at, named(enumeration, entries[at]), cheapest)) return false;
    }
    return true;
  };
  if (!producer.run(groups.size(), of_bucket)) return false;
  uint64_t number = entries.size();
  std::vector<Entry>().swap(entries);
  for (int level = 1; level < static_cast<int>(enumeration.levels.size()); ++level) {
    const auto& selves = enumeration.levels[level].selves;
    const auto& identities = enumeration.levels[level].identities;
    const bool all = producer.run(selves.size(), [&](int thread, uint64_t k) {
      const Sketch own = enumeration.sketch(level, selves[k].index);
      return producer.emit(thread, number + k, own,
                           renamed(enumeration.family, own, enumeration.family.permutations[selves[k].permutation]));
    }) && producer.run(identities.size(), [&](int thread, uint64_t k) {
      auto pair = identity_candidate(enumeration, level, identities[k]);
      return producer.emit(thread, number + selves.size() + k, std::move(pair.source), std::move(pair.target));
    });
    if (!all) return false;
    number += selves.size() + identities.size();
    counts.selves += selves.size();
    counts.identities += identities.size();
  }
  return true;
}

}  // namespace rlgo::rulegen
