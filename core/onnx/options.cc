#include "core/onnx/onnx.h"

namespace rlgo::onnx_io {

void declare(OptionSink& o, ImportLimits& l) {
  o.heading("ONNX files (docs/limits.md)");
  o.integer("onnx.nodes", l.nodes, 1, kNoLimit, "most operators, those inside local functions counted at each call");
  o.integer("onnx.nesting", l.nesting, 1, 10000, "deepest nesting of subgraphs, types and calls of local functions");
  o.integer("onnx.rank", l.rank, 1, 1024, "most dimensions of a tensor");
  o.integer("onnx.elements", l.elements, 1, kNoLimit, "most elements of a tensor that a file holds or declares");
  o.integer("onnx.name-bytes", l.name_bytes, 1, kNoLimit, "longest name, bytes");
  o.flag("onnx.isolate", l.isolate, "try a file in a child process first, which may crash or be ended");
  o.number("onnx.seconds", l.seconds, 0, kInfinity, "processor time of that child, s; more for large files", true);
  o.integer("onnx.memory-bytes", l.memory_bytes, 1 << 20, kNoLimit, "its memory, bytes; more for large files");
}

}  // namespace rlgo::onnx_io
