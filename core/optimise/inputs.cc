#include "core/optimise/inputs.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/optimise/model.h"

namespace rlgo::optimise {

cost::InputValues parse_inputs(std::span<const std::string> texts, const graph::Graph& graph) {
  std::vector<std::string> names;
  for (const auto id : graph.inputs()) names.push_back(graph.node(id).info->name);
  cost::InputValues out;
  std::string name;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    const bool more = equals == std::string::npos && !name.empty();  // options are split at commas
    if (!more && (equals == std::string::npos || equals == 0)) fail("--input {}: not NAME=VALUE", text);
    if (!more) name = text.substr(0, equals);
    if (std::ranges::find(names, name) == names.end()) {
      fail("--input {}: the model has no input '{}'{}; it has: {}", text, name, did_you_mean(name, names),
           names.empty() ? "none" : join(names, ", "));
    }
    for (const std::string& part : split(std::string_view(text).substr(more ? 0 : equals + 1), ',')) {
      const auto value = parse_double(trim(part));
      const auto& input = *std::ranges::find(graph.inputs(), name, [&](auto id) { return graph.node(id).info->name; });
      const bool is_text = graph.type({input, 0}).dtype == ops::DType::other;
      if (!value && !is_text) fail("--input {}: '{}' is no number", text, part);
      out[name].push_back(is_text ? cost::InputValue(std::string(trim(part))) : cost::InputValue(*value));
    }
  }
  return out;
}

std::string to_text(const cost::InputValues& values) {
  std::vector<std::string> parts;
  for (const auto& [name, numbers] : values) {
    std::vector<std::string> texts;
    for (const auto& number : numbers)
      texts.push_back(std::visit([](const auto& held) { return fmt::format("{}", held); }, number));
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

namespace {

// The k-th dimension gets the k-th number, counted round.
Sizes one_each(const Sizes& samples, const std::vector<int64_t>& numbers) {
  Sizes out;
  size_t k = 0;
  for (const auto& [name, sample] : samples) out[name] = numbers[k++ % numbers.size()];
  return out;
}

template <typename Function>
Sizes changed(const Sizes& samples, const Function& size) {
  Sizes out;
  int64_t k = 0;
  for (const auto& [name, sample] : samples) out[name] = size(sample, k++);
  return out;
}

}  // namespace

std::vector<Sizes> check_sizes(const Sizes& samples) {
  if (samples.empty()) return {};
  return {
      one_each(samples, {1}),
      one_each(samples, {17, 29, 23, 37, 31}),
      changed(samples, [](int64_t sample, int64_t k) { return 3 * sample + 2 * k + 1; }),
      one_each(samples, {2, 3, 5, 7, 11}),
      changed(samples, [](int64_t sample, int64_t k) { return sample + k + 1; }),
      one_each(samples, {64, 96, 160, 128}),
      changed(samples, [](int64_t sample, int64_t) { return 2 * sample; }),
      one_each(samples, {1, 331, 197, 263}),
  };
}

Sizes given_sizes(std::span<const std::string> texts, std::span<const onnx_io::OpenDim> places) {
  const auto name_of = [&](const std::string& given) {
    for (const auto& place : places) {
      if (given == fmt::format("{}:{}", place.input, place.axis)) return place.name;
    }
    return given;
  };
  Sizes sizes;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos) continue;
    if (const auto size = parse_int(text.substr(equals + 1))) sizes[name_of(text.substr(0, equals))] = *size;
  }
  return sizes;
}

std::string as_options(const Sizes& sizes) {
  std::vector<std::string> parts;
  for (const auto& [name, size] : sizes)
    parts.push_back(fmt::format("--{} {}={}", size > 1 ? "size" : "dim", name, size));
  return join(parts, " ");
}

std::string to_text(const Sizes& sizes) {
  std::vector<std::string> parts;
  for (const auto& [name, size] : sizes) parts.push_back(fmt::format("{}={}", name, size));
  return join(parts, ", ");
}

}  // namespace rlgo::optimise
