// Times in the answers of a measurer's child process (the protocol: docs/measurer-protocol.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/cost/runtime.h"

namespace rlgo::measure {

// The child did not keep to the protocol: it crashed, hangs, or talks nonsense.
struct ChildFailure {
  std::string what;
  std::optional<size_t> at;  // the model that it was busy with, where it reported it
};

// Samples of one result, us, in order. Throws ChildFailure where there are none or one is no time.
std::vector<double> samples_of(const nlohmann::json& result);
// One result, or the error that it reports. Throws ChildFailure.
cost::Timing timing_of(const nlohmann::json& result);
// Why a model was not timed.
cost::Timing failed(std::string why);

}  // namespace rlgo::measure
