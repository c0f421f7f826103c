// Options, each declared once: the declaration serves the command line, configuration files, --help, the dump in the
// run folder and the checkpoint.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace rlgo::launch {

// Where an option's value came from, weakest first.
enum class Source : uint8_t { fallback, resumed, file, command_line };

struct Option {
  std::string key;    // "ppo.clip"; on the command line --ppo.clip
  std::string group;  // heading in --help
  std::string help;
  std::string fallback;
  std::string bounds;  // "(0, 1]", "analytic | measured", "" for free text
  bool repeatable = false;
  std::function<void(const std::string&)> set;  // throws Error naming what is wrong with the text
  std::function<std::string()> get;
};

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// Binds keys to the caller's variables, which must outlive it.
class Options {
 public:
  void heading(std::string group) { group_ = std::move(group); }
  void integer(const std::string& key, int64_t& variable, int64_t low, int64_t high, const std::string& help);
  // Interval ends: low and high belong to it unless `open_low`.
  void number(const std::string& key, double& variable, double low, double high, const std::string& help,
              bool open_low = false);
  void text(const std::string& key, std::string& variable, const std::string& help);
  void texts(const std::string& key, std::vector<std::string>& variable,
             const std::string& help);  // may be given several times
  void choice(const std::string& key, std::string& variable, const std::vector<std::string>& known,
              const std::string& help);
  void flag(const std::string& key, bool& variable, const std::string& help);  // true | false; bare --key means true

  // Reads "--key value", "--key=value". Throws Error on an unknown option (names the nearest), a missing or bad value.
  std::vector<std::string> parse_command_line(const std::vector<std::string>& arguments);
  // "key = value" lines, [group] sections and # comments. Errors name file and line or key.
  void parse_config(const std::string& text, const std::string& file_name, Source source);

  Source source(const std::string& key) const;
  std::string help() const;
  // All options but the named ones, with their values and help, as a configuration file that parse_config reads back.
  std::string dump(const std::vector<std::string>& without = {}) const;

 private:
  void add(Option option);
  void assign(const std::string& key, const std::string& value, Source source, const std::string& place);
  [[noreturn]] void unknown(const std::string& key, const std::string& place) const;
  const Option* find(const std::string& key) const;

  std::string group_;
  std::vector<Option> options_;
  std::map<std::string, Source> sources_;
};

}  // namespace rlgo::launch
