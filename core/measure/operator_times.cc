#include "core/measure/operator_times.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace rlgo::measure {

using Json = nlohmann::json;

std::vector<cost::OperatorTime> read_operator_times(std::string_view answer) {
  std::vector<cost::OperatorTime> out;
  try {
    const Json reported = Json::parse(answer);
    for (const auto& one : reported.at("operators")) {
      out.push_back({one.at("name").get<std::string>(), one.at("op").get<std::string>(), one.at("us").get<double>()});
      if (!std::isfinite(out.back().us) || out.back().us < 0) fail("answers a time of {} us", out.back().us);
    }
  } catch (const Json::exception& e) {
    fail("answers times of operators that cannot be read ({})", e.what());
  }
  return out;
}

std::vector<cost::OperatorTime> ask_operator_times(Measurer& measurer, const std::filesystem::path& model) {
  if (!measurer.hello().profile || !measurer.usable()) return {};
  try {
    return read_operator_times(measurer.ask(Json{{"do", "profile"}, {"model", measurer.name_of(model)}}.dump()));
  } catch (const Error&) {
    return {};  // of no consequence for the model
  }
}

}  // namespace rlgo::measure
