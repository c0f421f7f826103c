// What a checkpoint states of the run that made it: its place in the run, and the options that a resumed run must
// share.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "learner/checkpoint.h"
#include "learner/loop.h"

namespace rlgo::learner {

// Counters of the run so far, those of ranks that take no part now included: a run may shrink and grow, and no
// episode's name comes twice. `place` names the checkpoint in errors.
void store_state(const LoopState& state, Checkpoint& c);
LoopState restored_state(const Checkpoint& c, const std::string& place);

// The text or number `name`. Throws Error that names `place` where the checkpoint lacks it.
const std::string& text_of(const Checkpoint& c, const std::string& name, const std::string& place);
double number_of(const Checkpoint& c, const std::string& name, const std::string& place);

// The options of a configuration file's text, by key; `place` is what errors name.
using OptionValues =
    std::function<std::map<std::string, std::string>(const std::string& text, const std::string& place)>;
// Compares the options that the checkpoint was made with to those of `config_text` (both as config.cfg has them).
// Throws Error where the reward, the cost model, the seed or the agent is another one: what was learned, and the best
// graph's cost, are in terms of these. Returns the other options that differ, for people: "ppo.clip = 0.1 (was 0.2)".
// `values_of` reads them.
std::vector<std::string> changed_options(const Checkpoint& c, const std::string& config_text, const std::string& place,
                                         const OptionValues& values_of);

}  // namespace rlgo::learner
