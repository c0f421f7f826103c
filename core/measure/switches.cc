#include "core/measure/switches.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace rlgo::measure {
namespace {

using Json = nlohmann::json;

}  // namespace

std::vector<cost::SwitchTiming> read_switches(std::string_view answer, size_t models) {
  std::vector<cost::SwitchTiming> out;
  try {
    const Json reported = Json::parse(answer);
    for (const auto& setting : reported.at("settings")) {
      cost::SwitchTiming timing;
      timing.level = setting.at("level").get<std::string>();
      timing.threads = setting.at("threads").get<int>();
      timing.usual = setting.value("usual", false);
      timing.error = setting.value("error", "");
      for (const auto& us : setting.at("us")) timing.us.push_back(us.is_null() ? 0.0 : us.get<double>());
      if (timing.us.size() != models) fail("answers {} times of {} models", timing.us.size(), models);
      for (const double us : timing.us) {
        if (!std::isfinite(us) || us < 0) fail("answers a time of {} us", us);
      }
      out.push_back(std::move(timing));
    }
  } catch (const Json::exception& e) {
    fail("answers switches that cannot be read ({})", e.what());
  }
  return out;
}

std::vector<cost::SwitchTiming> measure_switches(Measurer& measurer, std::span<const std::filesystem::path> models,
                                                 double seconds) {
  if (!measurer.hello().switches || !measurer.usable()) return {};
  Json request{{"do", "switches"}, {"seconds", seconds}, {"models", Json::array()}};
  for (const auto& model : models) request["models"].push_back(measurer.name_of(model));
  try {
    return read_switches(measurer.ask(request.dump()), models.size());
  } catch (const Error&) {
    return {};  // of no consequence for the model
  }
}

}  // namespace rlgo::measure
