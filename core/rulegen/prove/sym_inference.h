// How sym::infer() works, shared by its two source files: one object for each operator asked about.
#pragma once

#include <cmath>

#include "core/base/error.h"
#include "core/rulegen/prove/sym_infer.h"

namespace rlgo::rulegen::sym {

using ops::Attr;
using ops::Op;

// The worst of several demands; all of them are made.
class Demands {
 public:
  Demands& operator<<(Fit fit) {
    if (fit == Fit::misfit || worst_ == Fit::misfit) {
      worst_ = Fit::misfit;
    } else if (fit == Fit::unknown) {
      worst_ = Fit::unknown;
    }
    return *this;
  }
  Fit worst() const { return worst_; }

 private:
  Fit worst_ = Fit::fits;
};

class Inference {  // of one operator's outputs
 public:
  Inference(World& world, const Params& params, std::span<const Shape> in, std::vector<Shape>& out)
      : w_(world), params_(params), in_(in), out_(out) {}

  Fit run(Op op);  // outputs in `outs`

 private:
  ExtentPool& extents() { return w_.pool.extents; }
  ExtentId number(int64_t k) { return extents().number(k); }
  ExtentId norm(ExtentId a) { return w_.logic.facts.canon(a); }
  const Value& attr(Attr key) const {
    const Value* held = find(params_, key);
    RLGO_CHECK(held != nullptr);
    return *held;
  }
  const Shape& list(Attr key) const { return attr(key).list; }
  std::optional<int64_t> constant(Attr key) const { return w_.pool.extents.value(attr(key).id); }
  std::optional<std::vector<int64_t>> constants(Attr key) const {
    std::vector<int64_t> items;
    for (ExtentId item : list(key)) {
      const auto held = w_.pool.extents.value(item);
      if (!held) return std::nullopt;
      items.push_back(*held);
    }
    return items;
  }
  std::optional<int64_t> whole(Attr key) const {
    const auto held = w_.pool.real_value(attr(key).id);
    if (!held || *held < 1 || *held > 1e6 || *held != std::floor(*held)) return std::nullopt;
    return static_cast<int64_t>(*held);
  }
  Fit one(Shape shape) {
    for (ExtentId& extent : shape) extent = norm(extent);
    out_.push_back(std::move(shape));
    return Fit::fits;
  }
  Fit same_as_input() { return one(in_[0]); }
  Fit all_equal(const Shape& a, const Shape& b) {
    if (a.size() != b.size()) return Fit::misfit;
    Demands d;
    for (size_t k = 0; k < a.size(); ++k) d << w_.logic.equal(a[k], b[k]);
    return d.worst();
  }
  Fit each_at_least(const Shape& items, int64_t bound) {
    Demands d;
    for (ExtentId item : items) d << w_.logic.at_least(item, bound);
    return d.worst();
  }
  Fit axis(int64_t* out, size_t operand = 0) {
    const auto held = constant(Attr::axis);
    if (!held) return Fit::unknown;
    *out = *held;
    return *held >= 0 && *held < static_cast<int64_t>(in_[operand].size()) ? Fit::fits : Fit::misfit;
  }

  Fit window(size_t d, ExtentId extent, ExtentId window, ExtentId dilation, ExtentId* result, ExtentId mode);
  Fit conv2d();
  Fit conv_transpose();
  Fit resize();
  Fit matmul();
  Fit pool(bool dilated);
  Fit concat();
  Fit split();
  Fit transpose();
  Fit reshape();
  Fit slice();
  Fit pad();
  Fit reduce();
  Fit normalised(size_t axis_from);
  Fit gather();
  Fit elementwise();

  World& w_;
  const Params& params_;
  std::span<const Shape> in_;
  std::vector<Shape>& out_;
};

}  // namespace rlgo::rulegen::sym
