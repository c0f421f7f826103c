// Operators that move elements without computing: concat, split, transpose, reshape, slice, pad, gather, cast, fill,
// literal.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

bool known(Inputs in) { return in[0].dtype != DType::other && same_dtype(in); }

// concat, split, transpose, reshape, slice, pad
template <Op op>
Inferred infer_moved(Inputs in, const Attrs& attrs) {
  return known(in) ? shaped(op, in[0].dtype, in, attrs) : std::nullopt;
}

// Indices must be in [0, extent) at run time (ONNX also allows negative ones: see exec).
Inferred infer_gather(Inputs in, const Attrs& attrs) {
  if (in[0].dtype == DType::other || (in[1].dtype != DType::i64 && in[1].dtype != DType::i32)) return std::nullopt;
  return shaped(Op::gather, in[0].dtype, in, attrs);
}

std::optional<DType> target(const Attrs& attrs) {
  const auto dtype = dtype_from_name(attrs.word(Attr::to));
  return dtype == DType::other ? std::nullopt : dtype;
}

Inferred infer_cast(Inputs in, const Attrs& attrs) {
  const auto to = target(attrs);
  return to && known(in) ? shaped(Op::cast, *to, in, attrs) : std::nullopt;
}

template <Op op>
Inferred infer_leaf(Inputs in, const Attrs& attrs) {
  const auto to = target(attrs);
  return to ? shaped(op, *to, in, attrs) : std::nullopt;
}

template <auto infer_fn>
Work work_copy(Inputs in, const Attrs& attrs) {
  return moved(0.0, in, *infer_fn(in, attrs));
}

// Slice and gather read only what they keep.
Work work_slice(Inputs in, const Attrs& attrs) { return {0.0, 2.0 * bytes_of(*infer_moved<Op::slice>(in, attrs))}; }
Work work_gather(Inputs in, const Attrs& attrs) {
  return {0.0, bytes_of(in.subspan(1)) + 2.0 * bytes_of(*infer_gather(in, attrs))};
}

}  // namespace

OpSpec concat_spec() {
  return {Op::concat,
          1,
          kAnyArity,
          false,
          false,
          {{Attr::axis, int64_t{0}, false}},
          infer_moved<Op::concat>,
          work_copy<infer_moved<Op::concat>>};
}
OpSpec split_spec() {
  return {Op::split,
          1,
          1,
          false,
          false,
          {{Attr::axis, int64_t{0}, false}, {Attr::sizes, Ints{}, false}},
          infer_moved<Op::split>,
          work_copy<infer_moved<Op::split>>};
}
OpSpec transpose_spec() {
  return {Op::transpose,
          1,
          1,
          false,
          false,
          {{Attr::perm, Ints{}, false}},
          infer_moved<Op::transpose>,
          work_copy<infer_moved<Op::transpose>>};
}
// A view: no work. Extents of open dimensions are given as kRestExtent or kSameExtent.
OpSpec reshape_spec() {
  return {Op::reshape, 1, 1, false, false, {{Attr::shape, Ints{}, false}}, infer_moved<Op::reshape>, no_work};
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
      infer_moved<Op::slice>,
      work_slice};
}
OpSpec pad_spec() {
  return {Op::pad,
          1,
          1,
          false,
          false,
          {{Attr::pads, Ints{}, false}, {Attr::value, 0.0}},
          infer_moved<Op::pad>,
          work_copy<infer_moved<Op::pad>>};
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
          infer_leaf<Op::fill>,
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
          infer_leaf<Op::literal>,
          no_work};
}

}  // namespace rlgo::ops
