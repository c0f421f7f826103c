#include "core/measure/outputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/measure/rounding_floor.h"

namespace rlgo::measure {
namespace {

using Json = nlohmann::json;

Output read_output(const Json& output) {
  Output out;
  out.name = output.at("name").get<std::string>();
  out.dtype = output.at("dtype").get<std::string>();
  out.shape = output.at("shape").get<std::vector<int64_t>>();
  size_t count = 1;
  for (const int64_t extent : out.shape) {
    if (extent < 0) fail("output '{}' has an extent of {}", out.name, extent);
    count *= static_cast<size_t>(extent);
  }
  const std::string bytes = read_file(output.at("file").get<std::string>());
  if (bytes.size() != 8 * count) {
    fail("output '{}': {} bytes in its file, but its shape needs {}", out.name, bytes.size(), 8 * count);
  }
  out.values.resize(count);
  static_assert(std::endian::native == std::endian::little);
  if (count > 0) std::memcpy(out.values.data(), bytes.data(), bytes.size());
  return out;
}

OutputCheck differ(std::string detail) {
  OutputCheck check;
  check.done = true;
  check.detail = std::move(detail);
  return check;
}

// Relative error of one output; nothing where NaN or infinity stand in other places.
std::optional<double> relative_error(std::span<const double> a, std::span<const double> b, double floor) {
  double error = 0, scale = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i])) {
      error = std::max(error, std::abs(a[i] - b[i]));
      scale = std::max(scale, std::abs(a[i]));
    } else if (!(std::isnan(a[i]) && std::isnan(b[i])) && a[i] != b[i]) {
      return std::nullopt;
    }
  }
  error = std::max(error - floor, 0.0);
  return scale > 0 ? error / scale : error;
}

// The larger of each output's errors.
void raise(std::map<std::string, double>& errors, const std::map<std::string, double>& others) {
  for (const auto& [name, error] : others) {
    double& known = errors[name];
    known = std::max(known, error);
  }
}

}  // namespace

std::vector<Outputs> read_outputs(std::string_view answer, size_t models) {
  try {
    const Json results = Json::parse(answer).at("results");
    if (results.size() != models) fail("{} results to {} models", results.size(), models);
    std::vector<Outputs> out(models);
    for (size_t k = 0; k < models; ++k) {
      if (results[k].contains("error")) {
        out[k].error = results[k].at("error").get<std::string>();
        if (out[k].error.empty()) out[k].error = "no reason given";
        continue;
      }
      for (const Json& output : results[k].at("outputs")) out[k].outputs.push_back(read_output(output));
    }
    return out;
  } catch (const Json::exception& e) {
    fail("the measurer answers outputs that cannot be read ({})", e.what());
  }
}

InputValues read_assumed(std::string_view result) {
  try {
    return Json::parse(result).value("assumed", InputValues{});
  } catch (const Json::exception& e) {
    fail("the measurer answers assumed inputs that cannot be read ({})", e.what());
  }
}

OutputCheck compare(const Outputs& a, const Outputs& b, const std::map<std::string, double>& floors) {
  OutputCheck check;
  if (!a.ok() || !b.ok()) {
    check.second_failed = a.ok();
    check.detail = a.ok() ? "the rewritten model: " + b.error : a.error;
    return check;
  }
  if (a.outputs.size() != b.outputs.size()) {
    return differ(fmt::format("{} outputs against {}", a.outputs.size(), b.outputs.size()));
  }
  for (size_t k = 0; k < a.outputs.size(); ++k) {
    const Output &x = a.outputs[k], &y = b.outputs[k];
    if (x.name != y.name) return differ(fmt::format("output {} is '{}' against '{}'", k, x.name, y.name));
    if (x.dtype != y.dtype) return differ(fmt::format("output '{}' is {} against {}", x.name, x.dtype, y.dtype));
    if (x.shape != y.shape) return differ(fmt::format("output '{}' has other shapes", x.name));
    if (x.dtype == "string" && x.values != y.values)
      return differ(fmt::format("output '{}' holds other texts", x.name));
    const auto floor = floors.find(x.name);
    const auto error = relative_error(x.values, y.values, floor == floors.end() ? 0 : floor->second);
    if (!error) return differ(fmt::format("output '{}' has NaN or infinity in other places", x.name));
    check.errors[x.name] = *error;
    if (*error <= check.max_rel_error) continue;
    check.max_rel_error = *error;
    check.detail = x.name;
  }
  check.done = check.alike = true;
  return check;
}

OutputCheck compare_outputs(cost::Runtime& runtime, const cost::RunnableModel& a, const cost::RunnableModel& b,
                            int sets) {
  RLGO_CHECK(sets >= 1);
  OutputCheck worst;
  const auto floors = a.graph == nullptr ? std::map<std::string, double>{} : rounding_floors(*a.graph);
  const cost::RunnableModel both[] = {a, b};
  for (int set = 0; set < sets; ++set) {
    const auto found = runtime.outputs(both, set);
    const OutputCheck check = compare(found[0], found[1], floors);
    if (!check.done || !check.alike) return check;
    raise(worst.errors, check.errors);
    if (set > 0 && check.max_rel_error <= worst.max_rel_error) continue;
    auto errors = std::move(worst.errors);
    worst = check;
    worst.errors = std::move(errors);
  }
  return worst;
}

std::map<std::string, double> own_rounding(cost::Runtime& runtime, const cost::RunnableModel& model, int sets) {
  std::map<std::string, double> worst;
  for (int set = 0; set < sets; ++set) {
    const auto usual = runtime.outputs({&model, 1}, set), plain = runtime.plain_outputs({&model, 1}, set);
    if (usual.empty() || plain.empty()) return {};
    if (const OutputCheck check = compare(usual[0], plain[0]); check.alike) raise(worst, check.errors);
  }
  return worst;
}

}  // namespace rlgo::measure
