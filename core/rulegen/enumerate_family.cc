#include "core/rulegen/enumerate_family.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::rulegen {
namespace {

using ops::Attr;
using ops::Attrs;
using ops::Ints;
using ops::Op;

OpConfig config_of(Op op, std::string label, double cost, std::vector<std::string> signatures) {
  OpConfig config;
  config.op = op;
  config.label = std::move(label);
  config.cost = cost;
  config.arity = static_cast<int>(signatures[0].find('>'));
  config.outputs = static_cast<int>(signatures[0].size()) - config.arity - 1;
  config.signatures = std::move(signatures);
  return config;
}

OpConfig binary(Op op, std::vector<std::string> signatures) {
  auto config = config_of(op, std::string(ops::name(op)), 1, std::move(signatures));
  config.commutative = true;
  return config;
}

OpConfig activation(Op op, Act act) {
  auto config = config_of(op, std::string(ops::name(op)), 1, {"x>x"});
  config.act = act;
  return config;
}

OpConfig along(Op op, int axis, double cost, std::vector<std::string> signatures) {
  auto config = config_of(op, std::string(ops::name(op)) + std::to_string(axis), cost, std::move(signatures));
  config.axis = axis;
  return config;
}

OpConfig transpose(std::vector<int> perm, std::vector<std::string> signatures) {
  std::string label = "transpose";
  for (int axis : perm) label += std::to_string(axis);
  auto config = config_of(Op::transpose, label, 1, std::move(signatures));
  config.attrs = {{Attr::perm, Ints(perm.begin(), perm.end())}};
  config.perm = std::move(perm);
  return config;
}

OpConfig matmul(std::vector<std::string> signatures) {
  return config_of(Op::matmul, "matmul", 8, std::move(signatures));
}

// Square windows that keep the extents.
OpConfig conv(int kernel, Act act, int group) {
  const std::string word = act == Act::relu ? "relu" : "none";
  auto config = config_of(Op::conv2d, fmt::format("conv2d-{}x{}-g{}-{}", kernel, kernel, group, word), 8 + kernel,
                          {group == 1 ? "xw>x" : "xg>x"});
  if (group == 1) config.signatures.emplace_back("zw>x");
  const int pad = kernel / 2;
  config.attrs = {{Attr::act, word}, {Attr::group, int64_t{group}}, {Attr::pads, Ints{pad, pad, pad, pad}}};
  config.kernel = {kernel, kernel};
  config.pads = {pad, pad, pad, pad};
  config.act = act;
  config.group = group;
  return config;
}

OpConfig pool(Op op, bool count_pads) {
  auto config = config_of(op, std::string(ops::name(op)), 3, {"x>x"});
  config.attrs = {{Attr::kernel, Ints{3, 3}}, {Attr::pads, Ints{1, 1, 1, 1}}};
  if (op == Op::avg_pool) config.attrs.set(Attr::count_include_pad, int64_t{count_pads});
  config.kernel = {3, 3};
  config.pads = {1, 1, 1, 1};
  config.count_pads = count_pads;
  return config;
}

OpConfig enlarge() {
  auto config = config_of(Op::pad, "enlarge", 1, {"w>w"});
  config.attrs = {{Attr::pads, Ints{0, 0, 1, 1, 0, 0, 1, 1}}};
  config.pads = {1, 1, 1, 1};
  return config;
}

Family matrices() {
  Family family;
  family.name = "2d";
  for (const char* name : {"x", "y", "z", "w"}) family.variables.push_back({name, {3, 3}, 'x'});
  family.variables.push_back({"s", {}, 's'});
  family.variables.push_back({"zero", {3, 3}, 'z', 0});
  family.configs = {matmul({"xx>x", "xz>x", "zx>x"}),          binary(Op::add, {"xx>x", "xz>x"}),
                    binary(Op::mul, {"xx>x", "xs>x", "xz>x"}), activation(Op::relu, Act::relu),
                    activation(Op::gelu, Act::gelu),           along(Op::concat, 0, 1, {"xx>x"}),
                    along(Op::concat, 1, 1, {"xx>x"}),         along(Op::split, 0, 1, {"x>xx"}),
                    along(Op::split, 1, 1, {"x>xx"}),          transpose({1, 0}, {"x>x"})};
  return family;
}

Family images() {
  Family family;
  family.name = "4d";
  family.unit = 2;
  family.max_elements = 160;
  family.variables = {{"x", {1, 2, 3, 3}, 'x'}, {"y", {1, 2, 3, 3}, 'x'}, {"a", {2, 2, 3, 3}, 'w'},
                      {"b", {2, 2, 3, 3}, 'w'}, {"d", {2, 2, 1, 1}, 'w'}, {"e", {2, 2, 1, 1}, 'w'},
                      {"g", {2, 1, 3, 3}, 'g'}, {"s", {}, 's'},           {"zero", {1, 2, 3, 3}, 'z', 0}};
  family.configs = {conv(3, Act::none, 1),
                    conv(3, Act::relu, 1),
                    conv(1, Act::none, 1),
                    conv(3, Act::none, 2),
                    binary(Op::add, {"xx>x", "ww>w", "xz>x"}),
                    binary(Op::mul, {"xx>x", "xs>x", "ws>w", "xz>x"}),
                    activation(Op::relu, Act::relu),
                    along(Op::concat, 0, 1, {"xx>x", "ww>w"}),
                    along(Op::concat, 1, 1, {"xx>x", "ww>w"}),
                    along(Op::split, 0, 1, {"x>xx", "w>ww"}),
                    along(Op::split, 1, 1, {"x>xx", "w>ww"}),
                    pool(Op::max_pool, false),
                    pool(Op::avg_pool, true),
                    enlarge()};
  return family;
}

Family transformer() {
  Family family;
  family.name = "transformer";
  family.max_elements = 108;
  family.variables = {{"x", {2, 3, 3}, 'x'}, {"y", {2, 3, 3}, 'x'}, {"u", {3, 3}, 'w'}, {"v", {3, 3}, 'w'},
                      {"p", {3}, 'v'},       {"q", {3}, 'v'},       {"s", {}, 's'}};
  family.configs = {matmul({"xx>x", "xw>x", "ww>w"}),
                    binary(Op::add, {"xx>x", "xv>x", "vv>v", "ww>w"}),
                    binary(Op::mul, {"xx>x", "xv>x", "xs>x", "wv>w", "ws>w", "vs>v", "vv>v"}),
                    activation(Op::gelu, Act::gelu),
                    along(Op::softmax, -1, 4, {"x>x"}),
                    along(Op::layer_norm, -1, 6, {"xvv>x"}),
                    along(Op::reduce_mean, -1, 2, {"x>x"}),
                    along(Op::reduce_sum, -1, 2, {"x>x"}),
                    along(Op::concat, 0, 1, {"xx>x", "ww>w", "vv>v"}),
                    along(Op::concat, 1, 1, {"xx>x", "ww>w"}),
                    along(Op::concat, 2, 1, {"xx>x"}),
                    along(Op::split, 0, 1, {"x>xx", "v>vv"}),
                    along(Op::split, 1, 1, {"x>xx", "w>ww"}),
                    along(Op::split, 2, 1, {"x>xx"}),
                    transpose({0, 2, 1}, {"x>x"}),
                    transpose({1, 0, 2}, {"x>x"}),
                    config_of(Op::reshape, "merge01", 0.5, {"x>x"})};
  return family;
}

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

const char* const kNames[] = {"2d", "4d", "transformer"};

}  // namespace

std::vector<std::string> family_names() { return {std::begin(kNames), std::end(kNames)}; }

Family make_family(std::string_view text) {
  const auto colon = text.find(':');
  const std::string name(text.substr(0, colon));
  Family family;
  if (name == kNames[0]) {
    family = matrices();
  } else if (name == kNames[1]) {
    family = images();
  } else if (name == kNames[2]) {
    family = transformer();
  } else {
    const auto known = family_names();
    fail("unknown operator set '{}'{}; known: {}", name, did_you_mean(name, known), join(known, ", "));
  }
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
