#include "learner/session/memory.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "core/base/text.h"
#include "core/exec/device_tools.h"

namespace rlgo::learner {

MemoryPeak memory_peak(const exec::Device& device) {
  MemoryPeak peak;
  peak.device_bytes = static_cast<double>(exec::device_peak_bytes(device));
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmHWM:")) continue;
    const auto digits = trim(std::string_view(line).substr(6));
    if (const auto kilobytes = parse_int(trim(digits.substr(0, digits.find(' ')))))
      peak.host_bytes = static_cast<double>(*kilobytes) * 1024;
  }
  return peak;
}

MemoryPeak memory_peak(const exec::Device& device, const LeaderAlgorithm* leader) {
  MemoryPeak peak = memory_peak(device);
  if (leader == nullptr) return peak;
  for (const auto& report : leader->reports()) {
    peak.host_bytes = std::max(peak.host_bytes, report.host_bytes);
    peak.device_bytes = std::max(peak.device_bytes, report.device_bytes);
  }
  return peak;
}

}  // namespace rlgo::learner
