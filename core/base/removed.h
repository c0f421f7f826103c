// Names of options, methods and commands that rlgo no longer has, so that old command lines get a reason.
#pragma once

#include <string_view>

namespace rlgo {

struct Removed {
  std::string_view name;      // as people wrote it: "ppo.advantage", "policy-taso", "imitate"
  std::string_view why;       // with the page that has the numbers
  std::string_view revision;  // the last one that has it
  std::string_view kept;      // the value that asks for what rlgo still does; "": none
};

// What is known of a removed name; null where rlgo never had it, or still has.
const Removed* find_removed(std::string_view name);

}  // namespace rlgo
