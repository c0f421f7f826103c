#include "core/base/options.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo {

void OptionSink::add_integer(const std::string& key, const std::string& help, int64_t low, int64_t high,
                             std::function<void(int64_t)> set, std::function<int64_t()> get) {
  const std::string bounds = high == kNoLimit ? fmt::format(">= {}", low) : fmt::format("{}..{}", low, high);
  add({key, help, bounds, false, false,
       [low, high, bounds, set = std::move(set)](const std::string& text) {
         const auto value = parse_int(text);
         if (!value) fail("'{}' is not a whole number", text);
         if (*value < low || *value > high) fail("{} is out of bounds ({})", *value, bounds);
         set(*value);
       },
       [get = std::move(get)] { return fmt::format("{}", get()); }});
}

void OptionSink::number(const std::string& key, double& variable, double low, double high, const std::string& help,
                        bool open_low) {
  const std::string bounds = std::isinf(high) ? fmt::format("{} {}", open_low ? ">" : ">=", low)
                                              : fmt::format("{}{}, {}]", open_low ? "(" : "[", low, high);
  add({key, help, bounds, false, false,
       [&variable, low, high, open_low, bounds](const std::string& text) {
         const double value = finite_number(text);
         if (value < low || value > high || (open_low && value == low)) fail("{} is out of bounds ({})", value, bounds);
         variable = value;
       },
       [&variable] { return fmt::format("{}", variable); }});
}

void OptionSink::text(const std::string& key, std::string& variable, const std::string& help) {
  add({key,
       help,
       {},
       false,
       false,
       [&variable](const std::string& value) { variable = value; },
       [&variable] { return variable; }});
}

void OptionSink::texts(const std::string& key, std::vector<std::string>& variable, const std::string& help) {
  add({key,
       help,
       {},
       false,
       true,
       [&variable](const std::string& value) {
         variable.clear();
         if (!value.empty()) variable = split(value, ',');
       },
       [&variable] { return join(variable, ","); }});
}

void OptionSink::add_choice(const std::string& key, const std::string& help, const std::vector<std::string>& names,
                            std::function<void(size_t)> set, std::function<size_t()> get) {
  add({key, help, join(names, " | "), false, false,
       [names, set = std::move(set)](const std::string& value) {
         const auto at = std::find(names.begin(), names.end(), value);
         if (at == names.end()) fail("'{}' is not one of {}{}", value, join(names, ", "), did_you_mean(value, names));
         set(static_cast<size_t>(at - names.begin()));
       },
       [names, get = std::move(get)] {
         const size_t i = get();
         return i < names.size() ? names[i] : std::string();
       }});
}

void OptionSink::choice(const std::string& key, std::string& variable, const std::vector<std::string>& known,
                        const std::string& help) {
  add_choice(
      key, help, known, [&variable, known](size_t i) { variable = known[i]; },
      [&variable, known] {
        return static_cast<size_t>(std::find(known.begin(), known.end(), variable) - known.begin());
      });
}

void OptionSink::flag(const std::string& key, bool& variable, const std::string& help) {
  add({key, help, "true | false", true, false,
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

void BoundsCheck::add(Option option) {
  try {
    option.set(option.get());
  } catch (const Error& e) {
    throw e.in(fmt::format("option '{}'", option.key));
  }
}

}  // namespace rlgo
