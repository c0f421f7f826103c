// Inference where extents depend on a model's open sizes: the same arithmetic as in the family files, on functions of
// these sizes. What the families check on attributes and numbers is checked there, at the sample sizes.
#include <algorithm>

#include "core/ops/extent.h"
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

using Kind = Requirement::Kind;
using Shapes = std::vector<Extents>;

class OpenInference {
 public:
  OpenInference(Inputs inputs, const Attrs& attrs, std::vector<Requirement>* required)
      : attrs_(attrs), required_(required) {
    for (const auto& type : inputs) in_.push_back(type.extents());
  }

  // Shapes of the outputs; nothing where something that is needed is not certain.
  std::optional<Shapes> run(Op op, bool elementwise) {
    Shapes out = elementwise && op != Op::prelu ? Shapes{broadcast(in_)} : shapes(op);
    return good_ ? std::optional(std::move(out)) : std::nullopt;
  }

 private:
  Shapes shapes(Op op) {
    switch (op) {
      case Op::prelu:
        into(in_[0], in_[1]);
        return {in_[0]};
      case Op::conv2d:
        return {conv2d()};
      case Op::conv_transpose:
        return {conv_transpose()};
      case Op::max_pool:
      case Op::avg_pool:
        return {pool(op)};
      case Op::global_avg_pool:
        return {{in_[0][0], in_[0][1], 1, 1}};
      case Op::matmul:
        return {matmul()};
      case Op::concat:
        return {concat()};
      case Op::split:
        return split();
      case Op::transpose:
        return {transpose()};
      case Op::reshape:
        return {reshape()};
      case Op::slice:
        return {slice()};
      case Op::pad:
        return {pad()};
      case Op::gather:
        return {gather()};
      case Op::expand:
        return {expand()};
      case Op::resize:
        return {resize()};
      case Op::reduce_mean:
      case Op::reduce_sum:
      case Op::reduce_max:
        return {reduce(op)};
      case Op::softmax:
        return {in_[0]};
      case Op::layer_norm:
        return {layer_norm()};
      case Op::batch_norm:
        for (size_t k = 1; k < in_.size(); ++k) equal(in_[k][0], in_[0][1]);
        return {in_[0]};
      default:
        good_ = false;  // leaves and opaque operators
        return {};
    }
  }

  void require(Requirement wanted) {
    if (required_ == nullptr) good_ = false;
    if (required_ != nullptr) required_->push_back(std::move(wanted));
  }
  void equal(const Extent& a, const Extent& b) {
    const auto answer = decide_equal(a, b);
    if (answer) {
      good_ = good_ && *answer;
    } else {
      require({Kind::equal, a, b, 0});
    }
  }
  void at_least(const Extent& extent, int64_t bound) {
    if (!extent.at_least(bound)) require({Kind::at_least, extent, {}, bound});
  }
  // An extent that exists only where it is positive.
  Extent positive(const Extent& extent) {
    at_least(extent, 1);
    return known_at_least(extent, 1);
  }
  // `part` broadcasts to `whole`, aligned at the end.
  void into(const Extents& whole, const Extents& part) {
    const size_t shift = whole.size() - part.size();
    for (size_t d = 0; d < part.size(); ++d) {
      const Extent& extent = whole[shift + d];
      if (part[d].number() != 1 && !part[d].same(extent)) require({Kind::into, extent, part[d], 0});
    }
  }
  int64_t number(const Extent& extent) {
    const auto value = extent.number();
    good_ = good_ && value;
    return value.value_or(1);
  }

  Extents broadcast(const Shapes& shapes) {
    size_t rank = 0;
    for (const Extents& shape : shapes) rank = std::max(rank, shape.size());
    Extents out;
    for (size_t d = 0; d < rank; ++d) {
      Extents members;
      for (const Extents& shape : shapes) {
        if (d + shape.size() >= rank) members.push_back(shape[d + shape.size() - rank]);
      }
      out.push_back(joint(members));
      check_joint(members, out.back());
    }
    return out;
  }
  // Nothing is asked where all members are 1 or the same.
  void check_joint(const Extents& members, const Extent& all) {
    const auto fits = [&](const Extent& one) { return one.number() == 1 || one.same(all); };
    if (std::ranges::all_of(members, fits)) return;
    if (!all.is_number()) return require({Kind::broadcast, all, {}, 0});
    for (const Extent& one : members) {
      if (!fits(one)) require({Kind::into, all, one, 0});
    }
  }

  Extent window(const Extent& extent, size_t d, int64_t size, const Ints& dilations, bool round_up) {
    const auto &pads = attrs_.ints(Attr::pads), &strides = attrs_.ints(Attr::strides);
    const Extent span = Extent(dilations[d]) * Extent(size - 1) + Extent(1);
    const Extent room = extent + Extent(pads[d]) + Extent(pads[d + 2]) - span;
    if (!round_up) return positive(floor_quotient(room, strides[d]) + Extent(1));
    at_least(room, 0);
    return window_up(extent, {pads[d], pads[d + 2], size, strides[d], dilations[d]});
  }

  Extents conv2d() {
    const Extents &x = in_[0], &w = in_[1];
    const int64_t group = attrs_.i(Attr::group);
    equal(x[1], w[1] * Extent(group));
    if (number(w[0]) % group != 0) good_ = false;
    if (in_.size() == 3) equal(in_[2][0], w[0]);
    Extents out{x[0], w[0]};
    for (size_t d = 0; d < 2; ++d)
      out.push_back(window(x[2 + d], d, number(w[2 + d]), attrs_.ints(Attr::dilations), false));
    return out;
  }

  Extents conv_transpose() {
    const Extents &x = in_[0], &w = in_[1];
    const auto &pads = attrs_.ints(Attr::pads), &strides = attrs_.ints(Attr::strides),
               &dilations = attrs_.ints(Attr::dilations), &more = attrs_.ints(Attr::output_padding);
    equal(x[1], w[0]);
    number(w[0]);
    const Extent channels = w[1] * Extent(attrs_.i(Attr::group));
    if (in_.size() == 3) equal(in_[2][0], channels);
    Extents out{x[0], channels};
    for (size_t d = 0; d < 2; ++d) {
      const Extent span = Extent(dilations[d]) * Extent(number(w[2 + d]) - 1) + Extent(1);
      at_least(x[2 + d], 1);
      out.push_back(positive((x[2 + d] - Extent(1)) * Extent(strides[d]) + span + Extent(more[d]) - Extent(pads[d]) -
                             Extent(pads[d + 2])));
    }
    return out;
  }

  Extents pool(Op op) {
    const Extents& x = in_[0];
    const Ints dilations = op == Op::max_pool ? attrs_.ints(Attr::dilations) : Ints{1, 1};
    Extents out{x[0], x[1]};
    for (size_t d = 0; d < 2; ++d)
      out.push_back(window(x[2 + d], d, attrs_.ints(Attr::kernel)[d], dilations, attrs_.i(Attr::ceil_mode) == 1));
    return out;
  }

  Extents matmul() {
    const Extents &a = in_[0], &b = in_[1];
    equal(a.back(), b[b.size() - 2]);
    Extents out = broadcast({Extents(a.begin(), a.end() - 2), Extents(b.begin(), b.end() - 2)});
    out.push_back(a[a.size() - 2]);
    out.push_back(b.back());
    if (in_.size() == 3) into(out, in_[2]);
    return out;
  }

  Extents concat() {
    const auto axis = static_cast<size_t>(attrs_.i(Attr::axis));
    Extents out = in_[0];
    for (size_t k = 1; k < in_.size(); ++k) {
      for (size_t d = 0; d < out.size(); ++d) {
        if (d == axis) {
          out[d] = out[d] + in_[k][d];
        } else {
          equal(out[d], in_[k][d]);
          if (in_[k][d].is_number()) out[d] = in_[k][d];
        }
      }
    }
    return out;
  }

  Shapes split() {
    const auto axis = static_cast<size_t>(attrs_.i(Attr::axis));
    Shapes out;
    Extent total;
    for (int64_t size : attrs_.ints(Attr::sizes)) {
      out.push_back(in_[0]);
      out.back()[axis] = size;
      total = total + Extent(size);
    }
    equal(in_[0][axis], total);
    return out;
  }

  Extents transpose() {
    Extents out;
    for (int64_t axis : attrs_.ints(Attr::perm)) out.push_back(in_[0][static_cast<size_t>(axis)]);
    return out;
  }

  Extents reshape() {
    const auto& shape = attrs_.ints(Attr::shape);
    const Extent elements = product(in_[0]);
    Extents out;
    Extent others(1);
    size_t rest = shape.size();
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == kRestExtent) {
        rest = d;
        out.emplace_back(1);
        continue;
      }
      out.push_back(shape[d] == kSameExtent ? in_[0][d] : Extent(shape[d]));
      others = others * out.back();
    }
    if (rest < shape.size()) {
      out[rest] = floor_quotient(elements, others);
      at_least(others, 1);
    }
    equal(elements, product(out));
    return out;
  }

  Extents slice() {
    const auto &axes = attrs_.ints(Attr::axes), &starts = attrs_.ints(Attr::starts), &ends = attrs_.ints(Attr::ends),
               &steps = attrs_.ints(Attr::steps);
    Extents out = in_[0];
    for (size_t k = 0; k < axes.size(); ++k) {
      Extent& extent = out[static_cast<size_t>(axes[k])];
      at_least(extent, ends[k]);
      const int64_t length = ends[k] - starts[k];
      extent = length == 0 ? 0 : (length - 1) / steps[k] + 1;
    }
    return out;
  }

  Extents pad() {
    const auto& pads = attrs_.ints(Attr::pads);
    Extents out = in_[0];
    for (size_t d = 0; d < out.size(); ++d) out[d] = out[d] + Extent(pads[d]) + Extent(pads[out.size() + d]);
    return out;
  }

  Extents gather() {
    const auto axis = static_cast<size_t>(attrs_.i(Attr::axis));
    Extents out(in_[0].begin(), in_[0].begin() + static_cast<ptrdiff_t>(axis));
    out.insert(out.end(), in_[1].begin(), in_[1].end());
    out.insert(out.end(), in_[0].begin() + static_cast<ptrdiff_t>(axis) + 1, in_[0].end());
    return out;
  }

  Extents expand() {
    const auto& shape = attrs_.ints(Attr::shape);
    Extents wanted(shape.begin(), shape.end());
    into(wanted, in_[0]);
    return wanted;
  }

  Extents resize() {
    Extents out{in_[0][0], in_[0][1], scaled_extent(in_[0][2], attrs_.f(Attr::scale_h)),
                scaled_extent(in_[0][3], attrs_.f(Attr::scale_w))};
    const int64_t least = attrs_.word(Attr::coordinates) == "pytorch_half_pixel" ? 2 : 1;
    for (size_t d = 2; d < 4; ++d) {
      at_least(in_[0][d], 1);
      // A requirement would not do: at an extent of 1 the operator exists and is another.
      if (least == 2 && !out[d].at_least(2)) good_ = false;
      out[d] = positive(out[d]);
    }
    return out;
  }

  Extents reduce(Op op) {
    const auto& axes = attrs_.ints(Attr::axes);
    Extents out;
    for (size_t d = 0; d < in_[0].size(); ++d) {
      const bool reduced = std::ranges::find(axes, static_cast<int64_t>(d)) != axes.end();
      if (reduced && op == Op::reduce_max) at_least(in_[0][d], 1);
      if (!reduced) out.push_back(in_[0][d]);
      if (reduced && attrs_.i(Attr::keepdims) == 1) out.emplace_back(1);
    }
    return out;
  }

  Extents layer_norm() {
    const auto axis = static_cast<size_t>(attrs_.i(Attr::axis));
    for (size_t k = 1; k < in_.size(); ++k) {
      for (size_t d = 0; d < in_[k].size(); ++d) equal(in_[k][d], in_[0][axis + d]);
    }
    return in_[0];
  }

  const Attrs& attrs_;
  std::vector<Requirement>* required_;
  Shapes in_;
  bool good_ = true;
};

}  // namespace

Inferred infer_open(const OpSpec& spec, Inputs inputs, const Attrs& attrs, Types types,
                    std::vector<Requirement>* required) {
  auto shapes = OpenInference(inputs, attrs, required).run(spec.op, spec.elementwise);
  if (!shapes || shapes->size() != types.size()) return std::nullopt;
  for (size_t k = 0; k < types.size(); ++k) {
    const Shape sample = types[k].shape;
    if (!types[k].set_extents(std::move((*shapes)[k])) || types[k].shape != sample) return std::nullopt;
  }
  return types;
}

std::optional<Ints> reshape_items(const TensorType& input, std::span<const Extent> wanted) {
  Ints items;
  bool has_rest = false, has_zero = false, has_same = false;
  for (size_t d = 0; d < wanted.size(); ++d) {
    const bool copied = d < input.shape.size() && wanted[d].same(input.extent(static_cast<int64_t>(d)));
    if (const auto number = wanted[d].number()) {
      if (*number < 0) return std::nullopt;
      items.push_back(*number);
      has_zero = has_zero || *number == 0;
    } else if (copied) {
      items.push_back(kSameExtent);
      has_same = true;
    } else if (!has_rest) {
      items.push_back(kRestExtent);
      has_rest = true;
    } else {
      return std::nullopt;
    }
  }
  if (has_zero && (has_same || has_rest)) return std::nullopt;
  return items;
}

}  // namespace rlgo::ops
