// Comparisons, logic, and the choice between two tensors. All broadcast; truth is a boolean tensor.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

Inferred infer_truth(Inputs in, const Attrs& attrs, bool fits) {
  return same_dtype(in) && fits ? shaped(Op::equal, DType::boolean, in, attrs) : std::nullopt;
}

Inferred infer_equal(Inputs in, const Attrs& attrs) { return infer_truth(in, attrs, in[0].dtype != DType::other); }
Inferred infer_order(Inputs in, const Attrs& attrs) { return infer_truth(in, attrs, is_number(in[0].dtype)); }
Inferred infer_logic(Inputs in, const Attrs& attrs) { return infer_truth(in, attrs, in[0].dtype == DType::boolean); }
Inferred infer_not(Inputs in, const Attrs&) {
  if (in[0].dtype != DType::boolean) return std::nullopt;
  return one(DType::boolean, in[0].shape);
}

Inferred infer_where(Inputs in, const Attrs& attrs) {
  if (in[0].dtype != DType::boolean || in[1].dtype != in[2].dtype || in[1].dtype == DType::other) return std::nullopt;
  return shaped(Op::where, in[1].dtype, in, attrs);
}

template <auto infer_fn>
Work work_each(Inputs in, const Attrs& attrs) {
  const auto out = *infer_fn(in, attrs);
  return moved(count(out[0]), in, out);
}

OpSpec binary(Op op, bool commutative, decltype(OpSpec::infer) infer, decltype(OpSpec::work) work) {
  return {op, 2, 2, commutative, true, {}, infer, work};
}

}  // namespace

OpSpec equal_spec() { return binary(Op::equal, true, infer_equal, work_each<infer_equal>); }
OpSpec less_spec() { return binary(Op::less, false, infer_order, work_each<infer_order>); }
OpSpec less_equal_spec() { return binary(Op::less_equal, false, infer_order, work_each<infer_order>); }
OpSpec logical_and_spec() { return binary(Op::logical_and, true, infer_logic, work_each<infer_logic>); }
OpSpec logical_or_spec() { return binary(Op::logical_or, true, infer_logic, work_each<infer_logic>); }
OpSpec logical_not_spec() { return {Op::logical_not, 1, 1, false, true, {}, infer_not, work_each<infer_not>}; }
// where(condition, a, b): a where the condition holds, else b.
OpSpec where_spec() { return {Op::where, 3, 3, false, true, {}, infer_where, work_each<infer_where>}; }

}  // namespace rlgo::ops
