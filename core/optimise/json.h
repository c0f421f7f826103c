// Results of core/optimise as JSON (docs/json.md).
#pragma once

#include <vector>

#include "core/optimise/judge.h"
#include "core/optimise/result.h"
#include "core/report/json.h"

namespace rlgo::optimise {

using report::Json;

// {"before_us", "after_us", "ratio", ...}; null where nothing was measured.
Json to_json(const Latency& latency);
// [{"by", "finding", "relative_error", "allowed", "detail", "limits"}].
Json to_json(const std::vector<Check>& checks);
// {"runtime", "threads", "latency", "checks"}.
Json to_json(const Judgement& judgement);
// Members of the document "rlgo.optimise/3", without the envelope.
Json to_json(const Result& result);

}  // namespace rlgo::optimise
