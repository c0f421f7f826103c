// Shapes, misfits and work of each operator, by hand.
#include <limits>

#include "tests/core/ops/call.h"

namespace rlgo::ops {
namespace {

const std::string kGelu = "gelu";

TEST(Elementwise, BinaryBroadcasts) {
  for (Op op : {Op::add, Op::sub, Op::mul, Op::div, Op::min, Op::max, Op::pow}) {
    EXPECT_EQ(result(op, "f32[2,1,4] f32[3,1]"), "f32[2,3,4]") << name(op);
    EXPECT_EQ(result(op, "f32[2] f16[2]"), "-") << name(op);
    EXPECT_EQ(result(op, "f32[2] f32[3]"), "-") << name(op);
    EXPECT_EQ(result(op, "bool[2] bool[2]"), "-") << name(op);
    EXPECT_EQ(result(op, "i64[2] i64[2]"), op == Op::pow ? "-" : "i64[2]") << name(op);
    EXPECT_EQ(result(op, "f32[0,2] f32[1]"), "f32[0,2]") << name(op);
  }
  EXPECT_EQ(work_of(Op::add, "f32[2,1] f32[3]").flops, 6.0);
  EXPECT_EQ(work_of(Op::add, "f32[2,1] f32[3]").bytes, 4.0 * (2 + 3 + 6));
  EXPECT_EQ(work_of(Op::pow, "f32[2] f32[]").flops, 16.0);
  EXPECT_EQ(result(Op::prelu, "f32[2,3,4,4] f32[3,1,1]"), "f32[2,3,4,4]");
  EXPECT_EQ(result(Op::prelu, "f32[3,1] f32[1,2]"), "-");  // the slopes must not enlarge x
}

TEST(Elementwise, ModOfIntegersAndWithFmodOfFloats) {
  EXPECT_EQ(result(Op::mod, "i64[2] i64[1]"), "i64[2]");
  EXPECT_EQ(result(Op::mod, "f32[2] f32[2]"), "-");
  EXPECT_EQ(result(Op::mod, "f32[2,1] f32[3]", {{Attr::fmod, int64_t{1}}}), "f32[2,3]");
  EXPECT_EQ(result(Op::celu, "f32[2]", {{Attr::alpha, 0.0}}), "-");
}

TEST(Sequence, Attention) {
  const Attrs plain{{Attr::scale, 0.5}};
  const std::string operands = "f32[2,4,5,8] f32[2,2,7,8] f32[2,2,7,6]";
  EXPECT_EQ(result(Op::attention, operands, plain), "f32[2,4,5,6]");
  EXPECT_EQ(result(Op::attention, operands + " f32[5,7]", plain), "f32[2,4,5,6]");
  EXPECT_EQ(result(Op::attention, operands + " bool[2,1,5,7]", plain), "f32[2,4,5,6]");
  EXPECT_EQ(result(Op::attention, operands + " f32[1,7]", plain), "-");  // ONNX Runtime has no such mask
  EXPECT_EQ(result(Op::attention, operands + " i64[5,7]", plain), "-");
  EXPECT_EQ(result(Op::attention, "f32[2,3,5,8] f32[2,2,7,8] f32[2,2,7,6]", plain), "-");
  EXPECT_EQ(work_of(Op::attention, operands, plain).flops, 2.0 * 7 * (320 + 240) + 13.0 * 2 * 4 * 5 * 7);
  const Attrs heads{{Attr::scale, 0.5}, {Attr::heads, int64_t{4}}, {Attr::kv_heads, int64_t{2}}};
  EXPECT_EQ(result(Op::attention, "f32[2,5,32] f32[2,7,16] f32[2,7,12]", heads), "f32[2,5,24]");
  EXPECT_EQ(work_of(Op::attention, "f32[2,5,32] f32[2,7,16] f32[2,7,12]", heads).flops,
            work_of(Op::attention, operands, plain).flops);
  EXPECT_EQ(result(Op::attention, "f32[2,5,32] f32[2,7,32] f32[2,7,12]", heads), "-");
}

TEST(Sequence, Recurrent) {
  const auto gates = [](int64_t count, int64_t reverse = 0, int64_t after = 0) {
    return Attrs{{Attr::gates, count}, {Attr::reverse, reverse}, {Attr::reset_after, after}};
  };
  const std::string one = "f32[7,2,3] f32[1,20,3] f32[1,20,5]";
  EXPECT_EQ(result(Op::recurrent, one, gates(4)), "f32[7,1,2,5] f32[1,2,5] f32[1,2,5]");
  EXPECT_EQ(result(Op::recurrent, one + " f32[1,40] f32[1,2,5] f32[1,2,5]", gates(4, 1)),
            "f32[7,1,2,5] f32[1,2,5] f32[1,2,5]");
  EXPECT_EQ(result(Op::recurrent, one + " f32[1,40] f32[1,2,5]", gates(4)), "-");  // a state without the other
  EXPECT_EQ(result(Op::recurrent, one, gates(3)), "-");
  EXPECT_EQ(result(Op::recurrent, "f32[7,2,3] f32[2,15,3] f32[2,15,5]", gates(3, 0, 1)), "f32[7,2,2,5] f32[2,2,5]");
  EXPECT_EQ(result(Op::recurrent, "f32[7,2,3] f32[2,15,3] f32[2,15,5]", gates(3, 1)), "-");  // two directions
  EXPECT_EQ(result(Op::recurrent, "f32[7,2,3] f32[1,5,3] f32[1,5,5] f32[1,10]", gates(1)), "f32[7,1,2,5] f32[1,2,5]");
  EXPECT_EQ(result(Op::recurrent, "f32[0,2,3] f32[1,5,3] f32[1,5,5]", gates(1)), "-");
  EXPECT_EQ(work_of(Op::recurrent, one, gates(4)).flops, 7 * 2 * 20.0 * (2 * 8 + 11));
}

TEST(Reduce, PlacesAndGroups) {
  const Attrs axis{{Attr::axis, int64_t{1}}};
  EXPECT_EQ(result(Op::arg_max, "f32[2,3,4]", axis), "i64[2,1,4]");
  EXPECT_EQ(result(Op::arg_min, "i32[2,3,4]", {{Attr::axis, int64_t{2}}, {Attr::keepdims, int64_t{0}}}), "i64[2,3]");
  EXPECT_EQ(result(Op::arg_max, "f32[2,0]", axis), "-");
  EXPECT_EQ(result(Op::instance_norm, "f32[2,3,4] f32[3] f32[3]"), "f32[2,3,4]");
  EXPECT_EQ(result(Op::instance_norm, "f32[2,3] f32[3] f32[3]"), "-");
  EXPECT_EQ(result(Op::group_norm, "f32[2,6,4] f32[6] f32[6]", {{Attr::group, int64_t{3}}}), "f32[2,6,4]");
  EXPECT_EQ(result(Op::group_norm, "f32[2,6,4] f32[6] f32[6]", {{Attr::group, int64_t{4}}}), "-");
  EXPECT_EQ(result(Op::rms_norm, "f32[2,3,4] f32[3,4]", axis), "f32[2,3,4]");
  EXPECT_EQ(result(Op::reduce_min, "f32[2,0]", {{Attr::axes, Ints{1}}}), "-");
  EXPECT_EQ(result(Op::reduce_prod, "f32[2,0]", {{Attr::axes, Ints{1}}}), "f32[2,1]");
}

TEST(Indexing, BlocksOfPixels) {
  const Attrs two{{Attr::blocksize, int64_t{2}}};
  EXPECT_EQ(result(Op::depth_to_space, "u8[2,8,3,5]", two), "u8[2,2,6,10]");
  EXPECT_EQ(result(Op::depth_to_space, "f32[2,6,3,5]", two), "-");
  EXPECT_EQ(result(Op::depth_to_space, "f32[2,8,3]", two), "-");
  EXPECT_EQ(result(Op::depth_to_space, "f32[2,8,3,5]", {{Attr::blocksize, int64_t{0}}}), "-");
  EXPECT_EQ(result(Op::space_to_depth, "f32[2,3,4,6]", two), "f32[2,12,2,3]");
  EXPECT_EQ(result(Op::space_to_depth, "f32[2,3,4,5]", two), "-");
}

TEST(Indexing, PlacesSumsAndTriangles) {
  const Attrs axis{{Attr::axis, int64_t{1}}}, hot{{Attr::axis, int64_t{1}}, {Attr::depth, int64_t{7}}};
  EXPECT_EQ(result(Op::gather_elements, "f32[2,3] i64[1,9]", axis), "f32[1,9]");
  EXPECT_EQ(result(Op::gather_elements, "f32[2,3] i64[3,1]", axis), "-");
  EXPECT_EQ(result(Op::gather_elements, "f32[2,3] f32[1,1]", axis), "-");
  EXPECT_EQ(result(Op::gather_nd, "f32[2,3,4] i64[5,2]"), "f32[5,4]");
  EXPECT_EQ(result(Op::gather_nd, "f32[2,3,4] i64[2,5,1]", {{Attr::batch_dims, int64_t{1}}}), "f32[2,5,4]");
  EXPECT_EQ(result(Op::gather_nd, "f32[2,3] i64[5,3]"), "-");
  EXPECT_EQ(result(Op::scatter_elements, "f32[2,3] i64[1,2] f32[1,2]", axis), "f32[2,3]");
  EXPECT_EQ(result(Op::scatter_elements, "f32[2,3] i64[1,2] f32[1,3]", axis), "-");
  EXPECT_EQ(result(Op::scatter_nd, "f32[2,3,4] i64[5,2] f32[5,4]"), "f32[2,3,4]");
  EXPECT_EQ(result(Op::scatter_nd, "bool[2] i64[5,1] bool[5]", {{Attr::reduction, std::string("add")}}), "-");
  EXPECT_EQ(result(Op::cumsum, "i64[2,3]", axis), "i64[2,3]");
  EXPECT_EQ(result(Op::trilu, "f32[3]"), "-");
  EXPECT_EQ(result(Op::trilu, "bool[2,3]"), "bool[2,3]");
  EXPECT_EQ(result(Op::one_hot, "i64[2,3] f32[2]", hot), "f32[2,7,3]");
  EXPECT_EQ(result(Op::one_hot, "i64[2,3] f32[3]", hot), "-");
}

TEST(Elementwise, UnaryKeepsTheTypeAndTakesFloatsOnly) {
  for (Op op : {Op::relu,         Op::sigmoid,
                Op::tanh,         Op::gelu,
                Op::erf,          Op::sqrt,
                Op::exp,          Op::log,
                Op::neg,          Op::abs,
                Op::clip,         Op::leaky_relu,
                Op::hard_sigmoid, Op::hard_swish,
                Op::softplus,     Op::elu,
                Op::selu,         Op::celu,
                Op::mish,         Op::swish,
                Op::softsign,     Op::thresholded_relu,
                Op::ceil,         Op::floor,
                Op::round,        Op::sign,
                Op::sin,          Op::cos,
                Op::reciprocal}) {
    EXPECT_EQ(result(op, "f16[2,0]"), "f16[2,0]") << name(op);
    EXPECT_EQ(result(op, "i32[2]"), "-") << name(op);
    EXPECT_TRUE(spec(op).elementwise) << name(op);
    EXPECT_EQ(work_of(op, "f32[5]").bytes, 40.0) << name(op);
  }
  EXPECT_EQ(work_of(Op::relu, "f32[5]").flops, 5.0);
  EXPECT_EQ(work_of(Op::tanh, "f32[5]").flops, 40.0);
  EXPECT_EQ(result(Op::gelu, "f32[2]", {{Attr::approximate, std::string("tanh")}}), "f32[2]");
  EXPECT_EQ(result(Op::gelu, "f32[2]", {{Attr::approximate, std::string("fast")}}), "-");
  EXPECT_EQ(result(Op::clip, "f32[2]", {{Attr::min, 2.0}, {Attr::max, 1.0}}), "-");
}

TEST(Conv2d, Shapes) {
  const std::string x = "f32[2,6,9,8] ";
  EXPECT_EQ(result(Op::conv2d, x + "f32[4,6,3,3]"), "f32[2,4,7,6]");
  EXPECT_EQ(
      result(Op::conv2d, x + "f32[4,6,3,3] f32[4]", {{Attr::pads, Ints{1, 0, 1, 2}}, {Attr::strides, Ints{2, 3}}}),
      "f32[2,4,5,3]");
  EXPECT_EQ(result(Op::conv2d, x + "f32[4,6,3,3]", {{Attr::dilations, Ints{4, 2}}}), "f32[2,4,1,4]");
  EXPECT_EQ(result(Op::conv2d, x + "f32[4,3,1,1]", {{Attr::group, int64_t{2}}, {Attr::act, kGelu}}), "f32[2,4,9,8]");
  EXPECT_EQ(result(Op::conv2d, "f32[0,6,9,8] f32[4,6,3,3]"), "f32[0,4,7,6]");
  EXPECT_EQ(result(Op::conv2d, "f16[1,1,3,3] f16[1,1,3,3]"), "f16[1,1,1,1]");
}

TEST(Conv2d, Misfits) {
  const std::string x = "f32[2,6,9,8] ", w = "f32[4,6,3,3]";
  EXPECT_EQ(result(Op::conv2d, x + "f32[4,5,3,3]"), "-");                               // channels
  EXPECT_EQ(result(Op::conv2d, x + "f32[3,3,3,3]", {{Attr::group, int64_t{2}}}), "-");  // groups do not divide outputs
  EXPECT_EQ(result(Op::conv2d, x + w, {{Attr::group, int64_t{0}}}), "-");
  EXPECT_EQ(result(Op::conv2d, x + w, {{Attr::pads, Ints{-1, 0, 0, 0}}}), "-");
  EXPECT_EQ(result(Op::conv2d, x + w, {{Attr::pads, Ints{1, 1}}}), "-");
  EXPECT_EQ(result(Op::conv2d, x + w, {{Attr::strides, Ints{0, 1}}}), "-");
  EXPECT_EQ(result(Op::conv2d, x + w, {{Attr::dilations, Ints{5, 1}}}), "-");  // kernel spans 11 > 9
  EXPECT_EQ(result(Op::conv2d, x + w, {{Attr::act, std::string("swish")}}), "-");
  EXPECT_EQ(result(Op::conv2d, x + w + " f32[1,4]"), "-");
  EXPECT_EQ(result(Op::conv2d, x + w + " f16[4]"), "-");
  EXPECT_EQ(result(Op::conv2d, "f32[6,9,8] " + w), "-");
  EXPECT_EQ(result(Op::conv2d, "i32[1,1,3,3] i32[1,1,3,3]"), "-");
}

TEST(Conv2d, Work) {
  // 2 images, 4 x 7 x 6 outputs, 6 * 9 multiply-adds each.
  const auto plain = work_of(Op::conv2d, "f32[2,6,9,8] f32[4,6,3,3]");
  EXPECT_EQ(plain.flops, 2.0 * 336 * 54);
  EXPECT_EQ(plain.bytes, 4.0 * (864 + 216 + 336));
  const auto fused = work_of(Op::conv2d, "f32[2,6,9,8] f32[4,6,3,3] f32[4]", {{Attr::act, std::string("relu")}});
  EXPECT_EQ(fused.flops, plain.flops + 2.0 * 336);
}

TEST(Matmul, Shapes) {
  EXPECT_EQ(result(Op::matmul, "f32[3,4] f32[4,5]"), "f32[3,5]");
  EXPECT_EQ(result(Op::matmul, "f32[2,1,3,4] f32[7,4,5] f32[5]"), "f32[2,7,3,5]");
  EXPECT_EQ(result(Op::matmul, "f32[3,0] f32[0,5]"), "f32[3,5]");
  EXPECT_EQ(result(Op::matmul, "f32[3,4] f32[4,5] f32[3,1]", {{Attr::act, kGelu}}), "f32[3,5]");
}

TEST(Matmul, Misfits) {
  EXPECT_EQ(result(Op::matmul, "f32[4] f32[4,5]"), "-");
  EXPECT_EQ(result(Op::matmul, "f32[3,4] f32[3,5]"), "-");
  EXPECT_EQ(result(Op::matmul, "f32[2,3,4] f32[3,4,5]"), "-");
  EXPECT_EQ(result(Op::matmul, "f32[3,4] f32[4,5] f32[4]"), "-");
  EXPECT_EQ(result(Op::matmul, "f32[1,4] f32[4,5] f32[3,5]"), "-");  // a bias must not enlarge the output
  EXPECT_EQ(result(Op::matmul, "f32[3,4] f32[4,5] f32[1,3,5]"), "-");
  EXPECT_EQ(result(Op::matmul, "i64[3,4] i64[4,5]"), "-");
}

TEST(Matmul, Work) {
  EXPECT_EQ(work_of(Op::matmul, "f32[2,3,4] f32[4,5]").flops, 2.0 * 30 * 4);
  EXPECT_EQ(work_of(Op::matmul, "f32[2,3,4] f32[4,5]").bytes, 4.0 * (24 + 20 + 30));
  EXPECT_EQ(work_of(Op::matmul, "f32[3,4] f32[4,5] f32[5]", {{Attr::act, kGelu}}).flops, 15.0 * (8 + 1 + 8));
}

TEST(Pool, Shapes) {
  const Attrs base{{Attr::kernel, Ints{3, 3}}, {Attr::strides, Ints{2, 2}}};
  auto with = [&](Attr key, AttrValue value) {
    Attrs attrs = base;
    attrs.set(key, std::move(value));
    return attrs;
  };
  EXPECT_EQ(result(Op::max_pool, "f32[1,2,8,8]", base), "f32[1,2,3,3]");
  EXPECT_EQ(result(Op::max_pool, "f32[1,2,8,8]", with(Attr::ceil_mode, int64_t{1})), "f32[1,2,4,4]");
  EXPECT_EQ(result(Op::avg_pool, "f32[1,2,8,8]", with(Attr::pads, Ints{1, 0, 1, 1})), "f32[1,2,4,4]");
  EXPECT_EQ(result(Op::max_pool, "f32[1,2,8,8]", with(Attr::dilations, Ints{3, 1})), "f32[1,2,1,3]");
  EXPECT_EQ(result(Op::global_avg_pool, "f32[2,3,5,7]"), "f32[2,3,1,1]");
}

TEST(Pool, CeilModeLeavesOutWindowsThatStartInEndPadding) {
  // Extent 2, kernel 1, stride 2: room 1, rounded up 2 windows, but the second would start at 2.
  EXPECT_EQ(result(Op::max_pool, "f32[1,1,2,2]",
                   {{Attr::kernel, Ints{1, 1}}, {Attr::strides, Ints{2, 2}}, {Attr::ceil_mode, int64_t{1}}}),
            "f32[1,1,1,1]");
}

TEST(Pool, Misfits) {
  EXPECT_EQ(result(Op::max_pool, "f32[1,2,8,8]"), "-");  // kernel is required
  EXPECT_EQ(result(Op::max_pool, "f32[1,2,8,8]", {{Attr::kernel, Ints{9, 1}}}), "-");
  EXPECT_EQ(result(Op::max_pool, "f32[1,2,8,8]", {{Attr::kernel, Ints{2, 2}}, {Attr::pads, Ints{2, 0, 0, 0}}}), "-");
  EXPECT_EQ(result(Op::avg_pool, "f32[1,2,8,8]", {{Attr::kernel, Ints{2, 2}}, {Attr::count_include_pad, int64_t{2}}}),
            "-");
  EXPECT_EQ(result(Op::avg_pool, "f32[1,2,8,8]", {{Attr::kernel, Ints{2, 2}}, {Attr::dilations, Ints{1, 1}}}), "-");
  EXPECT_EQ(result(Op::avg_pool, "f32[2,8,8]", {{Attr::kernel, Ints{2, 2}}}), "-");
  EXPECT_EQ(result(Op::global_avg_pool, "f32[2,3]"), "-");
  EXPECT_EQ(result(Op::global_avg_pool, "f32[2,3,1,1,1,1]"), "-");
}

// The rank decides how many axes windows have.
TEST(Windows, OfOneAndThreeAxes) {
  const Attrs line{{Attr::strides, Ints{2}}, {Attr::pads, Ints{1, 0}}, {Attr::dilations, Ints{3}}};
  EXPECT_EQ(
      result(
          Op::conv2d, "f32[2,6,9] f32[4,3,3]",
          {{Attr::group, int64_t{2}}, {Attr::strides, Ints{2}}, {Attr::pads, Ints{1, 0}}, {Attr::dilations, Ints{3}}}),
      "f32[2,4,2]");
  EXPECT_EQ(result(Op::conv2d, "f32[2,6,9] f32[4,6,3,3]", line), "-");
  EXPECT_EQ(result(Op::conv2d, "f32[2,6,9,9] f32[4,6,3,3]", line), "-");
  const Attrs volume{{Attr::strides, Ints{1, 2, 3}}, {Attr::pads, Ints{0, 0, 1, 0, 1, 1}}};
  const auto with = [](Attrs attrs, Attr key, AttrValue value) {
    attrs.set(key, std::move(value));
    return attrs;
  };
  EXPECT_EQ(result(Op::conv2d, "f32[1,2,4,5,6] f32[3,2,1,2,3]", with(volume, Attr::dilations, Ints{1, 1, 1})),
            "f32[1,3,4,3,2]");
  const Attrs pool = with(volume, Attr::kernel, Ints{2, 2, 2});
  EXPECT_EQ(result(Op::max_pool, "f32[1,2,4,5,6]", with(pool, Attr::dilations, Ints{1, 1, 1})), "f32[1,2,3,3,3]");
  EXPECT_EQ(result(Op::avg_pool, "f32[1,2,4,5,6]", pool), "f32[1,2,3,3,3]");
  EXPECT_EQ(result(Op::global_avg_pool, "f32[2,3,5]"), "f32[2,3,1]");
  const Attrs spread = with(line, Attr::output_padding, Ints{1});
  EXPECT_EQ(result(Op::conv_transpose, "f32[1,4,5] f32[4,3,2]", spread), "f32[1,3,12]");
  EXPECT_EQ(work_of(Op::conv2d, "f32[1,1,4] f32[1,1,3]",
                    {{Attr::strides, Ints{1}}, {Attr::pads, Ints{0, 0}}, {Attr::dilations, Ints{1}}})
                .flops,
            2.0 * 3 * 2);
}

TEST(Pool, Work) {
  EXPECT_EQ(work_of(Op::max_pool, "f32[1,2,8,8]", {{Attr::kernel, Ints{3, 3}}}).flops, 9.0 * 72);
  EXPECT_EQ(work_of(Op::avg_pool, "f32[1,2,8,8]", {{Attr::kernel, Ints{3, 3}}}).bytes, 4.0 * (128 + 72));
  EXPECT_EQ(work_of(Op::global_avg_pool, "f32[1,2,4,4]").flops, 32.0);
}

TEST(ShapeOps, ConcatAndSplit) {
  EXPECT_EQ(result(Op::concat, "f32[2,3] f32[2,0] f32[2,4]", {{Attr::axis, int64_t{1}}}), "f32[2,7]");
  EXPECT_EQ(result(Op::concat, "bool[2]", {{Attr::axis, int64_t{0}}}), "bool[2]");
  EXPECT_EQ(result(Op::concat, "f32[2,3] f32[3,3]", {{Attr::axis, int64_t{1}}}), "-");
  EXPECT_EQ(result(Op::concat, "f32[2,3] f32[2]", {{Attr::axis, int64_t{0}}}), "-");
  EXPECT_EQ(result(Op::concat, "f32[2] f32[2]", {{Attr::axis, int64_t{-1}}}), "-");
  EXPECT_EQ(result(Op::split, "f32[2,7]", {{Attr::axis, int64_t{1}}, {Attr::sizes, Ints{3, 0, 4}}}),
            "f32[2,3] f32[2,0] f32[2,4]");
  EXPECT_EQ(result(Op::split, "f32[2,7]", {{Attr::axis, int64_t{1}}, {Attr::sizes, Ints{3, 3}}}), "-");
  EXPECT_EQ(result(Op::split, "f32[2,7]", {{Attr::axis, int64_t{1}}, {Attr::sizes, Ints{8, -1}}}), "-");
  EXPECT_EQ(result(Op::split, "f32[2,7]", {{Attr::axis, int64_t{1}}, {Attr::sizes, Ints{}}}), "-");
  EXPECT_EQ(work_of(Op::concat, "f32[2] f32[3]", {{Attr::axis, int64_t{0}}}).bytes, 40.0);
  EXPECT_EQ(work_of(Op::split, "f32[5]", {{Attr::axis, int64_t{0}}, {Attr::sizes, Ints{2, 3}}}).bytes, 40.0);
}

TEST(Compare, TruthIsBooleanAndBroadcasts) {
  EXPECT_EQ(result(Op::less, "f32[2,1] f32[3]"), "bool[2,3]");
  EXPECT_EQ(result(Op::equal, "bool[2] bool[]"), "bool[2]");
  EXPECT_EQ(result(Op::less_equal, "bool[2] bool[2]"), "-");
  EXPECT_EQ(result(Op::logical_or, "bool[2] i64[2]"), "-");
  EXPECT_EQ(result(Op::where, "bool[2,1] i64[3] i64[]"), "i64[2,3]");
  EXPECT_EQ(result(Op::where, "bool[2] i64[2] f32[2]"), "-");
  EXPECT_EQ(result(Op::where, "f32[2] f32[2] f32[2]"), "-");
}

TEST(Enlarge, ExpandGivesExactlyTheShape) {
  EXPECT_EQ(result(Op::expand, "f32[3,1]", {{Attr::shape, Ints{2, 3, 4}}}), "f32[2,3,4]");
  EXPECT_EQ(result(Op::expand, "f32[3,2]", {{Attr::shape, Ints{3, 1}}}), "-");
}

TEST(Enlarge, ResizeTakesTheFormsThatLibTorchHas) {
  const auto resized = [](double h, double w, const std::string& coordinates, const std::string& rounding) {
    return result(
        Op::resize, "f32[1,2,5,4]",
        {{Attr::scale_h, h}, {Attr::scale_w, w}, {Attr::coordinates, coordinates}, {Attr::rounding, rounding}});
  };
  EXPECT_EQ(resized(2.0, 3.0, "half_pixel", "round_prefer_floor"), "f32[1,2,10,12]");
  EXPECT_EQ(resized(1.5, 1.0, "asymmetric", "floor"), "f32[1,2,7,4]");
  EXPECT_EQ(resized(1.5, 1.0, "half_pixel", "round_prefer_floor"), "-");
  EXPECT_EQ(resized(0.0, 1.0, "asymmetric", "floor"), "-");
}

TEST(Enlarge, ConvTransposeIsTheInverseShape) {
  EXPECT_EQ(result(Op::conv_transpose, "f32[1,4,5,5] f32[4,3,2,2]", {{Attr::strides, Ints{2, 2}}}), "f32[1,3,10,10]");
  EXPECT_EQ(result(Op::conv_transpose, "f32[1,4,5,5] f32[4,3,3,3] f32[6]",
                   {{Attr::group, int64_t{2}}, {Attr::pads, Ints{1, 0, 1, 2}}}),
            "f32[1,6,5,5]");
  EXPECT_EQ(result(Op::conv_transpose, "f32[1,4,5,5] f32[3,4,2,2]"), "-");
  EXPECT_EQ(result(Op::conv_transpose, "f32[1,4,5,5] f32[4,3,2,2]", {{Attr::output_padding, Ints{1, 0}}}), "-");
}

// Inference answers for all sizes of an open dimension, or does not fit.
TEST(Open, ExtentsAreInferredForAllSizes) {
  TensorType x(DType::f32, {2, 12});
  const Extent batch = Extent::symbol(0, 2, 1);
  ASSERT_TRUE(x.set_extents({batch, 12}));
  const auto inferred = [&](const Ints& shape) { return infer(Op::reshape, Types{x}, {{Attr::shape, shape}}); };
  ASSERT_TRUE(inferred({-1, 3, 4}));
  EXPECT_TRUE(inferred({-1, 3, 4})->front().extent(0).same(batch));
  EXPECT_FALSE(inferred({2, 3, 4}));
  EXPECT_FALSE(inferred({-2, 0, 4}));
  EXPECT_FALSE(infer(Op::add, Types{x, {DType::f32, {2, 1}}}, {}));
  EXPECT_NE(x, TensorType(DType::f32, {2, 12}));
  EXPECT_EQ(infer(Op::reduce_sum, Types{x}, {{Attr::axes, Ints{0}}, {Attr::keepdims, int64_t{0}}})->front(),
            TensorType(DType::f32, {12}));
}

TEST(ShapeOps, TransposeAndReshape) {
  EXPECT_EQ(result(Op::transpose, "i8[2,3,4]", {{Attr::perm, Ints{2, 0, 1}}}), "i8[4,2,3]");
  EXPECT_EQ(result(Op::transpose, "f32[]", {{Attr::perm, Ints{}}}), "f32[]");
  EXPECT_EQ(result(Op::transpose, "f32[2,3]", {{Attr::perm, Ints{0, 0}}}), "-");
  EXPECT_EQ(result(Op::transpose, "f32[2,3]", {{Attr::perm, Ints{0}}}), "-");
  EXPECT_EQ(result(Op::transpose, "f32[2,3]", {{Attr::perm, Ints{0, 2}}}), "-");
  EXPECT_EQ(result(Op::reshape, "f32[2,6]", {{Attr::shape, Ints{3, 4}}}), "f32[3,4]");
  EXPECT_EQ(result(Op::reshape, "f32[0,6]", {{Attr::shape, Ints{5, 0}}}), "f32[5,0]");
  EXPECT_EQ(result(Op::reshape, "f32[2,6]", {{Attr::shape, Ints{kRestExtent, 4}}}), "f32[3,4]");
  EXPECT_EQ(result(Op::reshape, "f32[2,6]", {{Attr::shape, Ints{kSameExtent, 3, kRestExtent}}}), "f32[2,3,2]");
  EXPECT_EQ(result(Op::reshape, "f32[2,6]", {{Attr::shape, Ints{-1, 5}}}), "-");
  EXPECT_EQ(result(Op::reshape, "f32[2,6]", {{Attr::shape, Ints{-1, -1}}}), "-");
  EXPECT_EQ(result(Op::reshape, "f32[2,6]", {{Attr::shape, Ints{2, 6, kSameExtent}}}), "-");
  EXPECT_EQ(result(Op::reshape, "f32[2,0]", {{Attr::shape, Ints{0, -1}}}), "-");
  EXPECT_EQ(result(Op::reshape, "f32[2,6]", {{Attr::shape, Ints{13}}}), "-");
  EXPECT_EQ(work_of(Op::transpose, "f32[2,3]", {{Attr::perm, Ints{1, 0}}}).bytes, 48.0);
  EXPECT_EQ(work_of(Op::reshape, "f32[2,6]", {{Attr::shape, Ints{12}}}).bytes, 0.0);
}

Attrs slice(Ints axes, Ints starts, Ints ends, Ints steps) {
  return {{Attr::axes, axes}, {Attr::starts, starts}, {Attr::ends, ends}, {Attr::steps, steps}};
}

TEST(ShapeOps, SliceAndPad) {
  EXPECT_EQ(result(Op::slice, "f32[5,7]", slice({0, 1}, {1, 0}, {4, 7}, {1, 3})), "f32[3,3]");
  EXPECT_EQ(result(Op::slice, "f32[5,7]", slice({1}, {2}, {2}, {1})), "f32[5,0]");
  EXPECT_EQ(result(Op::slice, "f32[5]", slice({0}, {1}, {6}, {1})), "-");
  EXPECT_EQ(result(Op::slice, "f32[5]", slice({0}, {-1}, {5}, {1})), "-");
  EXPECT_EQ(result(Op::slice, "f32[5]", slice({0}, {3}, {2}, {1})), "-");
  EXPECT_EQ(result(Op::slice, "f32[5]", slice({0}, {0}, {5}, {0})), "-");
  EXPECT_EQ(result(Op::slice, "f32[5,5]", slice({1, 0}, {0, 0}, {5, 5}, {1, 1})), "-");  // axes not sorted
  EXPECT_EQ(work_of(Op::slice, "f32[100]", slice({0}, {1}, {3}, {1})).bytes, 16.0);
  EXPECT_EQ(result(Op::pad, "f32[2,3]", {{Attr::pads, Ints{1, 0, 0, 2}}}), "f32[3,5]");
  EXPECT_EQ(result(Op::pad, "f32[2,3]", {{Attr::pads, Ints{-1, 0, 0, 2}}}), "-");
  EXPECT_EQ(result(Op::pad, "f32[2,3]", {{Attr::pads, Ints{1, 0}}}), "-");
  EXPECT_EQ(work_of(Op::pad, "f32[2]", {{Attr::pads, Ints{1, 1}}}).bytes, 24.0);
}

TEST(ShapeOps, GatherCastFill) {
  EXPECT_EQ(result(Op::gather, "f32[30,8] i64[2,5]"), "f32[2,5,8]");
  EXPECT_EQ(result(Op::gather, "f32[3,30,8] i32[]", {{Attr::axis, int64_t{1}}}), "f32[3,8]");
  EXPECT_EQ(result(Op::gather, "f32[30,8] f32[2]"), "-");
  EXPECT_EQ(result(Op::gather, "f32[] i64[2]"), "-");
  EXPECT_EQ(work_of(Op::gather, "f32[30,8] i64[2]").bytes, 16.0 + 2 * 64.0);
  EXPECT_EQ(result(Op::cast, "i64[2]", {{Attr::to, std::string("f16")}}), "f16[2]");
  EXPECT_EQ(result(Op::cast, "i64[2]", {{Attr::to, std::string("other")}}), "-");
  EXPECT_EQ(result(Op::cast, "i64[2]", {{Attr::to, std::string("float")}}), "-");
  EXPECT_EQ(work_of(Op::cast, "i64[2]", {{Attr::to, std::string("f32")}}).bytes, 24.0);
  EXPECT_EQ(result(Op::fill, "", {{Attr::shape, Ints{2, 3}}}), "f32[2,3]");
  EXPECT_EQ(result(Op::fill, "", {{Attr::shape, Ints{}}, {Attr::to, std::string("i64")}}), "i64[]");
  EXPECT_EQ(result(Op::fill, "", {{Attr::shape, Ints{-1}}}), "-");
  EXPECT_EQ(work_of(Op::fill, "", {{Attr::shape, Ints{2}}}).bytes, 0.0);
  EXPECT_EQ(result(Op::literal, "", {{Attr::shape, Ints{1, 2}}, {Attr::values, Ints{-4, 7}}}), "f32[1,2]");
  EXPECT_EQ(result(Op::literal, "", {{Attr::shape, Ints{2, 2}}, {Attr::values, Ints{-4, 7}}}), "-");
}

TEST(Reduce, Shapes) {
  for (Op op : {Op::reduce_mean, Op::reduce_sum, Op::reduce_max}) {
    EXPECT_EQ(result(op, "f32[2,3,4]", {{Attr::axes, Ints{0, 2}}}), "f32[1,3,1]") << name(op);
    EXPECT_EQ(result(op, "f32[2,3,4]", {{Attr::axes, Ints{0, 2}}, {Attr::keepdims, int64_t{0}}}), "f32[3]") << name(op);
    EXPECT_EQ(result(op, "f32[2,3]", {{Attr::axes, Ints{}}}), "-") << name(op);
    EXPECT_EQ(result(op, "f32[2,3]", {{Attr::axes, Ints{1, 1}}}), "-") << name(op);
    EXPECT_EQ(result(op, "f32[2,3]", {{Attr::axes, Ints{-1}}}), "-") << name(op);
    EXPECT_EQ(work_of(op, "f32[2,3]", {{Attr::axes, Ints{1}}}).flops, 6.0);
    EXPECT_EQ(work_of(op, "f32[2,3]", {{Attr::axes, Ints{1}}}).bytes, 32.0);
  }
  EXPECT_EQ(result(Op::reduce_sum, "f32[0,3]", {{Attr::axes, Ints{0}}}), "f32[1,3]");
  EXPECT_EQ(result(Op::reduce_max, "f32[0,3]", {{Attr::axes, Ints{0}}}), "-");
}

TEST(Reduce, Normalisations) {
  EXPECT_EQ(result(Op::softmax, "f32[2,3]", {{Attr::axis, int64_t{1}}}), "f32[2,3]");
  EXPECT_EQ(result(Op::softmax, "f32[2,3]", {{Attr::axis, int64_t{-1}}}), "-");
  EXPECT_EQ(result(Op::layer_norm, "f32[2,3,4] f32[3,4] f32[3,4]", {{Attr::axis, int64_t{1}}}), "f32[2,3,4]");
  EXPECT_EQ(result(Op::layer_norm, "f32[2,3,4] f32[4]", {{Attr::axis, int64_t{1}}}), "-");
  EXPECT_EQ(result(Op::layer_norm, "f32[2,3] f32[3]", {{Attr::axis, int64_t{1}}, {Attr::eps, -1.0}}), "-");
  EXPECT_EQ(result(Op::batch_norm, "f32[2,3,4,4] f32[3] f32[3] f32[3] f32[3]"), "f32[2,3,4,4]");
  EXPECT_EQ(result(Op::batch_norm, "f32[2,3] f32[3] f32[3] f32[3] f32[2]"), "-");
  EXPECT_EQ(result(Op::batch_norm, "f32[3] f32[3] f32[3] f32[3] f32[3]"), "-");
  EXPECT_EQ(work_of(Op::softmax, "f32[2,3]", {{Attr::axis, int64_t{1}}}).flops, 72.0);
  EXPECT_EQ(work_of(Op::layer_norm, "f32[2,3] f32[3] f32[3]", {{Attr::axis, int64_t{1}}}).flops, 48.0);
  EXPECT_EQ(work_of(Op::batch_norm, "f32[2,3] f32[3] f32[3] f32[3] f32[3]").bytes, 4.0 * (6 + 12 + 6));
}

}  // namespace
}  // namespace rlgo::ops
