// What is rewritten, by which rules, at which costs: the options that commands share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/cost/runtime.h"
#include "core/optimise/cost_options.h"
#include "core/optimise/prices.h"
#include "core/optimise/verify.h"
#include "core/options/options.h"
#include "launch/model.h"

namespace rlgo::launch {

using optimise::CostKind;
using optimise::CostOptions;
using optimise::kCostKinds;
using optimise::Prices;
using optimise::TargetOptions;

struct Problem {
  ModelOptions model;
  std::vector<std::string> rules;  // see rule_choice.h; empty: the shipped, proved ones
  CostOptions cost;
  std::string device = "auto";  // see exec::resolve_device
  uint64_t seed = 0;            // names all random streams
  optimise::CheckOptions check;

  Problem();  // the target is LibTorch where this build has it, else "auto"
  bool is_external() const { return !cost.target.is_own(); }  // a measurer's runtime
};

// graph, dim, size, rules, cost, target, device, seed.
void declare_problem(Options& options, Problem& problem);
// Details of what declare_problem declares: zoo.*, cost.*, target.python.
void declare_details(OptionSink& sink, Problem& problem);
// What prices graphs. `runtime`: where it runs already; else it is started here, but for a formula in a build without
// training: then there is none.
Prices make_prices(const Problem& problem, std::shared_ptr<cost::Runtime> runtime = nullptr);

}  // namespace rlgo::launch
