// Foreign rules: substitutions of TASO as texts, read into rlgo's rule language as TASO itself applies them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rlgo::rulegen {

struct TasoRule {
  std::string name;           // taso-NNN, its number; taso-NNN-1, -2 where it is two rules with nothing in common
  std::string source;         // its line, without number and counts
  std::string text;           // in the language of core/rules/parser.h; "" where that cannot express it
  std::string inexpressible;  // then: why
  // The left side reads a constant that no condition can ask for (an identity kernel), or falls into parts that share
  // no tensor: `text` is the rule from right to left, the same claim about values, but another rewrite.
  bool reversed = false;
  bool trivial = false;  // both sides are one term: in TASO they differed in layout alone
};

// Lines "NUMBER <tab> COUNTS <tab> LEFT => RIGHT ; LEFT => RIGHT ..." (outputs in pairs) over terms
//   iN                            a tensor; i20 a scalar
//   matmul ew_add ew_mul mul relu transpose (of a matrix), enlarge (of a 1x3 kernel to 3x3 by zeros)
//   conv3x3_s1same, conv1x3_s1same, with _relu behind; groups follow from the shapes, as in TASO
//   concat2d_axK, concat4d_axK, split_axK[PORT] (at the place where the concat below it joined)
//   pool2d_max, pool2d_avg        3x3, stride 1, SAME; padding counts in the mean, as the rules themselves demand
//   constant_one, constant_imm (identity matrix), constant_iconv (identity kernel), constant_pool (all 1/9)
// Only what TASO's matcher asks is asked: kernel sizes, ranks of concats and matrix products. Neither "one group" nor
// "no broadcast" is. Throws Error "FILE:LINE: reason" on what is no such line.
std::vector<TasoRule> read_taso(std::string_view text, const std::string& file_name);

// The same from TASO's own format, the protobuf file graph_subst.pb that its generator writes and its optimiser loads
// (message RuleCollection of its rules.proto); rule k of the file is taso-00k. What the terms above cannot express
// (VALID, strides, even kernels, batch norm, an activation inside a matrix product) makes a rule without text that
// reports so. Throws Error "FILE: place: reason" where the bytes are no such message, a required field is missing, a
// reference leads nowhere, or there is no rule.
std::vector<TasoRule> read_taso_protobuf(std::string_view bytes, const std::string& file_name);

}  // namespace rlgo::rulegen
