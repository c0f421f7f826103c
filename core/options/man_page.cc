#include "core/base/error.h"
#include "core/base/text.h"
#include "core/options/command_row.h"

namespace rlgo {
namespace {

// As roff shows it: backslashes and hyphens are its own, and so is a dot or quote at the start of a line.
std::string roff(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    begins = c == '\n';
  }
  return out;
}

std::string option_text(const OptionRow& option) {
  std::vector<std::string> names;
  for (const auto& name : option.names) names.push_back(fmt::format("\\fB\\-\\-{}\\fR", roff(name)));
  std::string out =
      fmt::format(".TP\n{}{}\n{}", join(names, ", "), option.flag ? "" : " \\fIVALUE\\fR", roff(option.help));
  if (!option.bounds.empty()) out += fmt::format(" [{}]", roff(option.bounds));
  if (!option.fallback.empty()) out += fmt::format(" (default: {})", roff(option.fallback));
  return out + "\n";
}

std::string command_text(const CommandRow& command) {
  std::string out = fmt::format(".SS rlgo {}\n", roff(command.name));
  if (!command.help.empty()) out += roff(command.help) + ".\n";
  if (!command.usage.empty()) out += fmt::format(".PP\n.nf\n{}.fi\n", roff(command.usage));
  const std::string* heading = nullptr;
  for (const auto& option : command.options) {
    if (heading == nullptr || *heading != option.heading) out += fmt::format(".PP\n\\fI{}\\fR\n", roff(option.heading));
    heading = &option.heading;
    out += option_text(option);
  }
  return out;
}

}  // namespace

std::string man_page(const std::vector<CommandRow>& table, const std::string& version) {
  std::string out = fmt::format(
      ".TH RLGO 1 \"\" \"rlgo {}\" \"User Commands\"\n"
      ".SH NAME\nrlgo \\- make deep\\-learning models run faster and show that they still compute the same\n"
      ".SH SYNOPSIS\n\\fBrlgo\\fR [\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]\n.br\n"
      "\\fBmpirun \\-np\\fR \\fIN\\fR \\fBrlgo\\fR [\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\n"
      "Rewrites the graph of a model with proved rules, chosen by search or by reinforcement learning, and measures "
      "what "
      "came of it. Without a command: \\fBtrain\\fR. Options are \\fB\\-\\-key\\fR \\fIvalue\\fR or "
      "\\fB\\-\\-key\\fR=\\fIvalue\\fR; a flag may stand alone.\n"
      ".SH COMMANDS\n",
      roff(version));
  for (const auto& command : table) out += command_text(command);
  return out +
         ".SH EXIT STATUS\n"
         ".TP\n0\ndone; of optimise: a faster model was found\n"
         ".TP\n1\nbad input, or the work failed\n"
         ".TP\n2\nthe command line is wrong\n"
         ".TP\n3\noptimise: nothing was found\n"
         ".TP\n75\ntrain: the state is stored; \\-\\-resume shall continue\n"
         ".SH FILES\n"
         ".TP\n\\fI~/.cache/rlgo\\fR ($RLGO_CACHE)\nmeasured costs, kept from call to call\n"
         ".TP\n\\fIruns/NAME\\fR\nwhat a training run leaves\n";
}

}  // namespace rlgo
