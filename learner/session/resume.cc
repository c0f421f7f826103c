#include "learner/session/resume.h"

#include <array>
#include <map>
#include <utility>

#include "core/base/error.h"

namespace rlgo::learner {
namespace {

int64_t counter_of(const Checkpoint& c, const std::string& name, const std::string& place) {
  const auto at = c.counters.find(name);
  if (at == c.counters.end()) fail("{}: counter '{}' is missing", place, name);
  return at->second;
}

std::array<std::pair<const char*, int64_t LoopState::*>, 6> counters() {
  using S = LoopState;
  return {{{"epoch", &S::epoch},
           {"version", &S::version},
           {"episodes", &S::episodes},
           {"steps", &S::steps},
           {"lost", &S::lost},
           {"dropped", &S::dropped}}};
}

std::string next_episode_name(size_t rank) { return fmt::format("next_episode/{}", rank); }

// What a run cannot change on the way.
struct Fixed {
  const char* key;  // an option, or a group ("env.weight-") where it ends with a hyphen
  const char* what;
};
constexpr Fixed kFixed[] = {
    {"seed", "another seed"},           {"agent", "another agent"},       {"env.reward", "another reward"},
    {"env.weight-", "another reward"},  {"policy.head", "another agent"}, {"policy.candidates", "another agent"},
    {"policy.prices", "another agent"}, {"cost", "another cost model"},   {"cost.profile", "another cost model"},
    {"target", "another cost model"}};

const char* fixed(const std::string& key) {
  for (const auto& [name, what] : kFixed) {
    const std::string text = name;
    if (text.ends_with('-') ? key.starts_with(text) : key == text) return what;
  }
  return nullptr;
}

}  // namespace

void store_state(const LoopState& state, Checkpoint& c) {
  for (const auto& [name, counter] : counters()) c.counters[name] = state.*counter;
  c.counters["ranks"] = static_cast<int64_t>(state.next_episode.size());
  for (size_t rank = 0; rank < state.next_episode.size(); ++rank)
    c.counters[next_episode_name(rank)] = state.next_episode[rank];
  c.numbers["seconds"] = state.seconds;
}

LoopState restored_state(const Checkpoint& c, const std::string& place) {
  LoopState state;
  for (const auto& [name, counter] : counters()) state.*counter = counter_of(c, name, place);
  const auto ranks = counter_of(c, "ranks", place);
  for (int64_t rank = 0; rank < ranks; ++rank)
    state.next_episode.push_back(counter_of(c, next_episode_name(static_cast<size_t>(rank)), place));
  state.seconds = number_of(c, "seconds", place);
  return state;
}

const std::string& text_of(const Checkpoint& c, const std::string& name, const std::string& place) {
  const auto at = c.texts.find(name);
  if (at == c.texts.end()) fail("{}: text '{}' is missing", place, name);
  return at->second;
}

double number_of(const Checkpoint& c, const std::string& name, const std::string& place) {
  const auto at = c.numbers.find(name);
  if (at == c.numbers.end()) fail("{}: number '{}' is missing", place, name);
  return at->second;
}

std::vector<std::string> changed_options(const Checkpoint& c, const std::string& config_text, const std::string& place,
                                         const OptionValues& values_of) {
  const auto before = values_of(text_of(c, "config", place), place);
  std::vector<std::string> changed;
  for (const auto& [key, value] : values_of(config_text, "this run's options")) {
    const auto at = before.find(key);
    if (at == before.end() || at->second == value) continue;
    if (const char* what = fixed(key))
      fail("{}: made with {} ({} = {}, not {}); a run continues only with what it began with: begin a new one", place,
           what, key, at->second, value);
    changed.push_back(fmt::format("{} = {} (was {})", key, value, at->second));
  }
  return changed;
}

}  // namespace rlgo::learner
