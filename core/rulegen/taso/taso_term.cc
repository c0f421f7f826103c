#include "core/rulegen/taso/taso_term.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/base/error.h"

namespace rlgo::rulegen {
namespace {

constexpr int kMaxDepth = 64;

// convKxL_s1same, convKxL_s1same_relu with odd kernels below 10.
bool is_conv(std::string_view op) {
  constexpr std::string_view kOdd = "13579";
  return op.size() > 8 && op.starts_with("conv") && kOdd.find(op[4]) != kOdd.npos && op[5] == 'x' &&
         kOdd.find(op[6]) != kOdd.npos && (op.substr(7) == "_s1same" || op.substr(7) == "_s1same_relu");
}

// -1 where TASO's texts have no such operator.
int arity(const std::string& op) {
  constexpr std::array<std::pair<const char*, int>, 15> kTable{{{"matmul", 2},
                                                                {"ew_add", 2},
                                                                {"ew_mul", 2},
                                                                {"mul", 2},
                                                                {"relu", 1},
                                                                {"sigmoid", 1},
                                                                {"tanh", 1},
                                                                {"transpose", 1},
                                                                {"enlarge", 1},
                                                                {"pool2d_avg", 1},
                                                                {"pool2d_max", 1},
                                                                {"constant_one", 0},
                                                                {"constant_imm", 0},
                                                                {"constant_iconv", 0},
                                                                {"constant_pool", 0}}};
  for (const auto& [name, count] : kTable) {
    if (op == name) return count;
  }
  if (is_conv(op)) return 2;
  if (op == "concat2d_ax0" || op == "concat2d_ax1" || op == "concat4d_ax0" || op == "concat4d_ax1") return 2;
  if (op == "split_ax0[0]" || op == "split_ax0[1]" || op == "split_ax1[0]" || op == "split_ax1[1]") return 1;
  return -1;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  TasoTerm all() {
    TasoTerm result = term(0);
    if (at_ != text_.size()) fail("{}: '{}' after the term", place_, text_.substr(at_));
    return result;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    skip();
    return true;
  }
  TasoTerm term(int depth) {
    if (depth > kMaxDepth) fail("{}: terms nested deeper than {}", place_, kMaxDepth);
    skip();
    const size_t start = at_;
    const auto belongs = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '[' || c == ']';
    };
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    TasoTerm result{std::string(text_.substr(start, at_ - start)), {}};
    if (result.is_variable()) {
      skip();
      return result;
    }
    const int expected = arity(result.op);
    if (expected < 0) fail("{}: unknown operator '{}'", place_, result.op);
    if (!take('(')) fail("{}: '{}' has no '('", place_, result.op);
    while (!take(')')) {
      if (!result.operands.empty() && !take(',')) fail("{}: '{}' is not closed", place_, result.op);
      result.operands.push_back(term(depth + 1));
    }
    if (static_cast<int>(result.operands.size()) != expected)
      fail("{}: {} operands of '{}', expected {}", place_, result.operands.size(), result.op, expected);
    return result;
  }

  std::string_view text_;
  const std::string& place_;
  size_t at_ = 0;
};

}  // namespace

bool TasoTerm::is_variable() const {
  return op.size() > 1 && op[0] == 'i' &&
         std::all_of(op.begin() + 1, op.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string to_text(const TasoTerm& term) {
  if (term.is_variable()) return term.op;
  std::string inside;
  for (const auto& operand : term.operands) inside += (inside.empty() ? "" : ", ") + to_text(operand);
  return term.op + "(" + inside + ")";
}

TasoTerm parse_taso_term(std::string_view text, const std::string& place) { return Reader(text, place).all(); }

}  // namespace rlgo::rulegen
