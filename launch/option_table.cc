#include "launch/option_table.h"

#include <cstdlib>
#include <functional>
#include <utility>

#include "core/base/error.h"
#include "launch/commands/command.h"
#include "launch/commands/rules.h"

namespace rlgo::launch {
namespace {

// A default below this user's folders, as it is for everybody who has set nothing.
std::string for_everybody(const std::string& text) {
  for (const auto& [variable, place] : {std::pair("RLGO_CACHE", "~/.cache/rlgo"), std::pair("HOME", "~")}) {
    const char* folder = std::getenv(variable);
    if (folder != nullptr && *folder != '\0' && text.starts_with(std::string(folder) + "/"))
      return place + text.substr(std::string(folder).size());
  }
  return text;
}

// Asks a command for its options: it throws them (command.h).
CommandRow describe(std::string name, std::string help, const std::function<int(Context&)>& run,
                    std::vector<std::string> words) {
  Context context;
  context.arguments = std::move(words);
  context.arguments.emplace_back(kDescribe);
  try {
    run(context);
  } catch (const CommandDescription& found) {
    CommandRow row{std::move(name), std::move(help), found.usage, found.options};
    for (auto& option : row.options) option.fallback = for_everybody(option.fallback);
    return row;
  }
  fail("rlgo {} does not list its options", name);
}

}  // namespace

std::vector<CommandRow> command_table() {
  std::vector<CommandRow> out;
  for (const Command& c : commands()) {
    const std::string name = c.name;
    if (name == "rules") {
      out.push_back({name, c.help, "", {}});
      for (const auto& sub : rules_commands())
        out.push_back(describe(name + " " + sub.name, sub.help, run_rules, {sub.name}));
      continue;
    }
    out.push_back(describe(name, c.help, c.run, {}));
    if (name != "bench") continue;
    for (const auto& sub : bench_parts()) out.push_back(describe(name + " " + sub.name, "", c.run, {sub.name}));
  }
  return out;
}

}  // namespace rlgo::launch
