// The options of one command: a declaration (core/base/options.h) serves the command line, configuration files, --help,
// the dump in the run folder and the checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/options.h"

namespace rlgo {

// Where an option's value came from, weakest first.
enum class Source : uint8_t { fallback, resumed, file, command_line };

// One option as a command shows it.
struct OptionRow {
  std::vector<std::string>
      names;  // as it may be written: without the command's group first, then in full, then aliases
  std::string heading, help, bounds;
  std::string fallback;              // the default as text; "": none
  std::vector<std::string> choices;  // its values, where there are few
  bool flag = false;
};

class Options : public OptionSink {  // all options of one command
 public:
  // `group`: of the command's own options. They may go without it on the command line: of `rlgo search` --budget is
  // --search.budget.
  explicit Options(std::string group = "") : group_(std::move(group)) {}
  void heading(const std::string& title) override { heading_ = title; }
  void add(Option option) override;
  // Whatever is declared from here on is listed by --help-all, not by --help.
  void rest() { rest_ = true; }
  // Another name for a declared option on the command line.
  void alias(const std::string& name, const std::string& key);

  // Reads "--key value", "--key=value"; returns the other words. Throws UsageError on an unknown option (names the
  // nearest of this command), a missing or bad value. Names that options had in earlier versions are read as today's;
  // notice() shows.
  std::vector<std::string> parse_command_line(const std::vector<std::string>& arguments);
  // "key = value" lines, [group] sections and # comments. Errors name file and line or key.
  void parse_config(const std::string& text, const std::string& file_name, Source source);
  // One line about the old names that were read since the last call; "" where there were none.
  std::string notice();

  Source source(const std::string& key) const;  // where the value of `key` is from
  // Without `all` those declared before rest(), and a line that shows what is left out.
  std::string help(bool all) const;
  // All, in their order.
  std::vector<OptionRow> table() const;
  // The value of each option as text, by key.
  std::map<std::string, std::string> values() const;
  // {"key": value} of all, in their order: true or false, numbers, lists of texts, texts.
  nlohmann::ordered_json to_json() const;
  // All options but the named ones, with their values and help, as a configuration file that parse_config reads back.
  std::string dump(const std::vector<std::string>& without = {}) const;

 private:
  struct Entry {
    Option option;
    std::string heading;
    std::string fallback;  // the default, as text
    bool rest = false;
  };
  std::vector<std::string> parse(const std::vector<std::string>& arguments);
  const Entry* find(const std::string& key) const;
  // By key, by key without the command's group, by alias, by old name (which is noted, with `place`).
  const Entry* resolve(const std::string& name, const std::string& place);
  std::vector<std::string> with_flags_set(std::vector<std::string> arguments) const;
  void assign(const Entry& entry, const std::string& value, Source source, const std::string& place);
  [[noreturn]] void unknown(const std::string& name, const std::string& place) const;
  std::string short_name(const std::string& key) const;
  std::vector<std::string> names_of(const Entry& entry) const;

  std::string group_, heading_;
  bool rest_ = false;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> aliases_;  // name -> key
  std::map<std::string, Source> sources_;
  std::vector<std::pair<std::string, std::string>> old_names_;  // (place, "--wm.data is now --wm.data")
};

}  // namespace rlgo
