// Random calls of every operator with a kernel, for the tests of core/exec and core/evaluate.
#pragma once

#include "core/exec/values.h"
#include "core/ops/moves.h"
#include "tests/core/exec/calls.h"

namespace rlgo::exec {

using ops::DType;
using ops::Shape;
using ops::TensorType;
using ops::Types;

struct RandomCall {
  Types inputs;
  Attrs attrs;
};

inline int64_t pick(Rng& rng, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng.below(static_cast<uint64_t>(high - low + 1)));
}
inline bool coin(Rng& rng) { return rng.below(2) == 1; }

// Extents 1..4, now and then 0.
inline Shape some_shape(Rng& rng, int64_t rank) {
  Shape shape;
  for (int64_t d = 0; d < rank; ++d) shape.push_back(rng.below(12) == 0 ? 0 : pick(rng, 1, 4));
  return shape;
}
inline TensorType f32(Shape shape) { return {DType::f32, std::move(shape)}; }

inline std::string some_act(Rng& rng) {
  const std::vector<std::string> words{"none", "relu", "sigmoid", "tanh", "gelu", "hard_swish"};
  return words[rng.below(words.size())];
}

inline Ints picks(Rng& rng, int64_t count, int64_t low, int64_t high) {
  Ints out;
  for (int64_t k = 0; k < count; ++k) out.push_back(pick(rng, low, high));
  return out;
}
inline Shape with_extents(Shape shape, const Ints& extents) {
  for (const int64_t extent : extents) shape.push_back(extent);
  return shape;
}

// Over one to three axes.
inline RandomCall some_windows(Rng& rng, Op op) {
  const bool conv = op == Op::conv2d;
  const int64_t axes = pick(rng, 1, 3), group = conv ? pick(rng, 1, 2) : 1, channels = group * pick(rng, 1, 2);
  const Ints kernel = picks(rng, axes, 1, 3);
  RandomCall call;
  call.inputs = {f32(with_extents({pick(rng, 0, 2), channels}, picks(rng, axes, 2, 7)))};
  Ints pads;
  for (int64_t d = 0; d < 2 * axes; ++d) pads.push_back(pick(rng, 0, kernel[static_cast<size_t>(d % axes)] - 1));
  call.attrs = {{Attr::strides, picks(rng, axes, 1, 3)}, {Attr::pads, pads}};
  if (conv) {
    const int64_t out = group * pick(rng, 1, 6);
    call.inputs.push_back(f32(with_extents({out, channels / group}, kernel)));
    if (coin(rng)) call.inputs.push_back(f32({out}));
    call.attrs.set(Attr::group, group);
    call.attrs.set(Attr::act, some_act(rng));
  } else {
    call.attrs.set(Attr::kernel, kernel);
    call.attrs.set(Attr::ceil_mode, pick(rng, 0, 1));
  }
  if (op == Op::avg_pool) {
    call.attrs.set(Attr::count_include_pad, pick(rng, 0, 1));
  } else {
    call.attrs.set(Attr::dilations, picks(rng, axes, 1, 2));
  }
  return call;
}

inline RandomCall some_matmul(Rng& rng) {
  const int64_t m = pick(rng, 0, 4), k = pick(rng, 0, 4), n = pick(rng, 1, 4), batch = pick(rng, 1, 3);
  RandomCall call;
  call.inputs = {coin(rng) ? f32({m, k}) : f32({batch, m, k}), coin(rng) ? f32({k, n}) : f32({batch, k, n})};
  const std::vector<Shape> biases{{n}, {}, {m, n}, {m, 1}};
  if (coin(rng)) call.inputs.push_back(f32(biases[rng.below(biases.size())]));
  call.attrs = {{Attr::act, some_act(rng)}};
  return call;
}

inline RandomCall some_conv_transpose(Rng& rng) {
  const int64_t axes = pick(rng, 1, 3), group = pick(rng, 1, 2), channels = group * pick(rng, 1, 2),
                out = pick(rng, 1, 2);
  RandomCall call;
  call.inputs = {f32(with_extents({pick(rng, 0, 2), channels}, picks(rng, axes, 1, 4))),
                 f32(with_extents({channels, out}, picks(rng, axes, 1, 3)))};
  if (coin(rng)) call.inputs.push_back(f32({out * group}));
  call.attrs = {{Attr::group, group},
                {Attr::strides, picks(rng, axes, 1, 3)},
                {Attr::dilations, picks(rng, axes, 1, 2)},
                {Attr::output_padding, picks(rng, axes, 0, 1)},
                {Attr::pads, picks(rng, 2 * axes, 0, 1)}};
  return call;
}

inline RandomCall some_resize(Rng& rng) {
  const std::vector<std::string> modes{"nearest", "linear"}, coordinates{"half_pixel", "asymmetric", "align_corners"};
  RandomCall call;
  call.inputs = {f32({1, pick(rng, 1, 2), pick(rng, 1, 4), pick(rng, 1, 4)})};
  const bool asymmetric = coin(rng);
  const std::string mode = asymmetric ? "nearest" : modes[rng.below(2)];
  call.attrs = {{Attr::mode, mode},
                {Attr::coordinates, asymmetric         ? "asymmetric"
                                    : mode == "linear" ? coordinates[2 * rng.below(2)]
                                                       : "half_pixel"},
                {Attr::rounding, std::string(asymmetric ? "floor" : "round_prefer_floor")},
                {Attr::scale_h, static_cast<double>(pick(rng, 1, 3))},
                {Attr::scale_w, asymmetric ? 1.5 : 2.0}};
  return call;
}

// Of booleans, and of choices by booleans.
inline RandomCall some_logic(Rng& rng, Op op) {
  const Shape shape = some_shape(rng, pick(rng, 0, 3));
  const TensorType truth{DType::boolean, shape};
  RandomCall call;
  call.inputs = {truth};
  if (op == Op::logical_and || op == Op::logical_or)
    call.inputs.push_back({DType::boolean, coin(rng) ? shape : Shape{1}});
  if (op == Op::where) {
    call.inputs.push_back(f32(coin(rng) ? shape : Shape{}));
    call.inputs.push_back(f32(coin(rng) ? shape : Shape{1}));
  }
  return call;
}

inline RandomCall some_shape_call(Rng& rng, Op op) {
  const int64_t rank = pick(rng, 1, 4), axis = pick(rng, 0, rank - 1);
  const auto index = static_cast<size_t>(axis);
  RandomCall call;
  call.inputs = {{coin(rng) ? DType::f32 : DType::i64, some_shape(rng, rank)}};
  const Shape shape = call.inputs[0].shape;
  Ints ints;
  switch (op) {
    case Op::concat:
      for (int64_t more = pick(rng, 0, 2); more > 0; --more) {
        call.inputs.push_back(call.inputs[0]);
        call.inputs.back().shape[index] = pick(rng, 0, 3);
      }
      call.attrs = {{Attr::axis, axis}};
      break;
    case Op::split:
      for (int64_t rest = shape[index]; rest > 0 || ints.empty(); rest -= ints.back())
        ints.push_back(pick(rng, 0, rest));
      call.attrs = {{Attr::axis, axis}, {Attr::sizes, ints}};
      break;
    case Op::transpose:
      for (int64_t d = 0; d < rank; ++d) ints.insert(ints.begin() + pick(rng, 0, d), d);
      call.attrs = {{Attr::perm, ints}};
      break;
    case Op::reshape:
      call.attrs = {{Attr::shape, Ints{1, call.inputs[0].elements()}}};
      break;
    case Op::slice: {
      const int64_t start = pick(rng, 0, shape[index]);
      call.attrs = {{Attr::axes, Ints{axis}},
                    {Attr::starts, Ints{start}},
                    {Attr::ends, Ints{pick(rng, start, shape[index])}},
                    {Attr::steps, Ints{pick(rng, 1, 3)}}};
      break;
    }
    case Op::pad:
      for (int64_t d = 0; d < 2 * rank; ++d) ints.push_back(pick(rng, 0, 2));
      call.attrs = {{Attr::pads, ints}, {Attr::value, 2.0}};
      break;
    case Op::expand:
      ints = Ints(shape.begin(), shape.end());
      if (shape[index] == 1) ints[index] = 3;
      if (coin(rng)) ints.insert(ints.begin(), 2);
      call.attrs = {{Attr::shape, ints}};
      break;
    case Op::gather:
      call.inputs.push_back({coin(rng) ? DType::i32 : DType::i64, some_shape(rng, pick(rng, 0, 2))});
      if (call.inputs[0].shape[index] == 0) call.inputs[0].shape[index] = 2;
      call.attrs = {{Attr::axis, axis}};
      break;
    default:
      call.attrs = {{Attr::to, std::string(coin(rng) ? "f32" : "i32")}};
  }
  return call;
}

// Of blocks of pixels, and of places.
inline RandomCall some_index_call(Rng& rng, Op op) {
  const int64_t rank = pick(rng, 2, 4), axis = pick(rng, 0, rank - 1), block = pick(rng, 1, 3);
  const std::vector<std::string> modes{"DCR", "CRD"}, reductions{"none", "add", "mul", "max", "min"};
  Shape x = some_shape(rng, rank);
  for (auto& extent : x) extent = std::max<int64_t>(1, extent);  // an index needs a place
  Shape places = x;
  for (auto& extent : places) extent = pick(rng, 1, extent);
  RandomCall call;
  call.inputs = {f32(x)};
  switch (op) {
    case Op::depth_to_space:
      call.inputs = {f32({pick(rng, 0, 2), pick(rng, 1, 2) * block * block, pick(rng, 1, 3), pick(rng, 1, 3)})};
      call.attrs = {{Attr::blocksize, block}, {Attr::mode, modes[rng.below(2)]}};
      break;
    case Op::space_to_depth:
      call.inputs = {f32({pick(rng, 0, 2), pick(rng, 1, 3), pick(rng, 1, 3) * block, pick(rng, 1, 3) * block})};
      call.attrs = {{Attr::blocksize, block}};
      break;
    case Op::gather_elements:
    case Op::scatter_elements:
      call.inputs.push_back({coin(rng) ? DType::i32 : DType::i64, places});
      if (op == Op::scatter_elements) call.inputs.push_back(f32(places));
      call.attrs = {{Attr::axis, axis}};
      break;
    case Op::gather_nd:
    case Op::scatter_nd: {
      const int64_t batch = op == Op::gather_nd ? pick(rng, 0, 1) : 0, depth = pick(rng, 1, rank - batch);
      Shape lists;
      for (int64_t d = 0; d < batch; ++d) lists.push_back(x[static_cast<size_t>(d)]);
      Shape picked = lists;
      for (const int64_t extent : {pick(rng, 1, 3), pick(rng, 1, 2)}) lists.push_back(extent), picked.push_back(extent);
      lists.push_back(depth);
      for (int64_t d = batch + depth; d < rank; ++d) picked.push_back(x[static_cast<size_t>(d)]);
      call.inputs.push_back({DType::i64, lists});
      if (op == Op::scatter_nd) call.inputs.push_back(f32(picked));
      if (op == Op::gather_nd) call.attrs = {{Attr::batch_dims, batch}};
      break;
    }
    case Op::cumsum:
      call.attrs = {{Attr::axis, axis}, {Attr::exclusive, pick(rng, 0, 1)}, {Attr::reverse, pick(rng, 0, 1)}};
      break;
    case Op::trilu:
      call.attrs = {{Attr::diagonal, pick(rng, -2, 2)}, {Attr::upper, pick(rng, 0, 1)}};
      break;
    default:  // one_hot
      call.inputs = {{DType::i64, x}, f32({2})};
      call.attrs = {{Attr::axis, pick(rng, 0, rank)}, {Attr::depth, pick(rng, 1, 9)}};
  }
  const bool scatters = op == Op::scatter_elements || op == Op::scatter_nd;
  if (scatters) call.attrs.set(Attr::reduction, reductions[rng.below(5)]);
  return call;
}

inline RandomCall some_reduction(Rng& rng, Op op) {
  const int64_t rank = pick(rng, 2, 4);
  RandomCall call;
  call.inputs = {f32(some_shape(rng, rank))};
  const Shape shape = call.inputs[0].shape;
  if (op == Op::batch_norm) {
    for (int i = 0; i < 4; ++i) call.inputs.push_back(f32({shape[1]}));
  } else if (op == Op::instance_norm || op == Op::group_norm) {
    const int64_t group = op == Op::group_norm ? pick(rng, 1, 2) : 1, channels = group * pick(rng, 1, 3);
    call.inputs = {f32({pick(rng, 1, 2), channels, pick(rng, 2, 4)}), f32({channels}), f32({channels})};
    if (op == Op::group_norm) call.attrs = {{Attr::group, group}};
  } else if (op == Op::arg_max || op == Op::arg_min) {
    call.attrs = {
        {Attr::axis, pick(rng, 0, rank - 1)}, {Attr::keepdims, pick(rng, 0, 1)}, {Attr::select_last, pick(rng, 0, 1)}};
  } else if (op == Op::softmax || op == Op::log_softmax || op == Op::lp_norm) {
    call.attrs = {{Attr::axis, pick(rng, 0, rank - 1)}};
    if (op == Op::lp_norm) call.attrs.set(Attr::order, pick(rng, 1, 2));
  } else if (op == Op::layer_norm || op == Op::rms_norm) {
    const int64_t axis = pick(rng, 0, rank - 1);
    call.attrs = {{Attr::axis, axis}};
    for (int64_t parameters = op == Op::rms_norm ? 1 : pick(rng, 1, 2); parameters > 0; --parameters) {
      call.inputs.push_back(f32(Shape(std::span(shape.data() + axis, static_cast<size_t>(rank - axis)))));
    }
  } else {
    Ints axes;
    for (int64_t d = 0; d < rank; ++d) {
      if (coin(rng)) axes.push_back(d);
    }
    call.attrs = {{Attr::axes, axes.empty() ? Ints{0} : axes}, {Attr::keepdims, pick(rng, 0, 1)}};
  }
  return call;
}

inline RandomCall some_attention(Rng& rng) {
  const int64_t batch = pick(rng, 1, 2), groups = pick(rng, 1, 2), heads = groups * pick(rng, 1, 2);
  const int64_t rows = pick(rng, 1, 4), keys = pick(rng, 1, 4), depth = pick(rng, 1, 3), columns = pick(rng, 1, 3);
  RandomCall call;
  call.attrs = {{Attr::scale, 0.5}, {Attr::causal, pick(rng, 0, 1)}, {Attr::softcap, coin(rng) ? 2.0 : 0.0}};
  if (coin(rng)) {
    call.inputs = {f32({batch, heads, rows, depth}), f32({batch, groups, keys, depth}),
                   f32({batch, groups, keys, columns})};
  } else {
    call.inputs = {f32({batch, rows, heads * depth}), f32({batch, keys, groups * depth}),
                   f32({batch, keys, groups * columns})};
    call.attrs.set(Attr::heads, heads);
    call.attrs.set(Attr::kv_heads, groups);
  }
  if (coin(rng)) call.inputs.push_back(f32(coin(rng) ? Shape{rows, keys} : Shape{batch, 1, rows, keys}));
  return call;
}

inline RandomCall some_recurrent(Rng& rng) {
  const int64_t gates = std::vector<int64_t>{1, 3, 4}[rng.below(3)], directions = pick(rng, 1, 2);
  const int64_t units = pick(rng, 1, 3), batch = pick(rng, 1, 2), inputs = pick(rng, 1, 3), rows = gates * units;
  RandomCall call;
  call.inputs = {f32({pick(rng, 1, 3), batch, inputs}), f32({directions, rows, inputs}),
                 f32({directions, rows, units})};
  if (coin(rng)) call.inputs.push_back(f32({directions, 2 * rows}));
  for (int64_t k = gates == 4 ? 2 : 1; k > 0 && call.inputs.size() > 3 && coin(rng); --k)
    call.inputs.push_back(f32({directions, batch, units}));
  call.attrs = {{Attr::gates, gates},
                {Attr::reverse, directions == 1 ? pick(rng, 0, 1) : 0},
                {Attr::reset_after, gates == 3 ? pick(rng, 0, 1) : 0}};
  return call;
}

// A call of `op`, which need not fit; nothing for operators without a kernel of their own.
inline std::optional<RandomCall> some_call(Rng& rng, Op op) {
  RandomCall call;
  switch (op) {
    case Op::input:
    case Op::weight:
    case Op::opaque:
      return std::nullopt;  // what they are made of is no type or attribute: interpreter_test.cc
    case Op::conv2d:
    case Op::max_pool:
    case Op::avg_pool:
      return some_windows(rng, op);
    case Op::conv_transpose:
      return some_conv_transpose(rng);
    case Op::resize:
      return some_resize(rng);
    case Op::where:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_not:
      return some_logic(rng, op);
    case Op::matmul:
      return some_matmul(rng);
    case Op::attention:
      return some_attention(rng);
    case Op::recurrent:
      return some_recurrent(rng);
    case Op::global_avg_pool:
      call.inputs = {f32(some_shape(rng, 4))};
      return call;
    case Op::fill:
      call.attrs = {{Attr::shape, Ints{pick(rng, 0, 3), pick(rng, 1, 3)}},
                    {Attr::value, 2.0},
                    {Attr::to, std::string(coin(rng) ? "f32" : "i64")}};
      return call;
    case Op::literal:
      call.attrs = {{Attr::shape, Ints{1, 3}},
                    {Attr::values, Ints{pick(rng, -3, 3), 0, pick(rng, 1, 9)}},
                    {Attr::to, std::string(coin(rng) ? "f32" : "i64")}};
      return call;
    case Op::concat:
    case Op::split:
    case Op::transpose:
    case Op::reshape:
    case Op::slice:
    case Op::pad:
    case Op::gather:
    case Op::cast:
    case Op::expand:
      return some_shape_call(rng, op);
    case Op::depth_to_space:
    case Op::space_to_depth:
    case Op::gather_elements:
    case Op::gather_nd:
    case Op::scatter_elements:
    case Op::scatter_nd:
    case Op::cumsum:
    case Op::trilu:
    case Op::one_hot:
      return some_index_call(rng, op);
    default:
      if (!ops::spec(op).elementwise) return some_reduction(rng, op);
      if (op == Op::mod) call.attrs = {{Attr::fmod, int64_t{1}}};
      const Shape shape = some_shape(rng, pick(rng, 0, 4));
      call.inputs = {f32(shape)};
      if (ops::spec(op).min_inputs == 2) {
        call.inputs.push_back(f32(coin(rng) ? shape : Shape{1}));
        if (coin(rng)) std::swap(call.inputs[0], call.inputs[1]);
      }
      return call;
  }
}

inline Tensors values_for(Op op, const RandomCall& call, uint64_t seed) {
  Tensors in;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const int64_t bound = ops::holds_places(op, i) ? ops::places_end(op, call.inputs[0], call.inputs[1],
                                                                     *ops::complete_attrs(op, call.attrs))
                                                   : kIndexBound;
    auto value = random_value(call.inputs[i], hash_combine(seed, i), 1.0, bound);
    in.push_back(op == Op::pow || op == Op::sqrt || op == Op::log || op == Op::batch_norm || op == Op::reduce_log_sum ||
                         op == Op::reciprocal || (op == Op::mod && value.is_floating_point())
                     ? value.abs() + 0.5
                     : value);
  }
  return in;
}

}  // namespace rlgo::exec
