// Operators that move elements without computing: concat, split, transpose, reshape, slice, pad, gather, cast, fill,
// literal.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

bool known(Inputs in) { return in[0].dtype != DType::other && same_dtype(in); }

Inferred infer_concat(Inputs in, const Attrs& attrs) {
  const int64_t axis = attrs.i(Attr::axis);
  if (!known(in) || !is_axis(axis, in[0].rank())) return std::nullopt;
  Shape out = in[0].shape;
  for (const auto& type : in.subspan(1)) {
    if (type.rank() != in[0].rank()) return std::nullopt;
    for (int64_t d = 0; d < type.rank(); ++d) {
      if (d != axis && type.shape[d] != out[d]) return std::nullopt;
    }
    if (__builtin_add_overflow(out[axis], type.shape[axis], &out[axis])) return std::nullopt;
  }
  return one(in[0].dtype, std::move(out));
}

Inferred infer_split(Inputs in, const Attrs& attrs) {
  const int64_t axis = attrs.i(Attr::axis);
  const auto& sizes = attrs.ints(Attr::sizes);
  if (!known(in) || !is_axis(axis, in[0].rank()) || sizes.empty()) return std::nullopt;
  int64_t rest = in[0].shape[axis];
  Types out;
  out.reserve(sizes.size());
  for (int64_t size : sizes) {
    if (size < 0 || size > rest) return std::nullopt;
    rest -= size;
    out.push_back(in[0]);
    out.back().shape[axis] = size;
  }
  return rest == 0 ? std::optional(std::move(out)) : std::nullopt;
}

Inferred infer_transpose(Inputs in, const Attrs& attrs) {
  const auto& perm = attrs.ints(Attr::perm);
  if (!known(in) || perm.size() != in[0].shape.size()) return std::nullopt;
  Shape out;
  for (size_t d = 0; d < perm.size(); ++d) {
    if (!is_axis(perm[d], in[0].rank()) || std::find(perm.begin(), perm.begin() + d, perm[d]) != perm.begin() + d) {
      return std::nullopt;
    }
    out.push_back(in[0].shape[perm[d]]);
  }
  return one(in[0].dtype, std::move(out));
}

Inferred infer_reshape(Inputs in, const Attrs& attrs) {
  const auto& shape = attrs.ints(Attr::shape);
  const int64_t elements = in[0].elements();
  if (!known(in) || elements == std::numeric_limits<int64_t>::max()) return std::nullopt;
  TensorType out(in[0].dtype, Shape(std::span<const int64_t>(shape)));
  int64_t* rest = nullptr;
  const bool copies = std::ranges::find(shape, kSameExtent) != shape.end();
  if (copies && std::ranges::find(shape, 0) != shape.end()) return std::nullopt;  // files say both with a 0
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] >= 0) continue;
    if (shape[d] == kSameExtent && d < in[0].shape.size()) {
      out.shape[d] = in[0].shape[d];
    } else if (shape[d] == kRestExtent && !rest) {
      rest = &out.shape[d];
      *rest = 1;
    } else {
      return std::nullopt;
    }
  }
  if (rest) {
    const int64_t others = out.elements();
    if (others == 0 || elements % others != 0) return std::nullopt;
    *rest = elements / others;
  }
  return out.elements() == elements ? std::optional(Types{std::move(out)}) : std::nullopt;
}

Inferred infer_slice(Inputs in, const Attrs& attrs) {
  const auto &axes = attrs.ints(Attr::axes), &starts = attrs.ints(Attr::starts), &ends = attrs.ints(Attr::ends),
             &steps = attrs.ints(Attr::steps);
  if (!known(in) || !are_axes(axes, in[0].rank()) || starts.size() != axes.size() || ends.size() != axes.size() ||
      !all_at_least(steps, axes.size(), 1)) {
    return std::nullopt;
  }
  Shape out = in[0].shape;
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t& extent = out[axes[k]];
    if (starts[k] < 0 || starts[k] > ends[k] || ends[k] > extent) return std::nullopt;
    const int64_t length = ends[k] - starts[k];
    extent = length == 0 ? 0 : (length - 1) / steps[k] + 1;
  }
  return one(in[0].dtype, std::move(out));
}

Inferred infer_pad(Inputs in, const Attrs& attrs) {
  const auto& pads = attrs.ints(Attr::pads);
  const size_t rank = in[0].shape.size();
  if (!known(in) || !all_at_least(pads, 2 * rank, 0)) return std::nullopt;
  Shape out = in[0].shape;
  for (size_t d = 0; d < rank; ++d) {
    if (__builtin_add_overflow(out[d], pads[d], &out[d]) || __builtin_add_overflow(out[d], pads[rank + d], &out[d])) {
      return std::nullopt;
    }
  }
  return one(in[0].dtype, std::move(out));
}

// Indices must be in [0, extent) at run time (ONNX also allows negative ones: see exec).
Inferred infer_gather(Inputs in, const Attrs& attrs) {
  const int64_t axis = attrs.i(Attr::axis);
  if (in[0].dtype == DType::other || (in[1].dtype != DType::i64 && in[1].dtype != DType::i32)) return std::nullopt;
  if (!is_axis(axis, in[0].rank())) return std::nullopt;
  Shape out;
  for (int64_t d = 0; d < axis; ++d) out.push_back(in[0].shape[d]);
  for (int64_t extent : in[1].shape) out.push_back(extent);
  for (int64_t d = axis + 1; d < in[0].rank(); ++d) out.push_back(in[0].shape[d]);
  return one(in[0].dtype, std::move(out));
}

std::optional<DType> target(const Attrs& attrs) {
  const auto dtype = dtype_from_name(attrs.word(Attr::to));
  return dtype == DType::other ? std::nullopt : dtype;
}

Inferred infer_cast(Inputs in, const Attrs& attrs) {
  const auto to = target(attrs);
  if (!to || !known(in)) return std::nullopt;
  return one(*to, in[0].shape);
}

Inferred infer_fill(Inputs, const Attrs& attrs) {
  const auto to = target(attrs);
  const auto& shape = attrs.ints(Attr::shape);
  if (!to || !all_at_least(shape, shape.size(), 0)) return std::nullopt;
  return one(*to, Shape(std::span<const int64_t>(shape)));
}

Inferred infer_literal(Inputs in, const Attrs& attrs) {
  auto type = infer_fill(in, attrs);
  const auto count = static_cast<int64_t>(attrs.ints(Attr::values).size());
  return type && (*type)[0].elements() == count ? type : std::nullopt;
}

template <auto infer_fn>
Work work_copy(Inputs in, const Attrs& attrs) {
  return moved(0.0, in, *infer_fn(in, attrs));
}

// Slice and gather read only what they keep.
Work work_slice(Inputs in, const Attrs& attrs) { return {0.0, 2.0 * bytes_of(*infer_slice(in, attrs))}; }
Work work_gather(Inputs in, const Attrs& attrs) {
  return {0.0, bytes_of(in.subspan(1)) + 2.0 * bytes_of(*infer_gather(in, attrs))};
}

}  // namespace

OpSpec concat_spec() {
  return {
      Op::concat, 1, kAnyArity, false, false, {{Attr::axis, int64_t{0}, false}}, infer_concat, work_copy<infer_concat>};
}
OpSpec split_spec() {
  return {Op::split,   1,
          1,           false,
          false,       {{Attr::axis, int64_t{0}, false}, {Attr::sizes, Ints{}, false}},
          infer_split, work_copy<infer_split>};
}
OpSpec transpose_spec() {
  return {
      Op::transpose, 1, 1, false, false, {{Attr::perm, Ints{}, false}}, infer_transpose, work_copy<infer_transpose>};
}
// A view: no work. Extents of open dimensions are given as kRestExtent or kSameExtent.
OpSpec reshape_spec() {
  return {Op::reshape, 1, 1, false, false, {{Attr::shape, Ints{}, false}}, infer_reshape, no_work};
}
// Canonical only: axes increase, 0 <= start <= end <= extent, step >= 1. Left-out steps are 1.
OpSpec slice_spec() {
  return {
      Op::slice,
      1,
      1,
      false,
      false,
      {{Attr::axes, Ints{}, false}, {Attr::ends, Ints{}, false}, {Attr::starts, Ints{}, false}, {Attr::steps, Ints{}}},
      infer_slice,
      work_slice};
}
OpSpec pad_spec() {
  return {
      Op::pad, 1, 1, false, false, {{Attr::pads, Ints{}, false}, {Attr::value, 0.0}}, infer_pad, work_copy<infer_pad>};
}
OpSpec gather_spec() { return {Op::gather, 2, 2, false, false, {{Attr::axis, int64_t{0}}}, infer_gather, work_gather}; }
OpSpec cast_spec() {
  return {Op::cast,   1,
          1,          false,
          true,       {{Attr::to, std::string("f32"), false, dtype_names()}},
          infer_cast, work_copy<infer_cast>};
}
OpSpec fill_spec() {
  return {Op::fill,
          0,
          0,
          false,
          false,
          {{Attr::shape, Ints{}, false}, {Attr::to, std::string("f32"), true, dtype_names()}, {Attr::value, 0.0}},
          infer_fill,
          no_work};
}
// Certain whole numbers: the matrices that rules calculate with.
OpSpec literal_spec() {
  return {Op::literal,
          0,
          0,
          false,
          false,
          {{Attr::shape, Ints{}, false},
           {Attr::to, std::string("f32"), true, dtype_names()},
           {Attr::values, Ints{}, false}},
          infer_literal,
          no_work};
}

}  // namespace rlgo::ops
