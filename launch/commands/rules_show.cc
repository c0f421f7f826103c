// rlgo rules show NAME: text, conditions, proof and a picture of both sides.
#include <cstdio>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/draw/rule_picture.h"
#include "core/options/options.h"
#include "core/rules/compiled.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/rules.h"

namespace rlgo::launch {

int run_rules_show(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  bool dot = false, svg = false;
  std::string out;
  Options options;
  options.heading("Show");
  options.texts("rules", files, "rule files; none means the shipped set");
  options.flag("dot", dot, "a Graphviz picture of both sides instead of the text");
  options.flag("svg", svg, "an SVG picture of both sides instead of the text");
  options.text("out", out, "file to write to; none means the terminal");
  const auto names = parse_rules_arguments("show", options, arguments);
  if (!names) return 0;
  if (names->size() != 1) fail_usage("rules show needs the name of one rule (rlgo rules list prints them)");
  if (dot && svg) fail_usage("rules show: --dot or --svg, not both");
  const auto rules = chosen_rules(files)->subset(*names);
  const auto& rule = rules->rule(0);
  std::string text;
  if (dot) {
    text = rule_dot(rule);
  } else if (svg) {
    text = rule_svg(rule);
  } else {
    text = rules::to_text(rule.text);
    text += fmt::format("\nfrom {}:{}; {}\n", rule.text.file, rule.text.line, rules::proof_name(rules->proof(0)));
  }
  if (out.empty()) {
    std::fputs(text.c_str(), stdout);
  } else {
    atomic_write(out, text);
  }
  return 0;
}

}  // namespace rlgo::launch
