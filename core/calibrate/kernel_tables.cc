#include "core/calibrate/kernel_tables.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/base/quantile.h"
#include "core/base/text.h"

namespace rlgo::calibrate {
namespace {

constexpr size_t kListed = 20;

}  // namespace

std::string operator_table(const std::vector<KernelTime>& times) {
  std::map<std::string, std::vector<const KernelTime*>> by_op;
  for (const auto& one : times) by_op[one.op].push_back(&one);
  struct Row {
    double slowdown;
    std::string text;
  };
  std::vector<Row> rows;
  for (const auto& [op, of] : by_op) {
    std::vector<double> slow, per_element, gflops;
    double fraction = 0;
    for (const KernelTime* one : of) {
      slow.push_back(one->slowdown());
      per_element.push_back(1e3 * one->us / one->elements);
      if (one->flops > 0) gflops.push_back(one->flops / one->us / 1e3);
      fraction += one->fraction;
    }
    rows.push_back({median(slow), fmt::format("| {} | {} | {:.1f} % | {:.2f} | {} | {:.1f}, {:.1f} |\n", op, of.size(),
                                              100 * fraction, median(per_element),
                                              gflops.empty() ? "" : fmt::format("{:.0f}", median(gflops)), median(slow),
                                              *std::ranges::max_element(slow))});
  }
  std::ranges::stable_sort(rows, std::greater{}, &Row::slowdown);
  std::string text =
      "| operator | shapes | fraction of time | ns an element | GFLOP/s | times the machine's own: median, slowest |\n"
      "|---|---|---|---|---|---|\n";
  for (const auto& row : rows) text += row.text;
  return text;
}

std::string slow_table(const std::vector<KernelTime>& times, double slow) {
  std::vector<const KernelTime*> listed;
  for (const auto& one : times)
    if (one.slowdown() >= slow) listed.push_back(&one);
  const auto lost = [](const KernelTime* t) { return t->fraction * (1 - 1 / t->slowdown()); };
  std::ranges::stable_sort(listed, std::greater{}, lost);
  const double fraction = std::accumulate(listed.begin(), listed.end(), 0.0,
                                          [](double sum, const KernelTime* t) { return sum + t->fraction; });
  std::string text = fmt::format("{} at least {} times as long as the machine needs: {:.1f} % of the models' time.\n",
                                 listed.size() == 1 ? "1 kernel takes" : fmt::format("{} kernels take", listed.size()),
                                 slow, 100 * fraction);
  if (listed.empty()) return text;
  if (listed.size() > kListed) listed.resize(kListed);
  text += "\n| kernel | us | the machine's own | fraction of time |\n|---|---|---|---|\n";
  for (const KernelTime* one : listed)
    text += fmt::format("| `{}` | {:.1f} | {:.1f} | {:.2f} % |\n", one->signature, one->us, one->machine_us,
                        100 * one->fraction);
  return text;
}

}  // namespace rlgo::calibrate
