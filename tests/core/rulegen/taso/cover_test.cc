#include "core/rulegen/taso/cover.h"

#include <gtest/gtest.h>

#include <map>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/rulegen/taso/taso_rules.h"
#include "core/rulegen/taso/taso_term.h"

namespace rlgo::rulegen {
namespace {

TasoRule one(const std::string& rule) { return read_taso("7\t1->1 ops\t" + rule + "\n", "t.txt").at(0); }

Cover judge(const std::string& taso, const std::string& known, const std::string& axioms, int applications = 4) {
  const auto rule = rules::RuleSet::parse(one(taso).text, "taso");
  CoverOptions options;
  options.applications = applications;
  return cover(*rule, rules::RuleSet::parse(known, "known"), *AxiomSet::parse(axioms, "axioms"), options).cover;
}

const std::string kAssociate =
    "rule right\n ?y = (matmul (matmul ?x ?u) ?v)\n => ?y = (matmul ?x (matmul ?u ?v))\n"
    "rule left\n ?y = (matmul ?x (matmul ?u ?v))\n => ?y = (matmul (matmul ?x ?u) ?v)\n";
const std::string kAxiom =
    "rule associate\n tags two-way\n ?y = (matmul (matmul ?x ?u) ?v)\n => ?y = (matmul ?x (matmul ?u ?v))\n";
const std::string kOther = "rule other\n ?y = (relu (relu ?x))\n => ?y = (relu ?x)\n";

TEST(ReadTaso, StatesWhatTheMatcherAsks) {
  const auto rule = one("concat4d_ax1(conv3x3_s1same_relu(i7, i10), i8)  =>  concat4d_ax1(i7, i8)");
  EXPECT_EQ(rule.name, "taso-007");
  EXPECT_EQ(rule.text,
            "rule taso-007\n  tags taso\n"
            "  ?n0 = (conv2d ?i7 ?i10 act=relu group=?g0 strides=[1, 1] dilations=[1, 1] pads=[1, 1, 1, 1])\n"
            "  ?n1 = (concat ?n0 ?i8 axis=1)\n"
            "  when dim(?i10, 2) == 3 and dim(?i10, 3) == 3\n  when rank(?n0) == 4\n  when rank(?i7) == 4\n"
            "  => ?m0 = (concat ?i7 ?i8 axis=1)\n     ?n1 = ?m0\n");
}

TEST(ReadTaso, SplitsGoWhereTheConcatJoined) {
  const auto rule =
      one("matmul(i1, i4) => split_ax1[0](matmul(i1, concat2d_ax1(i4, i5))) ; "
          "matmul(i1, i5) => split_ax1[1](matmul(i1, concat2d_ax1(i4, i5)))");
  EXPECT_NE(rule.text.find("(split ?m1 axis=1 sizes=[dim(?i4, 1), dim(?i5, 1)])"), std::string::npos) << rule.text;
  EXPECT_NE(rule.text.find("?n1 = ?m2.1"), std::string::npos) << rule.text;
}

TEST(ReadTaso, PartsDirectionsAndWhatIsInexpressible) {
  const auto parts = read_taso("3\t-\trelu(i1) => relu(relu(i1)) ; relu(i2) => relu(relu(i2))\n", "t.txt");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].name, "taso-003-2");
  EXPECT_FALSE(parts[1].reversed);
  const auto identity = one("matmul(i1, constant_imm()) => i1");
  EXPECT_EQ(identity.text, "");
  EXPECT_EQ(identity.inexpressible, "the left side is a tensor alone");
  EXPECT_TRUE(one("conv3x3_s1same_relu(i7, constant_iconv()) => relu(i7)").reversed);
  EXPECT_TRUE(one("relu(transpose(i1)) => relu(transpose(i1))").trivial);
  EXPECT_FALSE(identity.trivial);
  const auto both = one("matmul(i1, constant_imm()) => relu(matmul(i1, constant_imm()))");
  EXPECT_EQ(both.inexpressible, "both sides read constants that no condition can ask for: constant_imm");
}

// Where identities stand on both sides, a pooling kernel is what its number states; extents are asked of a tensor
// alone.
TEST(ReadTaso, PoolingKernelsOnTheLeft) {
  const auto rule =
      one("conv3x3_s1same_relu(pool2d_avg(i7), constant_iconv()) => relu(conv3x3_s1same(i7, constant_pool()))");
  EXPECT_TRUE(rule.reversed);
  EXPECT_NE(rule.text.find("?n0 = (conv2d ?i7 ?pool "), std::string::npos) << rule.text;
  EXPECT_NE(rule.text.find("when near(value(?pool) * 9.0, 1.0)\n"), std::string::npos) << rule.text;
  EXPECT_NE(rule.text.find("when dim(?pool, 0) == dim(?i7, 1)\n"), std::string::npos) << rule.text;
  const auto scaled = one("conv1x3_s1same(i7, mul(i13, i20)) => mul(conv1x3_s1same(i7, i13), i20)");
  EXPECT_NE(scaled.text.find("when dim(?i13, 2) == 1 and dim(?i13, 3) == 3\n"), std::string::npos) << scaled.text;
}

TEST(ReadTaso, BadLinesAreNamed) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      read_taso(text, "t.txt");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("\n0\t-\tsoftplus(i1) => i1\n"), "t.txt:2: unknown operator 'softplus'");
  EXPECT_EQ(message("0\t-\trelu(i1, i2) => i1\n"), "t.txt:1: 2 operands of 'relu', expected 1");
  EXPECT_EQ(message("0\t-\trelu(i1) -> i1\n"), "t.txt:1: expected LEFT => RIGHT, found 'relu(i1) -> i1'");
  EXPECT_EQ(message("0\t-\trelu(i1 => i1\n"), "t.txt:1: 'relu' is not closed");
  EXPECT_EQ(message("0\t-\trelu(i1) x => i1\n"), "t.txt:1: 'x' after the term");
  EXPECT_EQ(message("hello\n").substr(0, 17), "t.txt:1: expected");
  EXPECT_EQ(message("0\t-\t" + std::string(200, 'x') + "(i1) => i1\n").substr(0, 25), "t.txt:1: unknown operator");
}

// ---- graph_subst.pb: what TASO's generator writes, made from the text
// ---------------------------------------------------

std::string varint(int64_t value) {
  std::string out;
  auto rest = static_cast<uint64_t>(value);
  for (; rest >= 0x80; rest >>= 7) out += static_cast<char>(rest | 0x80);
  return out + static_cast<char>(rest);
}
std::string number(int field, int64_t value) { return varint(field << 3) + varint(value); }
std::string message(int field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(static_cast<int64_t>(bytes.size())) + bytes;
}
using Parameters = std::vector<std::pair<int, int>>;

// Type and parameters, as pb_fill_op() of TASO's generator has them.
std::pair<int, Parameters> of_word(const std::string& op) {
  static const std::map<std::string, std::pair<int, Parameters>> kWords{
      {"matmul", {18, {{9, 0}}}},
      {"ew_add", {16, {}}},
      {"ew_mul", {17, {}}},
      {"mul", {19, {}}},
      {"relu", {8, {}}},
      {"transpose", {15, {{10, 2}, {12, 2}, {13, 1}}}},
      {"enlarge", {20, {{4, 3}, {5, 3}}}},
      {"pool2d_max", {6, {{0, 6}, {4, 3}, {5, 3}, {6, 1}, {7, 1}, {8, 0}, {9, 0}}}},
      {"pool2d_avg", {7, {{0, 7}, {4, 3}, {5, 3}, {6, 1}, {7, 1}, {8, 0}, {9, 0}}}},
      {"constant_one", {24, {}}},
      {"constant_imm", {22, {}}},
      {"constant_iconv", {23, {{4, 3}, {5, 3}}}},
      {"constant_pool", {25, {{4, 3}, {5, 3}}}}};
  if (const auto held = kWords.find(op); held != kWords.end()) return held->second;
  if (op.starts_with("concat")) return {12, {{1, 2}, {11, op[op.size() - 1] - '0'}, {10, op[6] - '0'}}};
  if (op.starts_with("split")) return {13, {{2, 2}, {11, op[8] - '0'}}};
  const int act = op.ends_with("_relu") ? 2 : 0;
  return {3, {{4, op[4] - '0'}, {5, op[6] - '0'}, {6, 1}, {7, 1}, {8, 0}, {9, act}}};
}

// Operators of one side; equal terms are one.
struct Encoder {
  std::map<std::string, int64_t> known;
  std::string ops;
  int field;

  std::pair<int64_t, int64_t> add(const TasoTerm& term) {
    if (term.is_variable()) return {-std::stoll(term.op.substr(1)), 0};
    const bool split = term.op.starts_with("split");
    std::string inputs;
    for (const auto& operand : term.operands) {
      const auto [op, port] = add(operand);
      inputs += message(2, number(1, op) + number(2, port));
    }
    const std::string word = split ? term.op.substr(0, 9) : term.op;
    const auto [type, parameters] = of_word(word);
    std::string body = number(1, type) + inputs;
    for (const auto& [key, value] : parameters) body += message(3, number(1, key) + number(2, value));
    const auto [place, fresh] = known.try_emplace(body, static_cast<int64_t>(known.size()));
    if (fresh) ops += message(field, body);
    return {place->second, split ? term.op[10] - '0' : 0};
  }
};

std::string encode(const std::string& rule) {
  Encoder left{{}, "", 1}, right{{}, "", 2};
  std::string outputs;
  for (const auto& part : split(rule, ';')) {
    const size_t arrow = part.find("=>");
    const auto from = left.add(parse_taso_term(trim(std::string_view(part).substr(0, arrow)), "t"));
    const auto to = right.add(parse_taso_term(trim(std::string_view(part).substr(arrow + 2)), "t"));
    outputs += message(3, number(1, from.first) + number(2, to.first) + number(3, from.second) + number(4, to.second));
  }
  return message(1, left.ops + right.ops + outputs);
}

TEST(ReadTasoProtobuf, EqualsTheText) {
  for (const char* file : {"tests/data/rules/taso-133.txt", "tests/data/rules/taso-619.txt"}) {
    const std::string text = read_file(file);
    std::string bytes;
    for (const auto& line : split(text, '\n')) {
      if (!line.empty()) bytes += encode(std::string(split(line, '\t')[2]));
    }
    const auto expected = read_taso(text, file), got = read_taso_protobuf(bytes, "g.pb");
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) {
      EXPECT_EQ(got[k].name, expected[k].name);
      EXPECT_EQ(got[k].text, expected[k].text);
      EXPECT_EQ(got[k].inexpressible, expected[k].inexpressible);
      EXPECT_EQ(got[k].reversed, expected[k].reversed);
      EXPECT_EQ(got[k].source, expected[k].source);
    }
  }
}

std::string pb_error(const std::string& bytes) {
  try {
    read_taso_protobuf(bytes, "g.pb");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ReadTasoProtobuf, DamagedFilesAreRefused) {
  const std::string whole = encode("relu(i1) => relu(relu(i1))");
  EXPECT_EQ(pb_error(whole), "");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(pb_error(whole.substr(0, size)), "") << size;
  EXPECT_EQ(pb_error(""), "g.pb: holds no rule of TASO (message RuleCollection of graph_subst.pb)");
  EXPECT_NE(pb_error("0\t1->1 ops\trelu(i1) => i1\n"), "");
  const std::string no_type = message(1, message(1, message(2, number(1, -1) + number(2, 0))));
  EXPECT_EQ(pb_error(no_type), "g.pb: rule 0, source operator 0: the required field 1 is missing");
  const auto rule = [](const std::string& left) {
    return message(
        1, message(1, left) + message(2, left) + message(3, number(1, 0) + number(2, 0) + number(3, 0) + number(4, 0)));
  };
  const std::string self = number(1, 8) + message(2, number(1, 0) + number(2, 0));
  EXPECT_EQ(pb_error(rule(self)), "g.pb: rule 0, source: operator 0 reads operator 0, which is not before it");
  EXPECT_EQ(pb_error(rule(number(1, 16) + message(2, number(1, -1) + number(2, 0)))),
            "g.pb: rule 0, source: operator 0 (type 16) has 1 inputs, expected 2");
  EXPECT_EQ(pb_error(rule(number(1, 12))), "g.pb: rule 0, source: operator 0 (type 12) has no parameter 11");
  const std::string add =
      message(1, number(1, 16) + message(2, number(1, -1) + number(2, 0)) + message(2, number(1, -1) + number(2, 0)));
  std::string doubled = add;  // each operator reads the one before twice: 2^40 terms
  for (int k = 0; k < 40; ++k) {
    const std::string twice = message(2, number(1, k) + number(2, 0));
    doubled += message(1, number(1, 16) + twice + twice);
  }
  EXPECT_EQ(pb_error(message(1, doubled + message(3, number(1, 40) + number(2, -1) + number(3, 0) + number(4, 0)))),
            "g.pb: rule 0, source: more than 10000 terms");
}

TEST(ReadTasoProtobuf, WhatIsInexpressibleIsListed) {
  const std::string input = message(2, number(1, -7) + number(2, 0)) + message(2, number(1, -8) + number(2, 0));
  std::string conv = number(1, 3) + input;
  for (const auto& [key, value] : Parameters{{4, 3}, {5, 3}, {6, 2}, {7, 2}, {8, 0}, {9, 0}})
    conv += message(3, number(1, key) + number(2, value));
  const auto rules =
      read_taso_protobuf(message(1, message(1, conv) + message(2, conv) +
                                        message(3, number(1, 0) + number(2, 0) + number(3, 0) + number(4, 0))) +
                             encode("relu(i1) => relu(relu(i1))"),
                         "g.pb");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].text, "");
  EXPECT_EQ(rules[0].inexpressible.substr(0, 26), "operator 0: a convolution ");
  EXPECT_EQ(rules[1].name, "taso-001");
  EXPECT_NE(rules[1].text, "");
}

TEST(Cover, ContainedDerivedProvedUnknown) {
  const std::string two = "matmul(matmul(i1, i4), i5) => matmul(i1, matmul(i4, i5))";
  const std::string three = "matmul(matmul(matmul(i1, i4), i5), i6) => matmul(i1, matmul(i4, matmul(i5, i6)))";
  EXPECT_EQ(judge(two, kAssociate, kAxiom), Cover::contained);
  EXPECT_EQ(judge(three, kAssociate, kAxiom), Cover::derived);
  EXPECT_EQ(judge(three, kOther, kAxiom), Cover::proved);
  EXPECT_EQ(judge("relu(i1) => relu(relu(i1))", kAssociate, kAxiom), Cover::unknown);
}

// Products of five factors: from the left comb to the right one are three rotations, between these two trees four.
TEST(Cover, FurtherByThreeAndFourApplications) {
  const std::string three =
      "matmul(matmul(matmul(matmul(i1, i2), i4), i5), i6) => matmul(i1, matmul(i2, matmul(i4, matmul(i5, i6))))";
  EXPECT_EQ(judge(three, kAssociate, kAxiom, 2), Cover::proved);
  EXPECT_EQ(judge(three, kAssociate, kAxiom, 3), Cover::further);
  const std::string four =
      "matmul(matmul(matmul(i1, i2), matmul(i4, i5)), i6) => matmul(i1, matmul(matmul(i2, i4), matmul(i5, i6)))";
  EXPECT_EQ(judge(four, kAssociate, kAxiom, 3), Cover::proved);
  EXPECT_EQ(judge(four, kAssociate, kAxiom, 4), Cover::further);
}

// True for one group, or without broadcasts, and applied by TASO everywhere.
TEST(Cover, UnsoundOnesAreRefuted) {
  for (const std::string text :
       {"concat4d_ax1(conv3x3_s1same(i7, i10), conv3x3_s1same(i7, i11)) => conv3x3_s1same(i7, concat4d_ax0(i10, i11))",
        "concat4d_ax1(conv1x3_s1same_relu(i7, i13), conv1x3_s1same_relu(i8, i14)) => "
        "conv1x3_s1same_relu(concat4d_ax1(i7, i8), concat4d_ax0(i13, i14))",
        "conv3x3_s1same(ew_add(i7, i8), i10) => ew_add(conv3x3_s1same(i7, i10), conv3x3_s1same(i8, i10))"}) {
    const auto rule = rules::RuleSet::parse(one(text).text, "taso");
    const auto result = cover(*rule, rules::RuleSet::parse(kOther, "known"), *AxiomSet::parse(kAxiom, "axioms"), {});
    EXPECT_EQ(result.cover, Cover::refuted) << text;
    EXPECT_NE(result.reason.find("right"), std::string::npos);
  }
}

}  // namespace
}  // namespace rlgo::rulegen
