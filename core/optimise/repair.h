// What to do with rewrites that a check refuses: leave out those that spoil it, and show the wrong ones.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/rules/script.h"

namespace rlgo::optimise {

// True where a check has nothing against these rewrites.
using Accepts = std::function<bool(const rules::Replayed&)>;

struct Repaired {
  rules::Replayed rewritten;
  std::vector<size_t> left_out;  // steps of the trace
};

// The trace without what spoils it. The first step with which it is refused is found by bisection over its beginnings
// and left out; after the second step of a rule all further ones of it go, too; and so on. Nothing where `tries` checks
// were not enough, `should_stop` returned true, or nothing would be left.
std::optional<Repaired> without_refused(const rules::Script& replay, const Accepts& accepts, int tries,
                                        const std::function<bool()>& should_stop);

// A few rewrites that are refused, none of which can be left out (1-minimal, as in delta debugging: Zeller and
// Hildebrandt 2002). `replay` as a whole is refused. More of them where `tries` or `should_stop` end it.
std::vector<size_t> minimal_refused(const rules::Script& replay, const Accepts& accepts, int tries,
                                    const std::function<bool()>& should_stop);

// Writes what shows a wrong rewrite to `folder`: trace.txt (rules, places, `why`), the operators that the last of
// `steps` matches as a model of their own (before.onnx), and the same rewritten (after.onnx). Throws Error where the
// folder cannot be written.
void write_counterexample(const rules::Script& replay, const std::vector<size_t>& steps, const std::string& why,
                          const std::filesystem::path& folder);

}  // namespace rlgo::optimise
