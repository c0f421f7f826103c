// For tests/interop/open_dims.py.
#pragma once

namespace rlgo::onnx_io::test {

// FOLDER SEED FIRST COUNT RULES...: applies rule number FIRST, FIRST + 1, ... (COUNT of them, round and round) of the
// rule files at a random place of a random model with open dimensions, and writes each model before and after to
// FOLDER. Prints "pair RULE NUMBER NAME=SAMPLE ... EXTENT>=BOUND ..." for each (what sizes must
// fulfil for the windows of the model before to fit), "none RULE" where chance found no place.
int write_open_pairs(int argc, char** argv);

}  // namespace rlgo::onnx_io::test
