#include "core/onnx/trial_read.h"

#include <onnx/defs/schema.h>

#include "core/base/error.h"
#include "core/base/isolate.h"
#include "core/base/text.h"

namespace rlgo::onnx_io {

void try_in_child(const std::function<void()>& work, uint64_t bytes, int64_t nodes, const ImportLimits& limits) {
  onnx::OpSchemaRegistry::Schema("Relu", 13, "");  // makes ONNX's tables here, or each child would
  IsolationLimits child;
  child.cpu_s = limits.seconds + 2e-3 * static_cast<double>(nodes) + 20e-9 * static_cast<double>(bytes);
  child.wall_s = 6 * child.cpu_s;
  child.should_stop = limits.should_stop;
  child.memory_bytes = static_cast<uint64_t>(limits.memory_bytes) + 4 * bytes;
  const auto result = run_isolated(work, child);
  switch (result.end) {
    case IsolationResult::End::good:
      return;
    case IsolationResult::End::refused:
      fail("{}", result.what);
    case IsolationResult::End::crashed:
      fail("the model leads ONNX's checks astray: they end with {}", result.what);
    case IsolationResult::End::stopped:
      fail("stopped while the model was checked");
    case IsolationResult::End::too_long:
      fail("checking the model takes more than {:.0f} s (--onnx.seconds)", child.cpu_s);
    case IsolationResult::End::too_much_memory:
      fail("checking the model takes more than {} of memory (--onnx.memory-bytes)",
           human_bytes(static_cast<double>(child.memory_bytes)));
  }
}

}  // namespace rlgo::onnx_io
