// What a file holds, for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/cost/runtime.h"
#include "core/graph/graph.h"
#include "core/report/json.h"

namespace rlgo::report {

// A text for people, and the members of the document "rlgo.inspect/2".
struct Description {
  std::string text;
  Json json;
};

// A model of this name (its file's, or a zoo graph's), what `about` states of it, and its graph. `changes`: what the
// import folded, merged or removed, a line each; the text lists them where `show_changes` reports so.
// `times`: its operators under `target`; none: fractions of the time are not known.
Description describe_model(const std::string& name, const std::string& about, const graph::Graph& graph,
                           const std::vector<std::string>& changes, bool show_changes, const std::string& target = {},
                           std::span<const cost::OperatorTime> times = {});

}  // namespace rlgo::report
