// Slow kernels in small models: which rules spell them otherwise, and that the outputs stay the same.
#include <gtest/gtest.h>

#include <ostream>

#include "core/graph/text.h"
#include "core/optimise/candidates.h"
#include "core/rules/rule_choice.h"
#include "core/verify/equivalence.h"

namespace rlgo::rules {
namespace {

struct Row {
  const char* name;
  const char* rules;  // count_rules()
  const char* graph;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

constexpr Row kRows[] = {
    {"SoftmaxOverChannels", "1 x softmax-of-channels-to-exp, 1 x reduce-sum-to-matmul, 1 x reduce-max-in-4-parts",
     R"(%0 = input "x" : f32[1,16,32,32]
%1 = softmax(%0) axis=1
output "y" = %1)"},
    {"SoftmaxOfTwo", "1 x softmax-of-two-to-sigmoid, 1 x softmax-of-last-two-to-sigmoid",
     R"(%0 = input "x" : f32[3,2,10,12]
%1 = softmax(%0) axis=1
%2 = input "z" : f32[1200,2]
%3 = softmax(%2) axis=1
output "a" = %1
output "b" = %3)"},
    {"SoftmaxOverManyChannels", "1 x softmax-of-channels-by-rows",
     R"(%0 = input "x" : f32[1,100,4,4]
%1 = softmax(%0) axis=1
output "y" = %1)"},
    {"DistributionHead", "1 x softmax-conv-1x1-to-matmul-one",
     R"(%0 = input "x" : f32[1,4,16,40]
%1 = transpose(%0) perm=[0,2,1,3]
%2 = softmax(%1) axis=1
%3 = weight "w" seed=1 scale=1 shift=0 positive=0 : f32[1,16,1,1]
%4 = conv2d(%2, %3)
output "y" = %4)"},
    {"DistributionHeadWithoutTranspose", "1 x softmax-conv-1x1-to-matmul, 1 x reduce-max-in-4-parts",
     R"(%0 = input "x" : f32[1,16,4,40]
%1 = softmax(%0) axis=1
%2 = weight "w" seed=1 scale=1 shift=0 positive=0 : f32[2,16,1,1]
%3 = conv2d(%1, %2)
output "y" = %3)"},
    {"Powers",
     "1 x pow-to-sqrt, 1 x pow-to-reciprocal-sqrt, 1 x pow-to-reciprocal, 1 x pow-to-fourth-power, "
     "1 x pow-to-reciprocal-square, 1 x pow-to-x-sqrt-x",
     R"(%0 = input "x" : f32[2,3]
%1 = abs(%0)
%2 = fill() shape=[] value=0.5
%3 = fill() shape=[] value=-0.5
%4 = fill() shape=[] value=-1.0
%5 = fill() shape=[] value=4.0
%6 = fill() shape=[] value=-2.0
%7 = fill() shape=[] value=1.5
%8 = pow(%1, %2)
%9 = pow(%1, %3)
%10 = pow(%1, %4)
%11 = pow(%1, %5)
%12 = pow(%1, %6)
%13 = pow(%1, %7)
output "a" = %8
output "b" = %9
output "c" = %10
output "d" = %11
output "e" = %12
output "f" = %13)"},
    {"PyramidOfPools", "3 x reuse-max-pool, 3 x separate-max-pool",
     R"(%0 = input "x" : f32[1,4,14,14]
%1 = max_pool(%0) kernel=[5,5] pads=[2,2,2,2]
%2 = max_pool(%0) kernel=[9,9] pads=[4,4,4,4]
%3 = max_pool(%0) kernel=[13,13] pads=[6,6,6,6]
%4 = concat(%0, %1, %2, %3) axis=1
output "y" = %4)"},
    {"MeanPool", "1 x separate-avg-pool",
     R"(%0 = input "x" : f32[1,4,9,9]
%1 = avg_pool(%0) kernel=[7,5] pads=[3,2,3,2] count_include_pad=1
output "y" = %1)"},
    {"SumsOverChannels", "1 x reduce-sum-to-matmul, 1 x reduce-mean-to-matmul, 1 x reduce-max-in-3-parts",
     R"(%0 = input "x" : f32[1,21,20,20]
%1 = reduce_mean(%0) axes=[1]
%2 = reduce_sum(%0) axes=[1] keepdims=0
%3 = reduce_max(%0) axes=[1]
output "a" = %1
output "b" = %2
output "c" = %3)"},
    {"ChannelsThatAreNoMultipleOfFour", "1 x pad-channels-of-depthwise, 1 x conv-of-leading-channels",
     R"(%0 = input "x" : f32[1,5,6,6]
%1 = weight "a" seed=1 scale=1 shift=0 positive=0 : f32[10,5,1,1]
%2 = weight "b" seed=2 scale=1 shift=0 positive=0 : f32[10]
%3 = weight "c" seed=3 scale=1 shift=0 positive=0 : f32[10,1,3,3]
%4 = weight "d" seed=4 scale=1 shift=0 positive=0 : f32[3,10,1,1]
%5 = conv2d(%0, %1, %2) act=hard_swish
%6 = conv2d(%5, %3, %2) group=10 pads=[1,1,1,1] strides=[2,2]
%7 = conv2d(%6, %4)
output "y" = %7)"},
    {"ChannelsOfClippedConvolutions",
     "1 x pad-channels-of-clipped-depthwise, 1 x clipped-depthwise-of-leading-channels, "
     "1 x conv-of-leading-channels-clip",
     R"(%0 = input "x" : f32[1,5,6,6]
%1 = weight "a" seed=1 scale=1 shift=0 positive=0 : f32[10,5,1,1]
%2 = weight "c" seed=3 scale=1 shift=0 positive=0 : f32[10,1,3,3]
%3 = weight "d" seed=4 scale=1 shift=0 positive=0 : f32[3,10,1,1]
%4 = conv2d(%0, %1)
%5 = clip(%4) min=0.0 max=6.0
%6 = conv2d(%5, %2) group=10 pads=[1,1,1,1]
%7 = clip(%6) min=0.0 max=6.0
%8 = conv2d(%7, %3)
output "y" = %8)"},
    {"ChannelsOfSwish", "1 x pad-channels-of-depthwise-swish, 1 x conv-of-leading-channels-swish",
     R"(%0 = input "x" : f32[1,5,6,6]
%1 = weight "a" seed=1 scale=1 shift=0 positive=0 : f32[10,5,1,1]
%2 = weight "c" seed=3 scale=1 shift=0 positive=0 : f32[10,1,3,3]
%3 = weight "d" seed=4 scale=1 shift=0 positive=0 : f32[3,10,1,1]
%4 = conv2d(%0, %1)
%5 = sigmoid(%4)
%6 = mul(%4, %5)
%7 = conv2d(%6, %2) group=10 pads=[1,1,1,1]
%8 = sigmoid(%7)
%9 = mul(%7, %8)
%10 = conv2d(%9, %3)
output "y" = %10)"},
    {"OddGroupsOfEight", "1 x pad-odd-groups-of-8, 1 x pair-groups-of-8, 1 x conv-of-leading-channels",
     R"(%0 = input "x" : f32[1,5,6,6]
%1 = weight "a" seed=1 scale=1 shift=0 positive=0 : f32[24,5,1,1]
%2 = weight "c" seed=3 scale=1 shift=0 positive=0 : f32[24,8,3,3]
%3 = weight "d" seed=4 scale=1 shift=0 positive=0 : f32[3,24,1,1]
%4 = conv2d(%0, %1) act=relu
%5 = conv2d(%4, %2) group=3 pads=[1,1,1,1]
%6 = conv2d(%5, %3)
output "y" = %6)"},
    {"ThreeQuarters", "1 x pow-to-three-quarters", R"(%0 = input "x" : f32[2,3]
%1 = abs(%0)
%2 = fill() shape=[] value=0.75
%3 = pow(%1, %2)
output "y" = %3)"},
    {"OneOutputChannel", "1 x conv-of-few-outputs-by-rows",
     R"(%0 = input "x" : f32[2,8,9,11]
%1 = weight "w" seed=1 scale=1 shift=0 positive=0 : f32[1,8,3,5]
%2 = weight "b" seed=2 scale=1 shift=0 positive=0 : f32[1]
%3 = conv2d(%0, %1, %2) act=relu dilations=[2,1] pads=[1,2,0,3] strides=[2,1]
output "y" = %3)"},
    {"ThreeOutputChannels", "1 x conv-of-few-outputs-by-columns",
     R"(%0 = input "x" : f32[1,8,9,11]
%1 = weight "w" seed=1 scale=1 shift=0 positive=0 : f32[3,8,5,3]
%2 = conv2d(%0, %1) dilations=[1,2] pads=[2,1,2,1] strides=[1,2]
output "y" = %2)"},
    {"NumberOfFewerAxes", "1 x mul-number-of-full-rank, 1 x sub-number-of-full-rank",
     R"(%0 = input "x" : f32[2,6,5,1]
%1 = fill() shape=[1] value=0.25
%2 = mul(%0, %1)
%3 = weight "w" seed=1 scale=1 shift=0 positive=0 : f32[]
%4 = sub(%2, %3)
output "y" = %4)"},
    {"FewColumns", "1 x matmul-of-few-columns",
     R"(%0 = input "x" : f32[128,4]
%1 = weight "w" seed=1 scale=1 shift=0 positive=0 : f32[130,128]
%2 = matmul(%1, %0)
output "y" = %2)"},
    {"ChannelShuffle", "1 x channel-shuffle-to-gather", R"(%0 = input "x" : f32[1,12,16,16]
%1 = reshape(%0) shape=[1,3,4,16,16]
%2 = transpose(%1) perm=[0,2,1,3,4]
%3 = reshape(%2) shape=[1,12,16,16]
output "y" = %3)"},
    {"Attention", "4 x transpose-without-first-axis, 1 x matmul-of-keys-last",
     R"(%0 = input "q" : f32[1,16,4,64]
%1 = input "k" : f32[1,16,4,64]
%2 = input "v" : f32[1,16,4,64]
%3 = transpose(%0) perm=[0,2,1,3]
%4 = transpose(%1) perm=[0,2,3,1]
%5 = transpose(%2) perm=[0,2,1,3]
%6 = matmul(%3, %4)
%7 = softmax(%6) axis=3
%8 = matmul(%7, %5)
%9 = transpose(%8) perm=[0,2,1,3]
output "y" = %9)"},
    {"QueriesKeysAndValues", "2 x transpose-without-first-axis",
     R"(%0 = input "x" : f32[1,16,3,2,64]
%1 = transpose(%0) perm=[2,0,3,1,4]
%2 = transpose(%0) perm=[2,0,3,4,1]
output "a" = %1
output "b" = %2)"},
    {"TransposeOfOneColumn", "1 x transpose-without-second-axis", R"(%0 = input "x" : f32[20,1,16,16]
%1 = transpose(%0) perm=[0,3,2,1]
output "y" = %1)"},
    {"TransposeOfOneThird", "1 x transpose-without-third-axis", R"(%0 = input "x" : f32[2,32,1,4,16]
%1 = transpose(%0) perm=[2,0,3,4,1]
output "y" = %1)"},
    {"PatchesOfPixels", "1 x unfold-to-space-to-depth",
     R"(%0 = input "x" : f32[1,24,8,16]
%1 = reshape(%0) shape=[96,2,8,2]
%2 = transpose(%1) perm=[0,2,1,3]
%3 = reshape(%2) shape=[1,24,32,4]
%4 = transpose(%3) perm=[0,3,2,1]
output "y" = %4)"},
    {"PatchesBackToPixels", "1 x fold-to-depth-to-space",
     R"(%0 = input "x" : f32[1,4,32,24]
%1 = transpose(%0) perm=[0,3,2,1]
%2 = reshape(%1) shape=[96,8,2,2]
%3 = transpose(%2) perm=[0,2,1,3]
%4 = reshape(%3) shape=[1,24,8,16]
output "y" = %4)"},
    {"GatherOfSteps", "1 x gather-to-slice, 1 x gather-to-reshaped-slice",
     R"(%0 = input "x" : f32[600,8]
%1 = literal() shape=[3] to=i64 values=[1,3,5]
%2 = gather(%0, %1) axis=1
%3 = literal() shape=[] to=i32 values=[7]
%4 = gather(%0, %3) axis=1
output "a" = %2
output "b" = %4)"},
    {"GatherOfShortRows", "1 x gather-to-slice, 1 x gather-to-reshaped-slice",
     R"(%0 = input "x" : f32[300,8,4]
%1 = literal() shape=[3] to=i64 values=[4,5,6]
%2 = gather(%0, %1) axis=1
%3 = literal() shape=[2,2] to=i64 values=[0,1,2,3]
%4 = gather(%0, %3) axis=1
output "a" = %2
output "b" = %4)"},
    {"GatherOfRepeatedIndices", "1 x gather-elements-of-expand-to-gather, 1 x gather-elements-of-repeated-to-gather",
     R"(%0 = input "x" : f32[2,9,100]
%1 = input "i" : i64[6,1]
%2 = expand(%1) shape=[2,6,100]
%3 = gather_elements(%0, %2) axis=1
%4 = input "z" : f32[5,256]
%5 = fill() shape=[4,256] to=i64 value=3.0
%6 = gather_elements(%4, %5) axis=0
output "a" = %3
output "b" = %6)"},
    {"ConvolutionOfOneImage", "1 x conv-of-one-image", R"(%0 = input "x" : f32[2,6,1,9,8]
%1 = weight "w" seed=1 scale=1 shift=0 positive=0 : f32[4,3,1,3,5]
%2 = weight "b" seed=2 scale=1 shift=0 positive=0 : f32[4]
%3 = conv2d(%0, %1, %2) act=relu group=2 dilations=[1,2,1] pads=[0,1,2,0,0,1] strides=[1,1,2]
output "y" = %3)"},
    {"GatherOfNumbers", "1 x gather-of-one, 1 x gather-of-numbers, 1 x gather-by-rows",
     R"(%0 = input "x" : f32[40]
%1 = input "i" : i64[1200]
%2 = gather(%0, %1) axis=0
%3 = input "z" : f32[2,300,7,1]
%4 = literal() shape=[2,2] to=i64 values=[0,5,3,6]
%5 = gather(%3, %4) axis=2
%6 = literal() shape=[1,1] to=i64 values=[0]
%7 = gather(%3, %6) axis=3
output "a" = %2
output "b" = %5
output "c" = %7)"},
    {"LogarithmsOfSoftmax", "1 x log-softmax-of-channels, 1 x reduce-sum-to-matmul, 1 x reduce-max-in-4-parts",
     R"(%0 = input "x" : f32[1,16,32,32]
%1 = log_softmax(%0) axis=1
output "y" = %1)"},
    // Where none of it pays.
    {"SoftmaxOfTheLastAxis", "none", R"(%0 = input "x" : f32[1,8,64,64]
%1 = softmax(%0) axis=3
output "y" = %1)"},
    {"SoftmaxOfRows", "none", R"(%0 = input "x" : f32[1,196,512]
%1 = softmax(%0) axis=1
output "y" = %1)"},
    {"SoftmaxOfFewPairs", "none", R"(%0 = input "x" : f32[100,2]
%1 = softmax(%0) axis=1
output "y" = %1)"},
    {"SmallPool", "none", R"(%0 = input "x" : f32[1,4,14,14]
%1 = max_pool(%0) kernel=[3,3] pads=[1,1,1,1]
output "y" = %1)"},
    {"TransposesOfOneAxis", "none", R"(%0 = input "x" : f32[1,16,24,40]
%1 = transpose(%0) perm=[0,2,3,1]
%2 = transpose(%0) perm=[0,3,2,1]
output "a" = %1
output "b" = %2)"},
    {"GatherOfRows", "none", R"(%0 = input "x" : f32[40,64]
%1 = input "i" : i64[1200]
%2 = gather(%0, %1) axis=0
output "y" = %2)"},
    {"GatherOfOtherIndices", "none", R"(%0 = input "x" : f32[600,8,2]
%1 = literal() shape=[3] to=i64 values=[1,3,4]
%2 = gather(%0, %1) axis=1
%3 = literal() shape=[3] to=i64 values=[-3,-2,-1]
%4 = gather(%0, %3) axis=1
%5 = literal() shape=[3] to=i64 values=[6,5,4]
%6 = gather(%0, %5) axis=1
%7 = literal() shape=[3] to=i64 values=[2,4,6]
%8 = gather(%0, %7) axis=1
%9 = literal() shape=[2,2,2] to=i64 values=[0,1,2,3,0,1,2,4]
%10 = gather_elements(%0, %9) axis=1
output "a" = %2
output "b" = %4
output "c" = %6
output "d" = %8
output "e" = %10)"},
    {"SumsOfABatch", "none", R"(%0 = input "x" : f32[8,64,20,20]
%1 = reduce_sum(%0) axes=[1]
output "y" = %1)"},
};

class Respellings : public testing::TestWithParam<Row> {};

TEST_P(Respellings, AreFoundAndComputeTheSame) {
  const auto rules = optimise::tagged(*rules_to_optimise({}), "respell");
  const auto graph = graph::from_text(std::string("graph \"row\"\n") + GetParam().graph + "\n");
  const Everywhere made = make_everywhere(graph, rules, 100);
  EXPECT_EQ(count_rules(made.trace, *rules), GetParam().rules);
  verify::EquivalenceOptions options;
  options.f64 = true;
  const auto same = verify::equivalence(graph, made.graph, options);
  EXPECT_TRUE(same.within(1e-9)) << same.max_rel_error << same.reason;
}

INSTANTIATE_TEST_SUITE_P(All, Respellings, testing::ValuesIn(kRows),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace rlgo::rules
