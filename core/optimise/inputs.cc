#include "core/optimise/inputs.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/optimise/model.h"

namespace rlgo::optimise {

cost::InputValues parse_inputs(std::span<const std::string> texts, const graph::Graph& graph) {
  std::vector<std::string> names;
  for (const auto id : graph.inputs()) names.push_back(graph.node(id).info->name);
  cost::InputValues out;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) fail("--input {}: not NAME=VALUE", text);
    const std::string name = text.substr(0, equals);
    if (std::ranges::find(names, name) == names.end()) {
      fail("--input {}: the model has no input '{}'{}; it has: {}", text, name, did_you_mean(name, names),
           names.empty() ? "none" : join(names, ", "));
    }
    for (const std::string& part : split(std::string_view(text).substr(equals + 1), ',')) {
      const auto value = parse_double(trim(part));
      if (!value) fail("--input {}: '{}' is no number", text, part);
      out[name].push_back(*value);
    }
  }
  return out;
}

std::string to_text(const cost::InputValues& values) {
  std::vector<std::string> parts;
  for (const auto& [name, numbers] : values) {
    std::vector<std::string> texts;
    for (const double number : numbers) texts.push_back(fmt::format("{}", number));
    parts.push_back(fmt::format("{} = {}", name, join(texts, ",")));
  }
  return join(parts, ", ");
}

std::string shapes_text(const graph::Graph& graph) {
  std::vector<std::string> parts;
  for (const auto& [name, shape] : open_input_shapes(graph)) {
    std::vector<std::string> extents;
    for (const int64_t extent : shape) extents.push_back(std::to_string(extent));
    parts.push_back(fmt::format("{} {}", name, extents.empty() ? "(one number)" : join(extents, "x")));
  }
  return join(parts, ", ");
}

}  // namespace rlgo::optimise
