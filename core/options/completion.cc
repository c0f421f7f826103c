#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/options/command_row.h"

namespace rlgo {
namespace {

std::string with(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::string quoted(const std::string& text) { return "'" + with(text, "'", "'\\''") + "'"; }

std::string option_words(const CommandRow& command) {
  std::vector<std::string> words;
  for (const auto& option : command.options) {
    for (const auto& name : option.names) words.push_back("--" + name);
  }
  words.insert(words.end(), {"--help", "--help-all"});
  return join(words, " ");
}

// "optimise) body ;;" for each command.
template <typename Body>
std::string cases(const std::vector<CommandRow>& table, const Body& body) {
  std::string out;
  for (const auto& command : table) out += fmt::format("    {}) {} ;;\n", quoted(command.name), body(command));
  return out;
}

// "'train --cost') values='measured analytic' ;;" for each option with a choice.
std::string value_cases(const std::vector<CommandRow>& table) {
  std::string out;
  for (const auto& command : table) {
    for (const auto& option : command.options) {
      if (option.choices.empty()) continue;
      for (const auto& name : option.names)
        out += fmt::format("    {}) values={} ;;\n", quoted(command.name + " --" + name),
                           quoted(join(option.choices, " ")));
    }
  }
  return out;
}

// Sets `command` to the longest known command that the words of the line begin with, train where there is none.
std::string find_command_text(const std::vector<CommandRow>& table, const std::string& first,
                              const std::string& second) {
  std::vector<std::string> two;
  for (const auto& command : table) {
    if (command.name.find(' ') != std::string::npos) two.push_back(quoted(command.name));
  }
  return fmt::format(
      "  local command={0}\n"
      "  [[ $command == optimize ]] && command=optimise\n"
      "  [[ -z $command || $command == -* ]] && command=train\n"
      "  case \"$command {1}\" in\n    {2}) command=\"$command {1}\" ;;\n  esac\n",
      first, second, join(two, "|"));
}

// Words that may follow "rlgo", or "rlgo COMMAND".
std::string subcommands(const std::vector<CommandRow>& table, const std::string& of) {
  std::vector<std::string> words;
  for (const auto& command : table) {
    const size_t space = command.name.find(' ');
    if (of.empty() && space == std::string::npos) words.push_back(command.name);
    if (!of.empty() && command.name.starts_with(of + " ")) words.push_back(command.name.substr(space + 1));
  }
  return join(words, " ");
}

}  // namespace

std::string bash_completion(const std::vector<CommandRow>& table) {
  return "# bash completion for rlgo; written by rlgo completion bash\n"
         "_rlgo() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options= values= words=\n" +
         find_command_text(table, "${COMP_WORDS[1]:-}", "${COMP_WORDS[2]:-}") + "  case \"$command $prev\" in\n" +
         value_cases(table) +
         "  esac\n"
         "  if [[ -n $values ]]; then COMPREPLY=($(compgen -W \"$values\" -- \"$cur\")); return; fi\n"
         "  case $command in\n" +
         cases(table, [](const CommandRow& c) { return "options=" + quoted(option_words(c)); }) +
         "  esac\n"
         "  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")); return; fi\n"
         "  if [[ $COMP_CWORD == 1 ]]; then words=" +
         quoted(subcommands(table, "") + " help") +
         "; fi\n  if [[ $COMP_CWORD == 2 ]]; then\n    case $prev in\n      rules) words=" +
         quoted(subcommands(table, "rules")) + " ;;\n      bench) words=" + quoted(subcommands(table, "bench")) +
         " ;;\n      completion) words='bash zsh' ;;\n    esac\n  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o default -F _rlgo rlgo\n";
}

std::string zsh_completion(const std::vector<CommandRow>& table) {
  const auto described = [](const CommandRow& command) {
    std::string out = "options=(";
    for (const auto& option : command.options) {
      for (const auto& name : option.names) out += quoted(with("--" + name, ":", "\\:") + ":" + option.help) + " ";
    }
    return out + "'--help:the options that most people need' '--help-all:every option')";
  };
  std::string first = "'help:the commands' ";
  for (const auto& command : table) {
    if (command.name.find(' ') == std::string::npos) first += quoted(command.name + ":" + command.help) + " ";
  }
  return "#compdef rlgo\n# zsh completion for rlgo; written by rlgo completion zsh\n"
         "_rlgo() {\n"
         "  local cur=$words[CURRENT] prev=$words[CURRENT-1] values=\n  local -a options found\n" +
         find_command_text(table, "${words[2]:-}", "${words[3]:-}") + "  case \"$command $prev\" in\n" +
         value_cases(table) +
         "  esac\n"
         "  if [[ -n $values ]]; then compadd -- ${=values}; return; fi\n"
         "  case $command in\n" +
         cases(table, described) +
         "  esac\n"
         "  if [[ $cur == -* ]]; then _describe -o option options; return; fi\n"
         "  if (( CURRENT == 2 )); then\n    found=(" +
         first +
         ")\n    _describe command found\n    return\n  fi\n"
         "  if (( CURRENT == 3 )); then\n    case $prev in\n      rules) compadd -- " +
         subcommands(table, "rules") + "; return ;;\n      bench) compadd -- " + subcommands(table, "bench") +
         "; return ;;\n      completion) compadd -- bash zsh; return ;;\n    esac\n  fi\n"
         "  _files\n"
         "}\n"
         "_rlgo \"$@\"\n";
}

}  // namespace rlgo
