// rlgo completion, rlgo man: texts made of all commands' options.
#include <cstdio>

#include "core/base/usage.h"
#include "launch/commands/command.h"
#include "launch/option_table.h"
#include "launch/revision.h"

namespace rlgo::launch {

int run_completion(Context& context) {
  Options options;
  const auto words =
      read_command_line(options, context.arguments,
                        "usage: rlgo completion bash|zsh\n"
                        "A completion script on standard output; bash: source <(rlgo completion bash).\n",
                        1);
  if (!words) return 0;
  if (words->empty() || (words->front() != "bash" && words->front() != "zsh"))
    fail_usage("completion: name a shell, bash or zsh");
  const auto table = command_table();
  std::fputs((words->front() == "bash" ? bash_completion(table) : zsh_completion(table)).c_str(), stdout);
  return 0;
}

int run_man(Context& context) {
  Options options;
  if (!read_command_line(options, context.arguments,
                         "usage: rlgo man\nThe manual page on standard output: rlgo man | man -l -\n"))
    return 0;
  std::fputs(man_page(command_table(), kVersion).c_str(), stdout);
  return 0;
}

}  // namespace rlgo::launch
