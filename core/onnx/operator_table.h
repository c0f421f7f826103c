// The operators of ai.onnx that rlgo knows, each once: by what it is read, and by what its form in rlgo is written.
#pragma once

#include "core/onnx/converters.h"
#include "core/onnx/writers.h"

namespace rlgo::onnx_io {

using OpWriter = void (*)(Writer& writer, const OutNode& node);

struct OperatorRow {
  std::string_view onnx;     // "" where ONNX has no operator of its own for it
  ops::Op op;                // what it becomes; opaque: nothing of its own
  Converter convert;         // null: not read
  OpWriter write = nullptr;  // null: written under another name
  int since = 1;             // opset with which it came; of plain ones
  int64_t default_axis = 0;  // of plain ones that have an axis
};

// Null where rlgo has no such operator.
const OperatorRow* find_operator(std::string_view onnx);
// The row by which it is written; fails for inputs, weights and opaque operators.
const OperatorRow& row_of(ops::Op op);

// A plain operator has its operands in the same order in ONNX and rlgo, and its attributes under the same names but for
// onnx_name(), of the same kinds and with the same defaults. One that has others is not read.
bool convert_plain(const OnnxNode& node, Maker& maker);
void write_plain(Writer& writer, const OutNode& node);
std::string_view onnx_name(ops::Attr attr);

}  // namespace rlgo::onnx_io
