#include "learner/session/memory.h"

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

}  // namespace rlgo::learner
