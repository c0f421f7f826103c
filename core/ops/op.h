// The table of operators: what each takes, what comes out, and how much work it is.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/attrs.h"
#include "core/ops/extent.h"
#include "core/ops/types.h"

namespace rlgo::ops {

enum class Op : uint8_t {
#define RLGO_OP(name, id) name = id,
#include "core/ops/op_list.def"
#undef RLGO_OP
};
std::span<const Op> all_ops();  // in the order of op_list.def
std::string_view name(Op op);
std::optional<Op> op_from_name(std::string_view name);  // nothing where unknown

// Arithmetic operations (a multiply-add counts 2) and bytes that must cross memory at least once (inputs + outputs).
struct Work {
  double flops = 0;
  double bytes = 0;
};

using Types = std::vector<TensorType>;

// An attribute of an operator, with its kind by example: the alternative that `fallback` holds. Required where
// !optional.
struct AttrSpec {
  Attr key;
  AttrValue fallback;
  bool optional = true;
  std::span<const std::string_view> words = {};  // what a word may be; others fit no inputs
};

// Extents that the attribute `shape` of reshape may hold instead of a number: what is left over (once), and the extent
// of the input's axis at the same place.
constexpr int64_t kRestExtent = -1;
constexpr int64_t kSameExtent = -2;

constexpr int kAnyArity = 1 << 20;

struct OpSpec {
  Op op;
  int min_inputs;
  int max_inputs;    // kAnyArity: no upper bound
  bool commutative;  // the order of two inputs does not matter
  bool elementwise;  // output element depends only on the (broadcast) elements at the same place
  std::vector<AttrSpec> attrs;
  // Types of the outputs, or nothing where inputs and attributes do not fit together: a normal answer, which rules rely
  // on. `attrs` are complete and of the right kinds (see complete_attrs). Input types are static unless op == opaque.
  std::optional<Types> (*infer)(std::span<const TensorType> inputs, const Attrs& attrs);
  // Requires that infer succeeded. Leaves (input, weight, fill) and opaque operators have no work.
  Work (*work)(std::span<const TensorType> inputs, const Attrs& attrs);
};

// Whether a sum of two constants is so small next to the larger of them (their magnitude) that the model adds one and
// takes the other away to round what stands between.
inline bool cancels(double largest, double sum) { return largest > 0 && std::abs(sum) <= 0x1p-10 * largest; }

const OpSpec& spec(Op op);  // arity, attributes, inference, work

// `given` with the defaults of the operator filled in. Nothing (and a reason) where an attribute is unknown to the
// operator, missing, or of the wrong kind (an int is accepted for a float).
std::optional<Attrs> complete_attrs(Op op, const Attrs& given, std::string* reason = nullptr);

// complete_attrs + arity + infer. Nothing where it does not fit; then `reason` states why. Where inputs have open
// extents, it must fit at all sizes; or, with `required`, at those where what is appended there holds.
std::optional<Types> infer(Op op, std::span<const TensorType> inputs, const Attrs& complete,
                           std::string* reason = nullptr, std::vector<Requirement>* required = nullptr);

// The attribute `shape` with which reshape makes `wanted` of the input at all sizes, open extents as kSameExtent and
// kRestExtent; nothing where there is none.
std::optional<Ints> reshape_items(const TensorType& input, std::span<const Extent> wanted);

}  // namespace rlgo::ops
