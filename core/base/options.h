// Options declared next to what they configure. A module gives each of its option structs a function
//   void declare(OptionSink& sink, EnvOptions& options);
// that names every option once: key, variable (its value at that time is the default), bounds, help. Whoever reads a
// command line, writes a configuration file or checks bounds is an OptionSink; so modules need to know neither.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace rlgo {

// Bounds of options that have no upper one.
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One option, bound to a variable of the caller's that must outlive it.
struct Option {
  std::string key;          // "env.max-steps": group, dot, name, hyphens inside names; the few main ones have no group
  std::string help;         // what it does, units included; neither default nor bounds
  std::string bounds;       // "1..20", ">= 0", "(0, 1]", "analytic | measured"; "" for free text
  bool flag = false;        // true | false; on a command line the key alone means true
  bool repeatable = false;  // several values, separated by commas
  std::function<void(const std::string&)>
      set;                           // throws Error that states what is wrong with the text; changes nothing then
  std::function<std::string()> get;  // the value, as text that set() takes
};

// A value of an enum as options, files and people call it.
template <typename Enum>
struct Named {
  const char* name;
  Enum value;
};

// The name of `value` in a table; "" where the table lacks it.
template <typename Enum, size_t N>
const char* name_of(Enum value, const Named<Enum> (&table)[N]) {
  for (const auto& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return "";
}

class OptionSink {  // takes declarations: command line, help, check of bounds
 public:
  virtual ~OptionSink() = default;
  // Title of the options that follow.
  virtual void heading(const std::string& title) = 0;
  virtual void add(Option option) = 0;

  // A whole number in [low, high]; kNoLimit: as high as the type goes.
  template <std::integral T>
  void integer(const std::string& key, T& variable, int64_t low, int64_t high, const std::string& help) {
    if (std::in_range<T>(high)) return add_integer(key, help, low, high, assign(variable), read(variable));
    add_integer(key, help, low, static_cast<int64_t>(std::numeric_limits<T>::max()), assign(variable), read(variable));
  }
  // A finite number in [low, high], or in (low, high] where `open_low`; kInfinity: no upper bound.
  void number(const std::string& key, double& variable, double low, double high, const std::string& help,
              bool open_low = false);
  void text(const std::string& key, std::string& variable, const std::string& help);
  // Several texts without commas.
  void texts(const std::string& key, std::vector<std::string>& variable, const std::string& help);
  void choice(const std::string& key, std::string& variable, const std::vector<std::string>& known,
              const std::string& help);
  // An enum by the names of a table.
  template <typename Enum, size_t N>
  void choice(const std::string& key, Enum& variable, const Named<Enum> (&table)[N], const std::string& help) {
    std::vector<std::string> names;
    std::vector<Enum> values;
    for (const auto& entry : table) {
      names.emplace_back(entry.name);
      values.push_back(entry.value);
    }
    add_choice(
        key, help, names, [&variable, values](size_t i) { variable = values[i]; },
        [&variable, values]() -> size_t {
          size_t i = 0;
          while (i < values.size() && values[i] != variable) ++i;
          return i;
        });
  }
  void flag(const std::string& key, bool& variable, const std::string& help);

 private:
  template <std::integral T>
  static std::function<void(int64_t)> assign(T& variable) {
    return [&variable](int64_t value) { variable = static_cast<T>(value); };
  }
  template <std::integral T>
  static std::function<int64_t()> read(const T& variable) {
    return [&variable] { return static_cast<int64_t>(variable); };
  }
  void add_integer(const std::string& key, const std::string& help, int64_t low, int64_t high,
                   std::function<void(int64_t)> set, std::function<int64_t()> get);
  // set() and get() speak of places in `names`.
  void add_choice(const std::string& key, const std::string& help, const std::vector<std::string>& names,
                  std::function<void(size_t)> set, std::function<size_t()> get);
};

// Throws Error naming the first declared option of `options` whose value is out of its bounds: what a module does with
// options that come from code rather than from a command line.
class BoundsCheck : public OptionSink {
 public:
  void heading(const std::string&) override {}
  void add(Option option) override;
};
template <typename Struct>  // of all options that `declare` names
void check_bounds(Struct options) {
  BoundsCheck sink;
  declare(sink, options);
}

}  // namespace rlgo
