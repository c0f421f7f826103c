// How fast rules are made, proved, matched and tested on this machine: tables in Markdown, and their numbers by name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/options.h"
#include "core/graph/graph.h"

namespace rlgo::rulegen {

// The numbers of a line, by name.
using BenchRow = std::vector<std::pair<std::string, std::variant<int64_t, double, std::string>>>;

struct BenchOptions {
  std::vector<std::string> families{"2d", "4d"};  // sets of operators to generate from
  std::vector<std::string> sets{"base", "runtime", "motion", "winograd", "respell", "generated"};  // or rule files
  int max_ops = 3;                                // of each side of generated rules
  int threads = 2;                                // of the generation; everything else runs on one
  int64_t most = 0;                               // rules of each set to prove at most; 0: all
  int64_t rewrites = 200;                         // random rewrites of each graph
  int64_t applications = 20'000;                  // of the soundness test
  std::function<bool()> stop;                     // asked often
  std::function<void(const std::string&)> show;   // how far it is; "": nothing any more
  std::function<void(const std::string&)> print;  // a line of the result
};

// Options families, sets, max-ops, threads, most, rewrites, applications.
void declare(OptionSink& sink, BenchOptions& options);

// How fast substitutions are enumerated, of each family; a row for each.
std::vector<BenchRow> bench_generate(const BenchOptions& options);
std::vector<BenchRow> bench_prove(const BenchOptions& options);  // of each set
// All matches from scratch, and kept up along random rewrites. `graphs`: with their names.
std::vector<BenchRow> bench_match(const std::vector<std::pair<std::string, graph::Graph>>& graphs,
                                  const BenchOptions& options);
std::vector<BenchRow> bench_soundness(const BenchOptions& options);

}  // namespace rlgo::rulegen
