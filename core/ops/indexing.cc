// Operators that place elements by indices or in blocks, sums along an axis, and triangles.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

constexpr std::string_view kDepthModes[] = {"DCR", "CRD"};
constexpr std::string_view kReductions[] = {"none", "add", "mul", "max", "min"};

bool is_index(const TensorType& type) { return type.dtype == DType::i64 || type.dtype == DType::i32; }
// Types that sums are defined for in runtimes.
bool is_summed(DType dtype) { return is_float(dtype) || dtype == DType::i64 || dtype == DType::i32; }

template <Op op>
Inferred infer_blocks(Inputs in, const Attrs& attrs) {
  if constexpr (op == Op::depth_to_space) {
    const auto& mode = attrs.word(Attr::mode);
    if (mode != "DCR" && mode != "CRD") return std::nullopt;
  }
  return in[0].dtype != DType::other ? shaped(op, in[0].dtype, in, attrs) : std::nullopt;
}

template <Op op>
Inferred infer_gathered(Inputs in, const Attrs& attrs) {
  if (in[0].dtype == DType::other || !is_index(in[1])) return std::nullopt;
  return shaped(op, in[0].dtype, in, attrs);
}

template <Op op>
Inferred infer_scattered(Inputs in, const Attrs& attrs) {
  const auto& reduction = attrs.word(Attr::reduction);
  if (std::ranges::find(kReductions, reduction) == std::end(kReductions)) return std::nullopt;
  if (in[0].dtype == DType::other || in[2].dtype != in[0].dtype || !is_index(in[1])) return std::nullopt;
  if (reduction != "none" && !is_summed(in[0].dtype)) return std::nullopt;
  return shaped(op, in[0].dtype, in, attrs);
}

Inferred infer_cumsum(Inputs in, const Attrs& attrs) {
  if (!is_summed(in[0].dtype) || !is_flag(attrs.i(Attr::exclusive)) || !is_flag(attrs.i(Attr::reverse)))
    return std::nullopt;
  return shaped(Op::cumsum, in[0].dtype, in, attrs);
}

Inferred infer_trilu(Inputs in, const Attrs& attrs) {
  if (in[0].dtype == DType::other || !is_flag(attrs.i(Attr::upper))) return std::nullopt;
  return shaped(Op::trilu, in[0].dtype, in, attrs);
}

Inferred infer_one_hot(Inputs in, const Attrs& attrs) {
  return is_index(in[0]) && in[1].dtype != DType::other ? shaped(Op::one_hot, in[1].dtype, in, attrs) : std::nullopt;
}

template <auto infer_fn>
Work work_copy(Inputs in, const Attrs& attrs) {
  return moved(0.0, in, *infer_fn(in, attrs));
}
// What is read of the first operand is as much as is written.
template <Op op>
Work work_gathered(Inputs in, const Attrs& attrs) {
  return {0.0, bytes_of(in.subspan(1)) + 2.0 * bytes_of(*infer_gathered<op>(in, attrs))};
}
Work work_cumsum(Inputs in, const Attrs& attrs) { return moved(count(in[0]), in, *infer_cumsum(in, attrs)); }

template <Op op>
OpSpec scatter_spec(std::vector<AttrSpec> attrs) {
  attrs.push_back({Attr::reduction, std::string("none"), true, kReductions});
  return {op, 3, 3, false, false, std::move(attrs), infer_scattered<op>, work_copy<infer_scattered<op>>};
}

}  // namespace

// depth_to_space(x[N,C,H,W]) -> [N,C/b^2,H*b,W*b]: channels are [b,b,C/b^2] (DCR) or [C/b^2,b,b] (CRD), as in ONNX.
OpSpec depth_to_space_spec() {
  return {Op::depth_to_space,
          1,
          1,
          false,
          false,
          {{Attr::blocksize, int64_t{1}, false}, {Attr::mode, std::string("DCR"), true, kDepthModes}},
          infer_blocks<Op::depth_to_space>,
          work_copy<infer_blocks<Op::depth_to_space>>};
}
// space_to_depth(x[N,C,H,W]) -> [N,b^2*C,H/b,W/b]: the inverse of the mode DCR.
OpSpec space_to_depth_spec() {
  return {Op::space_to_depth,
          1,
          1,
          false,
          false,
          {{Attr::blocksize, int64_t{1}, false}},
          infer_blocks<Op::space_to_depth>,
          work_copy<infer_blocks<Op::space_to_depth>>};
}
// gather_elements(x, indices): indices in [-extent, extent) along `axis`, one for each element of the output.
OpSpec gather_elements_spec() {
  return {Op::gather_elements,
          2,
          2,
          false,
          false,
          {{Attr::axis, int64_t{0}}},
          infer_gathered<Op::gather_elements>,
          work_gathered<Op::gather_elements>};
}
// gather_nd(x, indices[..., k]): lists of k indices, into the axes of x behind the first `batch_dims`.
OpSpec gather_nd_spec() {
  return {Op::gather_nd,
          2,
          2,
          false,
          false,
          {{Attr::batch_dims, int64_t{0}}},
          infer_gathered<Op::gather_nd>,
          work_gathered<Op::gather_nd>};
}
// scatter_elements(x, indices, updates) and scatter_nd: x with the updates put, or reduced, where the indices lead.
OpSpec scatter_elements_spec() { return scatter_spec<Op::scatter_elements>({{Attr::axis, int64_t{0}}}); }
OpSpec scatter_nd_spec() { return scatter_spec<Op::scatter_nd>({}); }
// cumsum(x): each element becomes the sum of those up to it along `axis`.
OpSpec cumsum_spec() {
  return {Op::cumsum,
          1,
          1,
          false,
          false,
          {{Attr::axis, int64_t{0}, false}, {Attr::exclusive, int64_t{0}}, {Attr::reverse, int64_t{0}}},
          infer_cumsum,
          work_cumsum};
}
// trilu(x): matrices with zeros below (`upper`) or above a diagonal.
OpSpec trilu_spec() {
  return {Op::trilu,   1,
          1,           false,
          false,       {{Attr::diagonal, int64_t{0}}, {Attr::upper, int64_t{1}}},
          infer_trilu, work_copy<infer_trilu>};
}
// one_hot(indices, [off, on]): along a new `axis` of `depth` places the one of the index is on; an index outside of
// [-depth, depth) turns on none.
OpSpec one_hot_spec() {
  return {Op::one_hot,
          2,
          2,
          false,
          false,
          {{Attr::axis, int64_t{0}, false}, {Attr::depth, int64_t{1}, false}},
          infer_one_hot,
          work_copy<infer_one_hot>};
}

}  // namespace rlgo::ops
