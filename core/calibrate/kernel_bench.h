// Times each operator of models alone, next to what the same bytes and multiplications cost at the machine's own speed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/cost/runtime.h"
#include "core/report/json.h"

namespace rlgo::calibrate {

struct KernelBenchOptions {
  std::vector<std::string> graphs;     // zoo graphs or .onnx files; none: all graphs of the zoo but toys
  std::vector<std::string> operators;  // rlgo's or ONNX's names; none: all
  double seconds = 60;                 // of timing operators
  double slow = 4;                     // operators that take so many times what the machine needs are listed, >= 1
  double spread = 0.1;                 // of reference times, in [0, 1]: with more the machine is too busy to time
  std::string csv;                     // file for a line of each operator and shape; "": none
  std::string page;                    // file for the tables in Markdown; "": none
};
// Options graphs, operators, seconds, slow, spread, csv, page.
void declare(OptionSink& sink, KernelBenchOptions& options);

// One operator with its attributes and shapes, as it stands in the models.
struct KernelTime {
  std::string op;         // rlgo's name; an opaque operator's type in ONNX
  std::string signature;  // measure::group_signature
  double us = 0;          // in the runtime, alone
  double elements = 0;    // of its largest input or output, constants left out
  double bytes = 0;       // of inputs, constants and outputs
  double flops = 0;       // 0 where it does less than one multiplication an element
  double fraction = 0;    // of the models' time, every model counted alike, in [0, 1]
  double machine_us = 0;  // what the machine needs: see MachineSpeed
  double slowdown() const { return us / machine_us; }
};

// What the runtime makes of the machine where its kernels are good.
struct MachineSpeed {
  double least_us = 0.2;                                // of an operator on one element
  std::vector<std::pair<double, double>> gbytes_per_s;  // of Relu by bytes read and written, sizes rising
  double gflops = 0;                                    // of a matrix product, 1024 x 1024 x 1024
  double spread = 0;                                    // largest relative interquartile range of these times
  // least_us + bytes at the speed of Relu on as many + flops at the speed of the product.
  double us(double bytes, double flops) const;
};

// Times what is different in the models, the heaviest first, until `seconds` have passed; states a table of operators,
// one of single slow kernels (kernel_tables.h), and which operators the runtime does not run alone. Members of
// "rlgo.bench-kernels/2". Throws UsageError for an operator that no model has, Error where a graph cannot be read, a
// file cannot be written, or the machine is too busy: the reference times spread by more than `spread`.
report::Json bench_kernels(const KernelBenchOptions& options, cost::Runtime& runtime,
                           const std::function<bool()>& should_stop,
                           const std::function<void(const std::string&)>& print);

}  // namespace rlgo::calibrate
