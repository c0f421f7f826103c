#include "core/zoo/growth.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/zoo/builder.h"

namespace rlgo::zoo {
namespace {

using ops::Attr;
using ops::Op;

constexpr int64_t kRows = 2, kWidth = 8;

class Family {
 public:
  Family(const std::string& name, int operators) : operators_(operators), builder_(name, {}) {}

  graph::Graph chain() {
    Value x = input("x", kWidth);
    for (int k = 0; k < operators_ / 3; ++k) {
      x = product(x, fmt::format("w{}", k % 20));
      x = builder_.relu(builder_.add(x, weight(fmt::format("b{}", k % 19), {kWidth})));
    }
    return builder_.finish("y", x);
  }

  graph::Graph wide() {
    const Value x = input("x", kWidth);
    std::vector<Value> parts;
    for (int k = 0; k < operators_ / 2; ++k) parts.push_back(builder_.relu(product(x, fmt::format("w{}", k))));
    return builder_.finish("y", builder_.concat(parts, 1));
  }

  graph::Graph split() {
    const int64_t count = operators_ - 2;
    std::vector<Value> parts = split_of(input("x", count), count);
    for (Value& part : parts) part = builder_.relu(part);
    std::ranges::reverse(parts);
    return builder_.finish("y", builder_.concat(parts, 1));
  }

  graph::Graph unrolled() {
    const int64_t steps = std::max(1, operators_ / 4);
    std::vector<Value> outputs;
    Value state = input("state", kWidth);
    for (const Value& x : split_of(input("x", steps * kWidth), steps)) {
      state = builder_.op(Op::tanh, {builder_.add(product(x, "wx"), product(state, "wh"))});
      outputs.push_back(state);
    }
    return builder_.finish("y", builder_.concat(outputs, 1));
  }

  graph::Graph blocks() {
    Value x = input("x", kWidth);
    for (int k = 0; k < operators_ / 4; ++k) {
      const Value inside = builder_.relu(product(x, fmt::format("a{}", k % 2)));
      x = builder_.add(x, product(inside, fmt::format("b{}", k % 2)));
    }
    return builder_.finish("y", x);
  }

 private:
  Value input(const std::string& name, int64_t width) { return builder_.input(name, ops::DType::f32, {kRows, width}); }
  Value product(Value x, const std::string& name) {
    return builder_.op(Op::matmul, {x, weight(name, {kWidth, kWidth})});
  }
  Value weight(const std::string& name, const ops::Shape& shape) {
    const auto [known, is_new] = weights_.try_emplace(name);
    if (is_new) known->second = builder_.weight(name, shape, 0.3);
    return known->second;
  }
  std::vector<Value> split_of(Value x, int64_t count) {
    const ops::Ints sizes(static_cast<size_t>(count), builder_.shape(x)[1] / count);
    const Value first = builder_.op(Op::split, {x}, {{Attr::axis, int64_t{1}}, {Attr::sizes, sizes}});
    std::vector<Value> parts;
    for (int32_t k = 0; k < count; ++k) parts.push_back({first.node, k});
    return parts;
  }

  int operators_;
  Builder builder_;
  std::map<std::string, Value> weights_;
};

struct Known {
  const char* name;
  graph::Graph (Family::*make)();
};
constexpr Known kFamilies[] = {{"chain", &Family::chain},
                               {"wide", &Family::wide},
                               {"split", &Family::split},
                               {"unrolled", &Family::unrolled},
                               {"blocks", &Family::blocks}};

}  // namespace

std::vector<std::string> growth_families() {
  std::vector<std::string> names;
  for (const Known& known : kFamilies) names.emplace_back(known.name);
  return names;
}

graph::Graph make_growth(const std::string& family, int operators) {
  for (const Known& known : kFamilies) {
    if (family == known.name) return (Family(family, operators).*known.make)();
  }
  fail("no family of graphs is named '{}'{}; there are {}", family, did_you_mean(family, growth_families()),
       join(growth_families(), ", "));
}

}  // namespace rlgo::zoo
