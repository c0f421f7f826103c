#include "core/rulegen/check/wild_instance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "core/rules/instance_parts.h"

namespace rlgo::rulegen {
namespace {

using graph::Value;
using ops::Attr;
using ops::AttrValue;
using ops::DType;
using ops::Ints;
using ops::Op;
using ops::Shape;
using ops::TensorType;
using rules::LeftNode;
using rules::Operand;

constexpr int kDraws = 40;  // of one node
constexpr int kMaxRank = 6;

class WildMaker {
 public:
  WildMaker(const rules::CompiledRule& rule, Rng& rng) : rule_(rule), rng_(rng), editor_("wild") {
    for (const auto& guard : rule.guards) asked_.look(guard.expr);
    constexpr std::array<DType, 7> kTypes{DType::f64, DType::f16, DType::i64,    DType::i32,
                                          DType::u8,  DType::i8,  DType::boolean};
    type_ = percent(70) ? DType::f32 : kTypes[rng_.below(kTypes.size())];
    for (int64_t k = between(1, 3); k > 0; --k) extents_.push_back(percent(4) ? 0 : between(1, 5));
  }

  std::optional<graph::Graph> run() {
    nodes_.assign(rule_.left.size(), graph::kNoNode);
    for (size_t k = 0; k < rule_.left.size(); ++k) {
      if (!make(k)) return std::nullopt;
    }
    int number = 0;
    for (size_t k = 0; k < rule_.left.size(); ++k) {
      if (!rule_.left[k].replaced && !percent(15)) continue;
      const auto ports = static_cast<int32_t>(editor_.node(nodes_[k]).info->outputs.size());
      for (int32_t p = 0; p < ports; ++p) editor_.add_output("out" + std::to_string(number++), {nodes_[k], p});
    }
    return editor_.finish();
  }

 private:
  using Key = std::tuple<int, int32_t, int>;  // operand kind, index, element
  struct Input {
    std::optional<Value> value;  // there already
    Key key;                     // else: of this variable, to be made
    TensorType type;
  };

  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(rng_.below(static_cast<uint64_t>(most - least + 1)));
  }
  bool percent(uint64_t chance) { return rng_.below(100) < chance; }
  int64_t extent() { return extents_[rng_.below(extents_.size())]; }
  Shape shape(int64_t rank) {
    Shape made;
    for (int64_t d = 0; d < rank; ++d) made.push_back(extent());
    return made;
  }

  bool make(size_t index) {
    if (nodes_[index] != graph::kNoNode) return true;
    const LeftNode& left = rule_.left[index];
    for (const auto& operand : left.operands) {
      if (operand.kind == Operand::Kind::left && !make(static_cast<size_t>(operand.index))) return false;
    }
    for (int draw = 0; draw < kDraws; ++draw) {
      if (draw_node(index)) return true;
    }
    return false;
  }

  bool draw_node(size_t index) {
    const LeftNode& left = rule_.left[index];
    std::vector<Input> inputs;
    if (!operands(left, inputs)) return false;
    ops::Attrs attrs;
    attributes_.give(left, attrs);
    std::vector<TensorType> types;
    for (const auto& input : inputs) types.push_back(input.type);
    for (const auto& spec : ops::spec(left.op).attrs) {
      if (!attrs.find(spec.key)) attrs.set(spec.key, attribute(left, spec, types, attrs));
    }
    if (!ops::infer(left.op, types, attrs)) return false;
    std::vector<Value> values;
    std::map<Key, Value> fresh;
    for (const auto& input : inputs) {
      if (input.value) {
        values.push_back(*input.value);
        continue;
      }
      const auto [place, is_new] = fresh.try_emplace(input.key);
      if (is_new) place->second = variable(input.key, input.type);
      if (editor_.type(place->second) != input.type) return false;
      values.push_back(place->second);
    }
    auto bound = attributes_;
    bound.bind(left, attrs);
    const auto id = editor_.try_add(left.op, values, attrs);
    if (!id || std::ranges::find(nodes_, *id) != nodes_.end()) return false;
    attributes_ = std::move(bound);
    tensors_.insert(fresh.begin(), fresh.end());
    nodes_[index] = *id;
    return true;
  }

  bool operands(const LeftNode& left, std::vector<Input>& inputs) {
    for (const auto& operand : left.operands) {
      if (operand.kind == Operand::Kind::left) {
        const auto& outputs = editor_.node(nodes_[static_cast<size_t>(operand.index)]).info->outputs;
        const auto count = static_cast<int32_t>(outputs.size());
        if (!operand.spread && operand.port >= count) return false;
        for (int32_t p = operand.spread ? 0 : operand.port; p < (operand.spread ? count : operand.port + 1); ++p)
          inputs.push_back({Value{nodes_[static_cast<size_t>(operand.index)], p}, {}, outputs[static_cast<size_t>(p)]});
      } else if (operand.kind == Operand::Kind::sequence) {
        const auto [held, is_new] = lengths_.try_emplace(operand.index, static_cast<int>(between(0, 5)));
        for (int k = 0; k < held->second; ++k) variable_input(left, operand, k, inputs);
      } else {
        variable_input(left, operand, 0, inputs);
      }
    }
    return true;
  }

  void variable_input(const LeftNode& left, const Operand& operand, int element, std::vector<Input>& inputs) {
    const Key key{static_cast<int>(operand.kind), operand.index, element};
    if (const auto held = tensors_.find(key); held != tensors_.end()) {
      inputs.push_back({held->second, key, editor_.type(held->second)});
      return;
    }
    if (operand.kind == Operand::Kind::scalar) {
      const auto& number = rule_.scalars[static_cast<size_t>(operand.index)];
      const double value =
          number.kind == rules::Expr::Kind::integer ? static_cast<double>(number.integer) : number.real;
      inputs.push_back({constant(value), key, {}});
      inputs.back().type = editor_.type(*inputs.back().value);
      return;
    }
    const bool valued = operand.kind == Operand::Kind::tensor && (asked_.value >> operand.index & 1u) != 0;
    if (valued && percent(80)) {
      std::vector<double> numbers = asked_.numbers;
      numbers.insert(numbers.end(), {0, 1, 2, -0.5, -3});
      const Value made = constant(numbers[rng_.below(numbers.size())]);
      tensors_[key] = made;
      inputs.push_back({made, key, editor_.type(made)});
      return;
    }
    const bool index = left.op == Op::gather && inputs.size() == 1;
    inputs.push_back({std::nullopt, key, TensorType(index ? DType::i64 : type_, wild_shape(left.op, inputs))});
  }

  Value constant(double value) {
    const Ints one(percent(60) ? 0 : static_cast<size_t>(between(1, 3)), percent(90) ? 1 : extent());
    return editor_.op(Op::fill, {},
                      {{Attr::shape, one}, {Attr::to, std::string(ops::name(type_))}, {Attr::value, value}});
  }

  // Related to the operands before it, as often as not.
  Shape wild_shape(Op op, const std::vector<Input>& before) {
    const bool images = op == Op::conv2d || op == Op::conv_transpose || op == Op::max_pool || op == Op::avg_pool ||
                        op == Op::global_avg_pool || op == Op::resize;
    if (before.empty()) {
      if (images) return {between(1, 2), between(1, 3) * between(1, 2), between(1, 7), between(1, 7)};
      return shape(between(0, kMaxRank));
    }
    const Shape& x = before[0].type.shape;
    if (images) return kernel_shape(op, before);
    if (op == Op::batch_norm && x.size() > 1) return {x[1]};
    if (op == Op::layer_norm && !x.empty()) return {x.back()};
    if (op == Op::matmul && x.size() >= 2 && percent(85)) {
      Shape made = percent(50) ? Shape{0, 0} : x;
      made[made.size() - 2] = x.back();
      made[made.size() - 1] = extent();
      return made;
    }
    if (percent(45)) return x;
    Shape part = x;
    while (!part.empty() && percent(30)) part.erase(part.begin());
    for (auto& e : part) {
      if (percent(30)) e = percent(50) ? 1 : extent();
    }
    return percent(10) ? shape(between(0, kMaxRank)) : part;
  }

  Shape kernel_shape(Op op, const std::vector<Input>& before) {
    const Shape& x = before[0].type.shape;
    if (x.size() != 4) return shape(4);
    if (before.size() == 2) {
      const Shape& w = before[1].type.shape;
      return {w.size() == 4 ? w[op == Op::conv2d ? 0 : 1] * between(1, 2) : extent()};
    }
    const int64_t height = between(1, 4), width = percent(60) ? height : between(1, 4);
    if (op == Op::conv_transpose) return {x[1], extent(), height, width};
    const int64_t groups = percent(60) ? 1 : std::max<int64_t>(1, x[1] / between(1, 2));
    return {groups * between(1, 3), std::max<int64_t>(1, x[1] / groups), height, width};
  }

  AttrValue attribute(const LeftNode& left, const ops::AttrSpec& spec, const std::vector<TensorType>& types,
                      const ops::Attrs& attrs) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr std::array<double, 12> kNumbers{0, 0.1, 0.5, 1, 2, 3, 6, -0.5, -1, -2, 1e-5, kInfinity};
    if (std::holds_alternative<double>(spec.fallback)) {
      if (percent(20)) return spec.fallback;
      if (spec.key == Attr::min && percent(20)) return -kInfinity;
      if (spec.key == Attr::eps) return std::array{0.0, 1e-5, 1e-3, 0.5}[rng_.below(4)];
      return kNumbers[rng_.below(kNumbers.size())];
    }
    if (std::holds_alternative<std::string>(spec.fallback)) return word(spec);
    if (std::holds_alternative<int64_t>(spec.fallback)) {
      if (spec.key == Attr::axis && !types.empty())
        return between(0, std::max<int64_t>(static_cast<int64_t>(types[0].shape.size()) - 1, 0));
      return spec.key == Attr::group ? (percent(60) ? 1 : between(1, 4)) : between(0, 1);
    }
    return list(left, spec.key, types.empty() ? Shape() : types[0].shape, types, attrs);
  }

  AttrValue word(const ops::AttrSpec& spec) {
    constexpr std::array<const char*, 6> kActs{"none", "relu", "sigmoid", "tanh", "gelu", "hard_swish"};
    constexpr std::array<const char*, 6> kTypes{"f32", "f64", "f16", "i64", "i32", "bool"};
    if (spec.key == Attr::act) return std::string(kActs[rng_.below(kActs.size())]);
    if (spec.key == Attr::approximate) return std::string(percent(50) ? "none" : "tanh");
    if (spec.key == Attr::to) return std::string(percent(50) ? ops::name(type_) : kTypes[rng_.below(kTypes.size())]);
    if (spec.key == Attr::mode) return std::string("nearest");
    if (spec.key == Attr::coordinates) return std::string(percent(50) ? "asymmetric" : "half_pixel");
    if (spec.key == Attr::rounding) return std::string(percent(50) ? "floor" : "round_prefer_floor");
    return spec.fallback;
  }

  Ints drawn(size_t count, int64_t least, int64_t most, uint64_t plain) {
    Ints made(count, least);
    if (percent(plain)) return made;
    for (auto& item : made) item = between(least, most);
    return made;
  }

  AttrValue list(const LeftNode& left, Attr key, const Shape& x, const std::vector<TensorType>& types,
                 const ops::Attrs& attrs) {
    const auto rank = static_cast<int64_t>(x.size());
    switch (key) {
      case Attr::strides:
      case Attr::dilations:
        return drawn(2, 1, 3, 50);
      case Attr::kernel:
        return drawn(2, 1, 4, 15);
      case Attr::output_padding:
        return drawn(2, 0, 2, 50);
      case Attr::pads: {
        if (left.op == Op::pad) return drawn(2 * x.size(), 0, 2, 30);
        Ints same(4, 0);
        for (size_t d = 0; d < 2 && types.size() > 1 && types[1].shape.size() == 4; ++d)
          same[d] = same[d + 2] = (types[1].shape[2 + d] - 1) / 2;
        return percent(30) ? same : drawn(4, 0, 3, 30);
      }
      case Attr::perm: {
        Ints perm(x.size());
        std::iota(perm.begin(), perm.end(), 0);
        for (size_t k = perm.size(); k > 1; --k) std::swap(perm[k - 1], perm[rng_.below(k)]);
        return perm;
      }
      case Attr::shape:
        return left.op == Op::fill ? Ints(drawn(static_cast<size_t>(between(0, 4)), 1, 3, 20)) : reshaped(x);
      case Attr::axes: {
        Ints axes;
        for (int64_t d = 0; d < rank; ++d) {
          if (percent(40)) axes.push_back(d);
        }
        return axes;
      }
      case Attr::sizes:
        return sizes(left, x, attrs);
      default:
        return bounds(key, x, attrs);
    }
  }

  Ints sizes(const LeftNode& left, const Shape& x, const ops::Attrs& attrs) {
    const int64_t axis = attrs.find(Attr::axis) ? attrs.i(Attr::axis) : 0;
    int64_t rest = axis < static_cast<int64_t>(x.size()) ? x[static_cast<size_t>(axis)] : 1;
    const auto test = std::ranges::find(left.tests, Attr::sizes, &rules::AttrTest::key);
    const bool fixed = test != left.tests.end() && test->is_list;
    Ints made;
    for (int64_t k = fixed ? static_cast<int64_t>(test->items.size()) : between(1, 5); k > 1; --k) {
      made.push_back(rest > 0 ? between(percent(10) ? 0 : 1, rest) : 0);
      rest -= made.back();
    }
    made.push_back(rest);
    return made;
  }

  // Factors in another grouping; some items left open.
  Ints reshaped(const Shape& x) {
    Ints to(x.begin(), x.end());
    for (int round = 0; round < 3 && percent(70); ++round) {
      const size_t at = to.empty() ? 0 : rng_.below(to.size());
      if (percent(30)) to.insert(to.begin() + static_cast<ptrdiff_t>(at), 1);
      if (to.size() >= 2 && at + 1 < to.size() && percent(60)) {
        to[at] *= to[at + 1];
        to.erase(to.begin() + static_cast<ptrdiff_t>(at) + 1);
      } else if (!to.empty() && to[at] % 2 == 0 && to[at] > 0) {
        to[at] /= 2;
        to.insert(to.begin() + static_cast<ptrdiff_t>(at), 2);
      }
    }
    if (to.empty() || !percent(35)) return to;
    to[rng_.below(to.size())] = -1;
    for (size_t k = 0; k < to.size() && k < x.size(); ++k) {
      if (to[k] == x[k] && percent(30)) to[k] = -2;
    }
    return to;
  }

  Ints bounds(Attr key, const Shape& x, const ops::Attrs& attrs) {
    Ints made;
    const auto* axes = attrs.find(Attr::axes);
    if (!axes) return made;
    for (const int64_t axis : std::get<Ints>(*axes)) {
      const int64_t most = axis >= 0 && axis < static_cast<int64_t>(x.size()) ? x[static_cast<size_t>(axis)] : 1;
      if (key == Attr::steps) made.push_back(percent(70) ? 1 : between(1, 3));
      if (key == Attr::starts) made.push_back(percent(50) ? 0 : between(0, most));
      if (key == Attr::ends) made.push_back(percent(50) ? most : between(0, most));
    }
    return made;
  }

  Value variable(const Key& key, const TensorType& type) {
    const std::string name = "v" + std::to_string(count_++);
    const bool constant =
        std::get<0>(key) == static_cast<int>(Operand::Kind::tensor) && (asked_.constant >> std::get<1>(key) & 1u) != 0;
    if (type.dtype == DType::f32 && percent(constant ? 90 : 30))
      return editor_.add_weight(name, graph::Blob::seeded(type, rng_.next(), 0.7, 0.2, false));
    return editor_.add_input(name, type);
  }

  const rules::CompiledRule& rule_;
  Rng& rng_;
  graph::Editor editor_;
  rules::Asked asked_;
  DType type_ = DType::f32;
  std::vector<int64_t> extents_;
  std::vector<graph::NodeId> nodes_;
  std::map<Key, Value> tensors_;
  std::map<int32_t, int> lengths_;
  rules::BoundAttributes attributes_;
  int count_ = 0;
};

}  // namespace

std::optional<graph::Graph> wild_instance(const rules::CompiledRule& rule, Rng& rng) {
  return WildMaker(rule, rng).run();
}

}  // namespace rlgo::rulegen
