#include "launch/options.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <sstream>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::launch {
namespace po = boost::program_options;
namespace {

constexpr const char* kFlagBounds = "true | false";

std::string number_text(double value) { return fmt::format("{}", value); }

// " [1..20]"; intervals have brackets of their own.
std::string in_brackets(const std::string& bounds) {
  if (bounds.empty()) return "";
  return bounds[0] == '[' || bounds[0] == '(' ? " " + bounds : fmt::format(" [{}]", bounds);
}

}  // namespace

void Options::add(Option option) {
  RLGO_CHECK(find(option.key) == nullptr);
  option.group = group_;
  option.fallback = option.get();
  options_.push_back(std::move(option));
}

void Options::integer(const std::string& key, int64_t& variable, int64_t low, int64_t high, const std::string& help) {
  const std::string bounds = high == kNoLimit ? fmt::format(">= {}", low) : fmt::format("{}..{}", low, high);
  add({key,
       {},
       help,
       {},
       bounds,
       false,
       [&variable, low, high, bounds](const std::string& text) {
         const auto value = parse_int(text);
         if (!value) fail("'{}' is not a whole number", text);
         if (*value < low || *value > high) fail("{} is out of bounds ({})", *value, bounds);
         variable = *value;
       },
       [&variable] { return fmt::format("{}", variable); }});
}

void Options::number(const std::string& key, double& variable, double low, double high, const std::string& help,
                     bool open_low) {
  const std::string bounds = std::isinf(high) ? fmt::format("{} {}", open_low ? ">" : ">=", low)
                                              : fmt::format("{}{}, {}]", open_low ? "(" : "[", low, high);
  add({key,
       {},
       help,
       {},
       bounds,
       false,
       [&variable, low, high, open_low, bounds](const std::string& text) {
         const auto value = parse_double(text);
         if (!value || !std::isfinite(*value)) fail("'{}' is not a number", text);
         if (*value < low || *value > high || (open_low && *value == low))
           fail("{} is out of bounds ({})", *value, bounds);
         variable = *value;
       },
       [&variable] { return number_text(variable); }});
}

void Options::text(const std::string& key, std::string& variable, const std::string& help) {
  add({key,
       {},
       help,
       {},
       {},
       false,
       [&variable](const std::string& value) { variable = value; },
       [&variable] { return variable; }});
}

void Options::texts(const std::string& key, std::vector<std::string>& variable, const std::string& help) {
  add({key,
       {},
       help,
       {},
       {},
       true,
       [&variable](const std::string& value) {
         variable.clear();
         if (value.empty()) return;
         for (const auto& part : split(value, ',')) variable.push_back(part);
       },
       [&variable] { return join(variable, ","); }});
}

void Options::choice(const std::string& key, std::string& variable, const std::vector<std::string>& known,
                     const std::string& help) {
  add({key,
       {},
       help,
       {},
       join(known, " | "),
       false,
       [&variable, known](const std::string& value) {
         if (std::find(known.begin(), known.end(), value) == known.end())
           fail("'{}' is not one of {}{}", value, join(known, ", "), did_you_mean(value, known));
         variable = value;
       },
       [&variable] { return variable; }});
}

void Options::flag(const std::string& key, bool& variable, const std::string& help) {
  add({key,
       {},
       help,
       {},
       kFlagBounds,
       false,
       [&variable](const std::string& value) {
         if (value == "true" || value == "1" || value == "yes" || value == "on" || value.empty()) {
           variable = true;
         } else if (value == "false" || value == "0" || value == "no" || value == "off") {
           variable = false;
         } else {
           fail("'{}' is neither true nor false", value);
         }
       },
       [&variable] { return variable ? "true" : "false"; }});
}

const Option* Options::find(const std::string& key) const {
  const auto at = std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.key == key; });
  return at == options_.end() ? nullptr : &*at;
}

void Options::unknown(const std::string& key, const std::string& place) const {
  std::vector<std::string> known;
  for (const Option& o : options_) known.push_back(o.key);
  fail("{}: unknown option '{}'{}; rlgo --help lists all", place, key, did_you_mean(key, known));
}

void Options::assign(const std::string& key, const std::string& value, Source source, const std::string& place) {
  const Option* option = find(key);
  if (option == nullptr) unknown(key, place);
  const auto before = sources_.find(key);
  if (before != sources_.end() && before->second > source) return;
  try {
    option->set(value);
  } catch (const Error& e) {
    throw e.in(fmt::format("{}: option '{}'", place, key));
  }
  sources_[key] = source;
}

std::vector<std::string> Options::parse_command_line(const std::vector<std::string>& arguments) {
  po::options_description description;
  for (const Option& o : options_) {
    auto* value = po::value<std::vector<std::string>>()->composing();
    if (o.bounds == kFlagBounds) value->implicit_value({"true"}, "true");
    description.add_options()(o.key.c_str(), value, o.help.c_str());
  }
  std::vector<std::string> positional;
  try {
    namespace style = po::command_line_style;
    const auto parsed = po::command_line_parser(arguments)
                            .options(description)
                            .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
                            .allow_unregistered()
                            .run();
    std::map<std::string, std::vector<std::string>> given;
    std::vector<std::string> order;
    for (const auto& item : parsed.options) {
      if (item.position_key != -1) {
        positional.insert(positional.end(), item.value.begin(), item.value.end());
        continue;
      }
      if (item.unregistered) unknown(item.string_key, "command line");
      auto& values = given[item.string_key];
      if (values.empty()) order.push_back(item.string_key);
      if (item.value.empty()) {
        if (find(item.string_key)->bounds != kFlagBounds)
          fail("command line: option '{}' needs a value", item.string_key);
        values.emplace_back("true");
      }
      values.insert(values.end(), item.value.begin(), item.value.end());
    }
    for (const auto& key : order) {
      const auto& values = given[key];
      if (values.size() > 1 && !find(key)->repeatable)
        fail("command line: option '{}' is given {} times", key, values.size());
      assign(key, join(values, ","), Source::command_line, "command line");
    }
  } catch (const po::error& e) {
    fail("command line: {}", e.what());
  }
  return positional;
}

void Options::parse_config(const std::string& text, const std::string& file_name, Source source) {
  po::options_description none;
  std::istringstream in(text);
  try {
    const auto parsed = po::parse_config_file(in, none, true);
    for (const auto& item : parsed.options) assign(item.string_key, join(item.value, ","), source, file_name);
  } catch (const po::error& e) {
    fail("{}: {} (lines are: key = value, [group], # comment)", file_name, e.what());
  }
}

Source Options::source(const std::string& key) const {
  RLGO_CHECK(find(key) != nullptr);
  const auto at = sources_.find(key);
  return at == sources_.end() ? Source::fallback : at->second;
}

std::string Options::help() const {
  std::string out;
  const std::string* group = nullptr;
  for (const Option& o : options_) {
    if (group == nullptr || *group != o.group) out += fmt::format("\n{}:\n", o.group);
    group = &o.group;
    std::string line = fmt::format("  --{:<28} {}", o.key, o.help);
    line += in_brackets(o.bounds);
    if (!o.fallback.empty()) line += fmt::format(" (default: {})", o.fallback);
    out += line + "\n";
  }
  return out;
}

std::string Options::dump(const std::vector<std::string>& without) const {
  std::string out;
  const std::string* group = nullptr;
  for (const Option& o : options_) {
    if (std::find(without.begin(), without.end(), o.key) != without.end()) continue;
    if (group == nullptr || *group != o.group)
      out += fmt::format("{}# ---- {}\n", group == nullptr ? "" : "\n", o.group);
    group = &o.group;
    out += fmt::format("# {}{}\n{} = {}\n", o.help, in_brackets(o.bounds), o.key, o.get());
  }
  return out;
}

}  // namespace rlgo::launch
