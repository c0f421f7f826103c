// What operators cost, and under which runtime: options that all commands share.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/options.h"
#include "core/cost/timing.h"
#include "core/optimise/target.h"

namespace rlgo::optimise {

// Costs of operators: timed under the target, or a roofline formula.
enum class CostKind : uint8_t { measured, analytic };
inline constexpr Named<CostKind> kCostKinds[] = {{"measured", CostKind::measured}, {"analytic", CostKind::analytic}};
struct CostOptions {
  CostKind kind = CostKind::measured;
  std::string profile = "cpu";  // of analytic costs: a shipped profile or a file
  std::string table;            // measured costs to start from; "": none
  int64_t explore = 200;        // steps of random rewriting before the training whose operators are timed
  cost::TimingOptions timing;
  TargetOptions target;
};
// Option cost.
void declare(OptionSink& sink, CostOptions& options);
// Options cost.profile, those of timing, target.python.
void declare_details(OptionSink& sink, CostOptions& options);

}  // namespace rlgo::optimise
