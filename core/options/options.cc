#include "core/options/options.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/error.h"
#include "core/base/removed.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace rlgo {
namespace po = boost::program_options;
namespace {

// Names that options had before, and have in the folders of earlier runs.
constexpr std::pair<const char*, const char*> kOldNames[] = {
    {"encoder", "wm.encoder"},
    {"encoder-from", "wm.encoder-from"},
    {"reward-model", "wm.reward-model"},
    {"wm-data", "wm.data"},
    {"wm-store", "wm.store"},
    {"wm.share", "wm.random-fraction"},
    {"hybrid.real-share", "hybrid.real-fraction"},
    {"temperature", "dream.temperature"},
    {"dream-start", "dream.start"},
    {"dream-actors", "dream.actors"},
    {"dream-penalty", "dream.penalty"},
    {"costs", "cost.table"},
    {"prices", "cost.folder"},
    {"rounds", "check.repeats"},
    {"outcome.polish", "train.polish"},
    {"outcome.repeats", "check.repeats"},
    {"outcome.seeds", "check.seeds"},
    {"outcome.tolerance", "check.tolerance"},
    {"env.max-locations", "search.max-locations"},  // of rlgo search, which has no environment
};
constexpr std::string_view kFlagValues[] = {"true", "false", "yes", "no", "on", "off", "1", "0"};
constexpr size_t kOldNamesListed = 3;  // of one place

// " [1..20]"; intervals have brackets of their own.
std::string in_brackets(const std::string& bounds) {
  if (bounds.empty()) return "";
  return bounds[0] == '[' || bounds[0] == '(' ? " " + bounds : fmt::format(" [{}]", bounds);
}

}  // namespace

void Options::add(Option option) {
  RLGO_CHECK(find(option.key) == nullptr);
  std::string fallback = option.get();
  entries_.push_back({std::move(option), heading_, std::move(fallback), rest_});
}

void Options::alias(const std::string& name, const std::string& key) {
  RLGO_CHECK(find(key) != nullptr && find(name) == nullptr);
  aliases_[name] = key;
}

const Options::Entry* Options::find(const std::string& key) const {
  const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.option.key == key; });
  return at == entries_.end() ? nullptr : &*at;
}

// "budget" of "search.budget", where search is the command.
std::string Options::short_name(const std::string& key) const {
  return !group_.empty() && key.starts_with(group_ + ".") ? key.substr(group_.size() + 1) : key;
}

const Options::Entry* Options::resolve(const std::string& name, const std::string& place) {
  if (const Entry* entry = find(name)) return entry;
  if (const auto alias = aliases_.find(name); alias != aliases_.end()) return find(alias->second);
  if (const Entry* entry = find(group_ + "." + name)) return entry;
  for (const auto& [old_name, key] : kOldNames) {
    const Entry* entry = name == old_name ? find(key) : nullptr;
    if (entry == nullptr) continue;
    old_names_.emplace_back(place, fmt::format("{} is now {}", name, key));
    return entry;
  }
  return nullptr;
}

std::vector<std::string> Options::names_of(const Entry& entry) const {
  const std::string& key = entry.option.key;
  std::vector<std::string> names = {key};
  if (const auto name = short_name(key); name != key && find(name) == nullptr) names.push_back(name);
  for (const auto& [alias, of] : aliases_) {
    if (of == key) names.push_back(alias);
  }
  for (const auto& [old_name, of] : kOldNames) {
    const std::string name = old_name;
    if (of == key && find(name) == nullptr && std::find(names.begin(), names.end(), name) == names.end() &&
        !aliases_.contains(name) && find(group_ + "." + name) == nullptr)
      names.push_back(name);
  }
  return names;
}

void Options::unknown(const std::string& name, const std::string& place) const {
  std::vector<std::string> known;
  for (const Entry& e : entries_) {
    known.push_back(e.option.key);
    if (const auto brief = short_name(e.option.key); brief != e.option.key) known.push_back(brief);
  }
  for (const auto& [alias, key] : aliases_) known.push_back(alias);
  fail("{}: unknown option '{}'{}; --help-all lists all", place, name, did_you_mean(name, known));
}

void Options::assign(const Entry& entry, const std::string& value, Source source, const std::string& place) {
  const std::string& key = entry.option.key;
  const auto before = sources_.find(key);
  if (before != sources_.end() && before->second > source) return;
  try {
    entry.option.set(value);
  } catch (const Error& e) {
    throw e.in(fmt::format("{}: option '{}'", place, key));
  }
  sources_[key] = source;
}

// "--fast FILE" as "--fast=true FILE": the word behind a flag is its value only where it can be one.
std::vector<std::string> Options::with_flags_set(std::vector<std::string> arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("--") || arguments[i].find('=') != std::string::npos) continue;
    const bool flag = std::ranges::any_of(entries_, [&](const Entry& e) {
      return e.option.flag && std::ranges::count(names_of(e), arguments[i].substr(2)) > 0;
    });
    const bool value = i + 1 < arguments.size() && std::ranges::count(kFlagValues, arguments[i + 1]) > 0;
    if (flag && !value) arguments[i] += "=true";
  }
  return arguments;
}

std::vector<std::string> Options::parse_command_line(const std::vector<std::string>& arguments) {
  return as_usage([&] { return parse(arguments); });
}

std::vector<std::string> Options::parse(const std::vector<std::string>& arguments) {
  const std::string place = "command line";
  po::options_description description;
  for (const Entry& e : entries_) {
    for (const auto& name : names_of(e)) {
      description.add_options()(name.c_str(), po::value<std::vector<std::string>>()->composing(), "");
    }
  }
  std::vector<std::string> words;
  std::map<const Entry*, std::vector<std::string>> given;
  std::vector<const Entry*> order;
  try {
    namespace style = po::command_line_style;
    const auto parsed = po::command_line_parser(with_flags_set(arguments))
                            .options(description)
                            .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
                            .allow_unregistered()
                            .run();
    for (const auto& item : parsed.options) {
      if (item.position_key != -1) {
        words.insert(words.end(), item.value.begin(), item.value.end());
        continue;
      }
      const Entry* entry = item.unregistered ? nullptr : resolve(item.string_key, place);
      if (entry == nullptr) unknown(item.string_key, place);
      auto& values = given[entry];
      if (values.empty()) order.push_back(entry);
      if (item.value.empty()) fail("{}: option '{}' needs a value", place, item.string_key);
      values.insert(values.end(), item.value.begin(), item.value.end());
    }
  } catch (const po::error& e) {
    fail("{}: {}", place, e.what());
  }
  for (const Entry* entry : order) {
    const auto& values = given[entry];
    if (values.size() > 1 && !entry->option.repeatable)
      fail("{}: option '{}' is given {} times", place, entry->option.key, values.size());
    assign(*entry, join(values, ","), Source::command_line, place);
  }
  return words;
}

void Options::parse_config(const std::string& text, const std::string& file_name, Source source) {
  po::options_description none;
  std::istringstream in(text);
  try {
    const auto parsed = po::parse_config_file(in, none, true);
    for (const auto& item : parsed.options) {
      const Entry* entry = resolve(item.string_key, file_name);
      const Removed* gone = entry == nullptr ? find_removed(item.string_key) : nullptr;
      if (gone != nullptr && !gone->kept.empty() && join(item.value, ",") == gone->kept) continue;
      if (entry == nullptr) unknown(item.string_key, file_name);
      assign(*entry, join(item.value, ","), source, file_name);
    }
  } catch (const po::error& e) {
    fail("{}: {} (lines are: key = value, [group], # comment)", file_name, e.what());
  }
}

std::string Options::notice() {
  std::map<std::string, std::vector<std::string>> by_place;
  for (const auto& [place, renamed] : std::exchange(old_names_, {})) by_place[place].push_back(renamed);
  std::vector<std::string> parts;
  for (auto& [place, renamed] : by_place) {
    const size_t more = renamed.size() > kOldNamesListed ? renamed.size() - kOldNamesListed : 0;
    renamed.resize(renamed.size() - more);
    parts.push_back(
        fmt::format("{}: {}{}", place, join(renamed, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
  }
  return parts.empty() ? "" : fmt::format("old names of options are read as their new ones: {}", join(parts, "; "));
}

Source Options::source(const std::string& key) const {
  RLGO_CHECK(find(key) != nullptr);
  const auto at = sources_.find(key);
  return at == sources_.end() ? Source::fallback : at->second;
}

std::vector<OptionRow> Options::table() const {
  std::vector<OptionRow> out;
  for (const Entry& e : entries_) {
    OptionRow row{{short_name(e.option.key)}, e.heading, e.option.help, e.option.bounds, e.fallback, {}, e.option.flag};
    if (row.names[0] != e.option.key) row.names.push_back(e.option.key);
    for (const auto& [alias, key] : aliases_) {
      if (key == e.option.key) row.names.push_back(alias);
    }
    if (e.option.bounds.find(" | ") != std::string::npos) {
      for (const auto& value : split(e.option.bounds, '|')) row.choices.emplace_back(trim(value));
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::string Options::help(bool all) const {
  std::string out;
  const std::string* heading = nullptr;
  std::vector<std::string> left_out;
  int more = 0;
  for (const Entry& e : entries_) {
    if (e.rest && !all) {
      ++more;
      if (left_out.empty() || left_out.back() != e.heading) left_out.push_back(e.heading);
      continue;
    }
    if (heading == nullptr || *heading != e.heading) out += fmt::format("\n{}:\n", e.heading);
    heading = &e.heading;
    std::string names = short_name(e.option.key);
    for (const auto& [alias, key] : aliases_) {
      if (key == e.option.key) names = fmt::format("{}, --{}", alias, key);
    }
    out += fmt::format("  --{:<28} {}{}", names, e.option.help, in_brackets(e.option.bounds));
    if (!e.fallback.empty()) out += fmt::format(" (default: {})", e.fallback);
    out += "\n";
  }
  if (more > 0) out += fmt::format("\n{} more with --help-all: {}\n", more, join(left_out, ", "));
  return out;
}

std::map<std::string, std::string> Options::values() const {
  std::map<std::string, std::string> values;
  for (const Entry& e : entries_) values.emplace(e.option.key, e.option.get());
  return values;
}

nlohmann::ordered_json Options::to_json() const {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const Entry& e : entries_) {
    const std::string text = e.option.get();
    auto& value = out[e.option.key];
    const bool bounded = !e.option.bounds.empty() && e.option.bounds.find_first_of("0123456789") != std::string::npos &&
                         e.option.bounds.find('|') == std::string::npos;
    const auto whole = bounded ? parse_int(text) : std::nullopt;
    const auto number = bounded ? parse_double(text) : std::nullopt;
    if (e.option.flag)
      value = text == "true";
    else if (e.option.repeatable)
      value = text.empty() ? std::vector<std::string>() : split(text, ',');
    else if (whole)
      value = *whole;
    else if (number)
      value = *number;
    else
      value = text;
  }
  return out;
}

std::string Options::dump(const std::vector<std::string>& without) const {
  std::string out;
  const std::string* heading = nullptr;
  for (const Entry& e : entries_) {
    const Option& o = e.option;
    if (std::find(without.begin(), without.end(), o.key) != without.end()) continue;
    if (heading == nullptr || *heading != e.heading)
      out += fmt::format("{}# ---- {}\n", heading == nullptr ? "" : "\n", e.heading);
    heading = &e.heading;
    out += fmt::format("# {}{}\n{} = {}\n", o.help, in_brackets(o.bounds), o.key, o.get());
  }
  return out;
}

}  // namespace rlgo
