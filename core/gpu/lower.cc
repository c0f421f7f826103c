#include "core/gpu/lower.h"

#include <cstring>

#include "core/base/error.h"
#include "core/gpu/places.h"

namespace rlgo::gpu {

using ops::Attr;
using ops::Op;

namespace {

struct Direct {
  Op op;
  Function function;
};
// Operators that are a function of elements, without attributes.
constexpr Direct kDirect[] = {
#define RLGO_FUNCTION(name, ...) {Op::name, k_##name},
#include "core/ops/functions.def"
#undef RLGO_FUNCTION
    {Op::logical_not, k_logical_not},
    {Op::cast, k_cast},
    {Op::add, k_add},
    {Op::sub, k_sub},
    {Op::mul, k_mul},
    {Op::pow, k_pow},
    {Op::min, k_min},
    {Op::max, k_max},
    {Op::prelu, k_prelu},
    {Op::equal, k_equal},
    {Op::less, k_less},
    {Op::less_equal, k_less_equal},
    {Op::logical_and, k_logical_and},
    {Op::logical_or, k_logical_or},
    {Op::where, k_where},
};

void map_all(const NodeCall& call, Function function, std::initializer_list<double> numbers = {}) {
  call.steps.add(make_map(call, function, call.in, call.out[0], numbers));
}

// The parameters of channels broadcast along the others of x[N,C,...].
void lower_batch_norm(const NodeCall& call) {
  auto in = call.in;
  for (size_t k = 1; k < in.size(); ++k) {
    for (int d = 2; d < in[0].type.rank(); ++d) in[k].type.shape.push_back(1);
  }
  call.steps.add(make_map(call, k_batch_norm, in, call.out[0], {call.attrs().f(Attr::eps)}));
}

}  // namespace

void NodeCall::refuse(const std::string& why) const {
  std::string types;
  for (const auto& operand : in) types += (types.empty() ? "" : ", ") + to_string(operand.type);
  fail("--target cuda has no kernel for {} of {}: {}; take another --target",
       info.opaque != nullptr ? std::string_view(info.opaque->op_type) : ops::name(info.op),
       types.empty() ? "nothing" : types, why);
}

Step make_step(Kind kind, int out) {
  Step step;
  std::memset(&step, 0, sizeof(step));  // what no field names is part of plans that are compared
  step.kind = kind;
  step.out = out;
  for (auto& buffer : step.in) buffer = kNone;
  return step;
}

Type kernel_type(const NodeCall& call, const ops::TensorType& type) {
  using ops::DType;
  switch (type.dtype) {
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::f64:
    case DType::i64:
    case DType::i32:
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return static_cast<Type>(type.dtype);
    default:
      call.refuse(fmt::format("elements of type {}", ops::name(type.dtype)));
  }
}

Step make_map(const NodeCall& call, Function function, std::span<const Operand> in, const Operand& out,
              std::initializer_list<double> numbers) {
  Step step = make_step(kMap, out.buffer);
  Map& map = step.map;
  map.function = function;
  map.inputs = static_cast<int32_t>(in.size());
  map.count = out.type.elements();
  map.out_type = kernel_type(call, out.type);
  size_t n = 0;
  for (const double number : numbers) map.numbers[n++] = static_cast<float>(number);
  Walk walk(call, out.type.shape);
  for (size_t k = 0; k < in.size(); ++k) {
    step.in[k] = in[k].buffer;
    map.types[k] = kernel_type(call, in[k].type);
    walk.add(broadcast_steps(in[k].type.shape, out.type.shape));
  }
  walk.write(map.axes, map.extents);
  for (size_t k = 0; k < in.size(); ++k) walk.write_steps(k, map.steps[k]);
  return step;
}

void add_activation(const NodeCall& call, const Operand& x, const std::string& act) {
  if (act == "none") return;
  const auto function = act == "relu"         ? k_relu
                        : act == "sigmoid"    ? k_sigmoid
                        : act == "tanh"       ? k_tanh
                        : act == "gelu"       ? k_gelu
                        : act == "hard_swish" ? k_hard_swish
                                              : k_cast;
  if (function == k_cast) call.refuse("the activation " + act);
  call.steps.add(make_map(call, function, std::span(&x, 1), x));
}

bool lower_map(const NodeCall& call) {
  const auto& attrs = call.attrs();
  const bool floats = ops::is_float(call.out[0].type.dtype);
  for (const auto& [op, function] : kDirect) {
    if (op == call.info.op) return map_all(call, function), true;
  }
  switch (call.info.op) {
    case Op::div:
      return map_all(call, floats ? k_div : k_quotient), true;
    case Op::mod:
      return map_all(call, floats || attrs.i(Attr::fmod) == 1 ? k_fmod : k_mod), true;
    case Op::gelu:
      return map_all(call, attrs.word(Attr::approximate) == "tanh" ? k_gelu_tanh : k_gelu), true;
    case Op::clip:
      return map_all(call, k_clip, {attrs.f(Attr::min), attrs.f(Attr::max)}), true;
    case Op::leaky_relu:
      return map_all(call, k_leaky_relu, {attrs.f(Attr::alpha)}), true;
    case Op::hard_sigmoid:
      return map_all(call, k_hard_sigmoid, {attrs.f(Attr::alpha), attrs.f(Attr::beta)}), true;
    case Op::elu:
      return map_all(call, k_exponential_unit, {attrs.f(Attr::alpha), 1, 1}), true;
    case Op::selu:
      return map_all(call, k_exponential_unit, {attrs.f(Attr::alpha), 1, attrs.f(Attr::gamma)}), true;
    case Op::celu:
      return map_all(call, k_exponential_unit, {attrs.f(Attr::alpha), 1 / attrs.f(Attr::alpha), 1}), true;
    case Op::swish:
      return map_all(call, k_swish, {attrs.f(Attr::alpha)}), true;
    case Op::thresholded_relu:
      return map_all(call, k_thresholded_relu, {attrs.f(Attr::alpha)}), true;
    case Op::batch_norm:
      return lower_batch_norm(call), true;
    default:
      return false;
  }
}

void lower(const NodeCall& call) {
  for (const auto& operand : call.in) {
    if (!operand.type.is_static()) call.refuse("sizes that are not known");
  }
  bool empty = true;
  for (const auto& operand : call.out) empty = empty && operand.type.elements() == 0;
  if (empty) return;
  const bool known =
      lower_map(call) || lower_move(call) || lower_fold(call) || lower_window(call) || lower_matmul(call);
  if (!known) call.refuse("it is not one of its operators");
}

}  // namespace rlgo::gpu
