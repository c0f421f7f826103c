#include "core/optimise/switches.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::optimise {
namespace {

constexpr double kClear = 0.03;  // what is not further below the usual setting is no better

double after_us(const cost::SwitchTiming& s) { return s.us.back(); }
std::string named(const cost::SwitchTiming& s) {
  return fmt::format("level {}, {}", s.level, counted(s.threads, "thread"));
}

}  // namespace

const cost::SwitchTiming* best_switch(const std::vector<cost::SwitchTiming>& switches) {
  const cost::SwitchTiming *best = nullptr, *usual = nullptr;
  for (const auto& s : switches) {
    if (s.us.empty() || after_us(s) <= 0) continue;
    if (s.usual) usual = &s;
    if (best == nullptr || after_us(s) < after_us(*best)) best = &s;
  }
  if (usual == nullptr) return best;
  return after_us(*best) < (1 - kClear) * after_us(*usual) ? best : usual;
}

std::string switches_summary(const std::vector<cost::SwitchTiming>& switches) {
  const auto* best = best_switch(switches);
  const auto usual = std::ranges::find(switches, true, &cost::SwitchTiming::usual);
  if (best == nullptr || usual == switches.end() || usual->us.empty() || after_us(*usual) <= 0) return "";
  if (best->usual)
    return fmt::format("the runtime's usual switches ({}) are the best of {} here", named(*best), switches.size());
  return fmt::format("faster still with the runtime's {}: {:.2f}x against {}", named(*best),
                     after_us(*usual) / after_us(*best), named(*usual));
}

std::string slower_threads_text(const std::vector<cost::SwitchTiming>& switches) {
  const auto usual = std::ranges::find(switches, true, &cost::SwitchTiming::usual);
  if (usual == switches.end()) return "";
  const auto ratio = [](const cost::SwitchTiming& s) {
    return s.us.size() > 1 && s.us.front() > 0 && s.us.back() > 0 ? s.us.back() / s.us.front() : 0.0;
  };
  const cost::SwitchTiming* worst = nullptr;
  for (const auto& s : switches) {
    if (s.level != usual->level || s.threads == usual->threads || ratio(s) <= 1 + kClear) continue;
    if (worst == nullptr || ratio(s) > ratio(*worst)) worst = &s;
  }
  if (worst == nullptr) return "";
  return fmt::format("but slower with {}: {:.2f} of the original's time; --threads {} chooses for {}",
                     counted(worst->threads, "thread"), ratio(*worst), worst->threads,
                     worst->threads == 1 ? "it" : "them");
}

std::string to_text(const std::vector<cost::SwitchTiming>& switches) {
  std::string out;
  const auto* best = best_switch(switches);
  const auto ms = [](double us) { return us > 0 ? fmt::format("{:.4f} ms", us / 1000) : std::string("not measured"); };
  for (const auto& s : switches) {
    std::string line = named(s) + ": ";
    if (!s.error.empty() || s.us.empty())
      line += "failed: " + s.error;
    else
      line += s.us.size() > 1 ? fmt::format("{} -> {}", ms(s.us.front()), ms(s.us.back())) : ms(s.us.front());
    out += fmt::format("{:<15} {} {}{}\n", out.empty() ? "switches" : "", &s == best ? "*" : " ", line,
                       s.usual ? " (usual)" : "");
  }
  return out;
}

}  // namespace rlgo::optimise
