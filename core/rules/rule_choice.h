// --rules: which rules a run takes, by files, sets, tags and names.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/rules/rules.h"

namespace rlgo::rules {

struct RuleGroup {
  const char* name;
  const char* help;
};
// The shipped sets, configs/rules/NAME.rules. Those of kShippedFiles make up the default.
std::span<const RuleGroup> rule_sets();
std::filesystem::path rule_set_file(const std::string& name);
// The files of the default set (kShippedFiles), in configs/rules. Throws Error that shows where it looked.
std::vector<std::filesystem::path> shipped_rules();

// Words are taken from left to right:
//   FILE              what ends in .rules or is a path: all rules of the file, proved or not
//   SET               base, runtime, ...: the proved rules of a shipped set
//   SET:TAG           those of them with a tag: generated:4d, generated:conv
//   TAG               the proved rules of the default sets with this tag
//   proved, tested, unproved   the rules of the default sets of which that is known
//   NAME              this rule of the default sets
//   -WORD             takes away what SET, TAG, status or NAME states, of all that has been taken
// No words, or `-` in front of the first: starts from the default, the proved rules of kShippedFiles. The order
// is that of the files. Throws Error (with the nearest word) on what is none of these, and where nothing is left.
std::shared_ptr<const RuleSet> choose_rules(const std::vector<std::string>& words);

// Option rules; `by_default`: which ones are meant where no word is given.
void declare(OptionSink& sink, std::vector<std::string>& words, const std::string& by_default);

// As choose_rules(); without words all rules of the default sets, proved or not.
std::shared_ptr<const RuleSet> chosen_or_all(const std::vector<std::string>& words);

// The same words where the default also holds the proved rules of these sets.
std::vector<std::string> with_sets_in_default(const std::vector<std::string>& words,
                                              std::initializer_list<const char*> sets);
// Of `rlgo optimise`: the default also holds what only times of whole models can judge, winograd and respell.
std::shared_ptr<const RuleSet> rules_to_optimise(const std::vector<std::string>& words);

// "proved", "tested", "unproved".
const char* proof_name(Proof proof);
// Whether a rule has this tag or this proof status.
bool in_group(const RuleSet& rules, int rule, const std::string& group);

}  // namespace rlgo::rules
