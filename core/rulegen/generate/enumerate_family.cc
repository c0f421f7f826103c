#include "core/rulegen/generate/enumerate_family.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rulegen/generate/enumerate_sets.h"

namespace rlgo::rulegen {
namespace {

using ops::Attr;
using ops::Attrs;
using ops::Ints;
using ops::Op;

void add_permutations(Family& family) {
  std::vector<uint8_t> order(family.variables.size());
  for (size_t v = 0; v < order.size(); ++v) order[v] = static_cast<uint8_t>(v);
  const auto alike = [&](size_t a, size_t b) {
    const auto &left = family.variables[a], &right = family.variables[b];
    return a == b || (left.constant < 0 && right.constant < 0 && left.role == right.role && left.shape == right.shape);
  };
  do {
    bool fits = true;
    for (size_t v = 0; v < order.size() && fits; ++v) fits = alike(v, order[v]);
    if (fits) family.permutations.push_back(order);
  } while (std::ranges::next_permutation(order).found);
}

}  // namespace

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const auto& known : named_families()) names.emplace_back(known.name);
  return names;
}

Tiny constant_element(int constant, const TinyShape& shape, int index) {
  if (constant == kMean) {
    int count = 1;
    for (int d = 1; d < shape.rank; ++d) count *= shape.dim[d];
    return {prime_inverse(prime_of(count)), 1.0 / count};
  }
  if (constant != kIdentity) return {static_cast<uint64_t>(constant), static_cast<double>(constant)};
  int inner = 1;
  for (int d = 2; d < shape.rank; ++d) inner *= shape.dim[d];
  const bool one = index / inner / shape.dim[1] == index / inner % shape.dim[1];
  return {one ? 1u : 0u, one ? 1.0 : 0.0};
}

Family make_family(std::string_view text) {
  const auto colon = text.find(':');
  const std::string name(text.substr(0, colon));
  Family family;
  const auto found = std::ranges::find(named_families(), name, &NamedFamily::name);
  if (found == named_families().end()) {
    const auto known = family_names();
    fail("unknown operator set '{}'{}; known: {}", name, did_you_mean(name, known), join(known, ", "));
  }
  family = found->make();
  if (colon != std::string_view::npos) {
    std::vector<std::string> known, wanted;
    for (const auto& config : family.configs) known.emplace_back(ops::name(config.op));
    for (std::string_view rest = text.substr(colon + 1); !rest.empty();) {
      const auto comma = std::min(rest.find(','), rest.size());
      wanted.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      if (std::ranges::find(known, wanted.back()) == known.end()) {
        fail("operator set '{}' has no operator '{}'{}", name, wanted.back(), did_you_mean(wanted.back(), known));
      }
    }
    std::erase_if(family.configs, [&](const OpConfig& config) {
      return std::ranges::find(wanted, ops::name(config.op)) == wanted.end();
    });
    if (family.configs.empty()) fail("operator set '{}' names no operator", text);
  }
  family.name = std::string(text);
  add_permutations(family);
  return family;
}

namespace {

// Operands of one rank have equal extents, but for the last axis of a transformer, that a reduction may have made 1:
// what broadcasts by chance (parts of a split) is noise.
bool may_broadcast(const Family& family, const ops::Shape& a, const ops::Shape& b) {
  if (a.size() != b.size()) return true;
  const bool reduced = family.name.starts_with("transformer");
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d] != b[d] && !(reduced && d + 1 == a.size())) return false;
  }
  return true;
}

}  // namespace

std::optional<Typed> type_step(const Family& family, const OpConfig& config, std::span<const ops::Shape> operands) {
  Attrs attrs = config.attrs;
  const auto& first = operands[0];
  const int axis = config.axis < 0 ? static_cast<int>(first.size()) + config.axis : config.axis;
  switch (config.op) {
    case Op::conv2d:
      if (operands[1].size() != 4 || operands[1][2] != config.kernel[0] || operands[1][3] != config.kernel[1]) {
        return std::nullopt;
      }
      break;
    case Op::add:
    case Op::mul:
      if (!may_broadcast(family, operands[0], operands[1])) return std::nullopt;
      break;
    case Op::pad:
      if (first.size() != 4 || first[2] != 1) return std::nullopt;
      break;
    case Op::split: {
      if (axis >= static_cast<int>(first.size()) || first[axis] < 2) return std::nullopt;
      const int64_t extent = first[axis];
      const int64_t cut = extent > family.unit && extent % family.unit == 0 ? family.unit : 1;
      attrs.set(Attr::sizes, Ints{cut, extent - cut});
      break;
    }
    case Op::reshape:
      if (first.size() != 3) return std::nullopt;
      attrs.set(Attr::shape, Ints{first[0] * first[1], first[2]});
      break;
    default:
      break;
  }
  const bool has_axis =
      config.op == Op::concat || config.op == Op::split || config.op == Op::softmax || config.op == Op::layer_norm;
  if (has_axis) attrs.set(Attr::axis, int64_t{axis});
  if (config.op == Op::reduce_mean || config.op == Op::reduce_sum) attrs.set(Attr::axes, Ints{axis});
  std::vector<ops::TensorType> types;
  for (const auto& shape : operands) types.emplace_back(ops::DType::f32, shape);
  auto complete = ops::complete_attrs(config.op, attrs);
  RLGO_CHECK(complete.has_value());
  const auto inferred = ops::infer(config.op, types, *complete);
  if (!inferred) return std::nullopt;
  Typed typed{.shapes = {}, .attrs = std::move(*complete)};
  for (const auto& type : *inferred) {
    if (type.elements() > family.max_elements || type.rank() > 4) return std::nullopt;
    typed.shapes.push_back(type.shape);
  }
  return typed;
}

std::string to_text(const Family& family, const Sketch& sketch) {
  std::vector<std::string> names;
  for (const auto& variable : family.variables) names.push_back(variable.name);
  std::string text;
  int number = 0;
  for (const auto& step : sketch.steps) {
    const auto& config = family.configs[step.config];
    std::string call = config.label;
    for (int k = 0; k < config.arity; ++k) call += " " + names[step.operands[k]];
    const std::string name = fmt::format("t{}", number++);
    for (int port = 0; port < config.outputs; ++port) {
      names.push_back(config.outputs == 1 ? name : fmt::format("{}.{}", name, port));
    }
    text += fmt::format("{} = {}; ", name, call);
  }
  text += "out";
  for (int output : sketch.outputs) text += " " + names[output];
  return text;
}

double cost_of(const Family& family, const Sketch& sketch) {
  double cost = 0;
  for (const auto& step : sketch.steps) cost += family.configs[step.config].cost;
  return cost;
}

}  // namespace rlgo::rulegen
