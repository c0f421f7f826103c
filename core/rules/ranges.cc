#include "core/rules/ranges.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/graph/infinities.h"
#include "core/ops/moves.h"
#include "core/rules/monomials.h"

namespace rlgo::rules {
namespace {

using ops::Attr;
using ops::Op;

constexpr double kLiteralGrowth = 100;  // what transforms by fixed matrices (Winograd) make of a number, at most

class Analysis {
 public:
  Analysis(const CompiledRule& rule, const KnownVariables& known) : rule_(rule), known_(known) {}

  bool run() {
    left_.resize(rule_.left.size());
    for (size_t k = 0; k < rule_.left.size(); ++k) left(static_cast<int32_t>(k));
    for (size_t k = 0; k < rule_.tensors.size(); ++k) allow(variable(static_cast<int>(k)));
    for (size_t k = 0; k < rule_.sequences.size(); ++k) allow(variable(32 + static_cast<int>(k)));
    find_ends();
    for (size_t k = 0; k < rule_.right.size(); ++k) {
      const RightNode& node = rule_.right[k];
      std::vector<Form> in;
      for (const auto& operand : node.operands) in.push_back(form_of(operand));
      const auto attribute = [&](Attr key) { return right_number(node, key); };
      right_.push_back(made_by(node.op, in, attribute));
      Form& made = right_.back();
      const bool allowed = made.constant || is_allowed(made);
      if (allowed) made.limit = {};
      const bool reads_limit = std::ranges::any_of(in, [](const Form& form) { return form.limit.direction != 0; });
      if (reads_limit && made.limit.direction == 0 && !is_tamed(node.op, in)) return false;
      if (!ends_[k] && !allowed && made.limit.direction == 0) return false;
    }
    return true;
  }

 private:
  Form variable(int bit) {
    const uint64_t mask = uint64_t{1} << bit;
    const bool constant = (known_.constant & mask) != 0;
    if (constant && !known_.half && (known_.moderate & mask) != 0) return {.terms = {{1, {}}}, .constant = true};
    return {.terms = {{1, {{bit, 1}}}}, .constant = constant};
  }

  Form form_of(const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::tensor:
        return variable(operand.index);
      case Operand::Kind::sequence:
        return variable(32 + operand.index);
      case Operand::Kind::left:
        return left(operand.index);
      case Operand::Kind::right:
        return right_[static_cast<size_t>(operand.index)];
      default: {
        const Expr& expr = rule_.scalars[static_cast<size_t>(operand.index)];
        const double literal = expr.kind == Expr::Kind::integer ? static_cast<double>(expr.integer)
                               : expr.kind == Expr::Kind::real  ? expr.real
                                                                : 1;
        return number(literal);
      }
    }
  }

  static std::optional<double> left_number(const LeftNode& node, Attr key) {
    for (const auto& [held, value] : node.fixed) {
      if (held == key && std::holds_alternative<double>(value)) return std::get<double>(value);
    }
    return std::nullopt;
  }
  static std::optional<double> right_number(const RightNode& node, Attr key) {
    for (const auto& attr : node.attrs) {
      if (attr.key != key) continue;
      if (attr.expr.kind == Expr::Kind::integer) return static_cast<double>(attr.expr.integer);
      if (attr.expr.kind == Expr::Kind::real) return attr.expr.real;
    }
    return std::nullopt;
  }

  // What a left node computes is allowed. Of a choice (prelu, leaky_relu) not all that it chooses from is computed.
  const Form& left(int32_t index) {
    auto& held = left_[static_cast<size_t>(index)];
    if (held) return *held;
    const LeftNode& node = rule_.left[static_cast<size_t>(index)];
    std::vector<Form> in;
    for (const auto& operand : node.operands) in.push_back(form_of(operand));
    Form made = made_by(node.op, in, [&](Attr key) { return left_number(node, key); });
    made.limit = {};
    if (node.op != Op::prelu) allow(made);
    if (!known_.half) allow_inside(node.op, in);
    left_[static_cast<size_t>(index)] = made;
    return *left_[static_cast<size_t>(index)];
  }

  // Kernels of these operators compute more than their result, in the same precision unless it is half.
  void allow_inside(Op op, const std::vector<Form>& in) {
    if (ops::is_normalisation(op) || op == Op::reduce_l2) allow(power(in[0], 2));
    if (op == Op::gelu) allow(power(in[0], 2)), allow(power(in[0], 3));
  }

  void allow(const Form& form) {
    allowed_.insert(allowed_.end(), form.terms.begin(), form.terms.end());
    if (form.is_sum) sums_.push_back(form);
  }

  // What only moves on to a replaced value lies in range as that does: a product before it is split, joined, reshaped.
  void find_ends() {
    ends_.assign(rule_.right.size(), false);
    for (const auto& replacement : rule_.replacements) mark_end(replacement.with);
    for (size_t k = rule_.right.size(); k-- > 0;) {
      const RightNode& node = rule_.right[k];
      if (!ends_[k] || !ops::moves_only(node.op)) continue;
      for (const auto& operand : node.operands) mark_end(operand);
    }
  }
  void mark_end(const Operand& operand) {
    if (operand.kind == Operand::Kind::right) ends_[static_cast<size_t>(operand.index)] = true;
  }

  bool is_allowed(const Form& form) const {
    const bool all = form.terms.size() <= kMostTerms &&
                     std::ranges::all_of(form.terms, [&](const Monomial& term) { return is_between(term); });
    if (!all || !known_.half || !form.is_sum) return all;
    return std::ranges::any_of(sums_, [&](const Form& sum) {
      return sum.terms.size() == form.terms.size() && std::ranges::all_of(form.terms, [&](const Monomial& term) {
               return std::ranges::find(sum.terms, term.powers, &Monomial::powers) != sum.terms.end();
             });
    });
  }

  // Between two monomials of the left side.
  bool is_between(const Monomial& m) const {
    if (m.powers.empty()) return m.factor < 6e4;
    return std::ranges::any_of(allowed_, [&](const Monomial& p) {
      return std::ranges::any_of(allowed_, [&](const Monomial& q) { return rules::is_between(m, p, q); });
    });
  }

  int atom(const std::string& kind, const Form& form) {
    std::string key = kind;
    auto terms = form.terms;
    std::ranges::sort(terms);
    for (const auto& term : terms) {
      key += " |";
      for (const auto& [of, exponent] : term.powers) key += fmt::format(" {}^{:.4g}", of, exponent);
    }
    return atoms_.try_emplace(key, 64 + static_cast<int>(atoms_.size())).first->second;
  }

  // A sum has no bound below that its terms have.
  Form inverse(const Form& form) {
    if (form.terms.size() == 1) return with(form, {product({}, form.terms[0], -1)});
    return with(form, {{1, {{atom("inverse", form), 1}}}});
  }

  Form power(const Form& form, double exponent) {
    if (exponent < 0) return inverse(power(form, -exponent));
    std::vector<Monomial> terms;
    for (const auto& term : form.terms) terms.push_back(product({}, term, exponent));
    Form made = with(form, terms);
    made.positive = form.positive || exponent == 2;
    return made;
  }

  // x / sqrt(mean(x^2) + c) is small whatever x is.
  Form quotient(const Form& a, const Form& b) {
    const auto below = [&](const Monomial& term) {
      return std::ranges::find(b.terms, term.powers, &Monomial::powers) != b.terms.end();
    };
    if (b.positive && std::ranges::all_of(a.terms, below)) return with(a, number(1).terms);
    return times(a, inverse(b));
  }

  Form of_power(const Form& base, const Form& exponent) {
    const bool literal = exponent.constant && exponent.terms.size() == 1 && exponent.terms[0].powers.empty();
    if (literal) return power(base, exponent.positive ? exponent.terms[0].factor : -exponent.terms[0].factor);
    Form made = with(base, {{1, {{atom("power", united({base, exponent})), 1}}}});
    made.constant = base.constant && exponent.constant;
    return made;
  }

  // How many numbers are added is no matter of the rule: an atom, where that matters.
  Form summed(const Form& form) {
    Form made = form;
    if (!known_.half) return made;
    const int many = atom("many", {});
    for (auto& term : made.terms) term.powers[many] += 1;
    return made;
  }

  Form of_exp(const Form& x) {
    const bool at_most_one = x.constant || x.below_zero;
    Form made = at_most_one ? number(1) : with(x, {{1, {{atom("exp", x), 1}}}});
    made.constant = x.constant;
    made.positive = true;
    if (!at_most_one && !known_.half) made.limit = {1, atom("exp", x), 0};
    return made;
  }

  // A sum, product or quotient of limits is one where both go the same way and none is infinity times 0.
  static Limit limit_of(Op op, const std::vector<Form>& in) {
    if (in.size() != 2 || (op != Op::add && op != Op::mul && op != Op::div)) return {};
    Limit a = in[0].limit, b = in[1].limit;
    const auto is_number = [](const Form& form) {
      return form.limit.direction == 0 && form.constant && form.positive && form.terms.size() == 1 &&
             form.terms[0].powers.empty() && form.terms[0].factor >= 1;
    };
    if (op == Op::div) return b.direction != 0 && is_number(in[0]) ? Limit{-b.direction, b.atom, 0} : Limit{};
    if (a.direction == 0) std::swap(a, b);
    if (a.direction == 0) return {};
    const bool other_is_number = b.direction == 0 && (is_number(in[0]) || is_number(in[1]));
    if (!other_is_number && (a.direction != b.direction || a.atom != b.atom)) return {};
    if (op == Op::add) return {a.direction, a.atom, a.least + (other_is_number ? 1 : b.least)};
    return {a.direction, a.atom, other_is_number ? a.least : a.least * b.least};
  }

  // Whether no infinity is left where the operator reads a limit: x / (1 + exp(y)) is no larger than x.
  static bool is_tamed(Op op, const std::vector<Form>& in) {
    return op == Op::div && in[0].limit.direction == 0 && in[1].limit.least >= 1;
  }

  static bool bounded(Op op) {
    static constexpr Op kBounded[] = {Op::sigmoid,        Op::tanh,     Op::erf,    Op::softmax,     Op::hard_sigmoid,
                                      Op::equal,          Op::less,     Op::log,    Op::less_equal,  Op::logical_and,
                                      Op::logical_or,     Op::softsign, Op::sign,   Op::logical_not, Op::sin,
                                      Op::reduce_log_sum, Op::cos,      Op::lp_norm};
    return std::ranges::find(kBounded, op) != std::ranges::end(kBounded);
  }

  template <typename Attribute>
  Form made_by(Op op, const std::vector<Form>& in, const Attribute& attribute) {
    if (in.empty()) {
      if (op != Op::literal) return number(attribute(Attr::value).value_or(1));
      return {.terms = {{known_.half ? kLiteralGrowth : 1, {}}}, .constant = true};
    }
    const Form all = united(in);
    if (bounded(op)) return {.terms = number(1).terms, .constant = all.constant};
    if (ops::is_normalisation(op)) return with(all, united(in, 1).terms);
    if (is_tamed(op, in)) return with(in[0], in[0].terms);
    if (const Limit limit = limit_of(op, in); limit.direction != 0) {
      Form made = op == Op::add ? sum(in) : op == Op::mul ? times(in[0], in[1]) : quotient(in[0], in[1]);
      made.limit = limit;
      return made;
    }
    switch (op) {
      case Op::mul:
        return times(in[0], in[1]);
      case Op::matmul:
      case Op::conv2d:
      case Op::conv_transpose:
        return in.size() < 3 ? times(in[0], in[1]) : sum({times(in[0], in[1]), united(in, 2)});
      case Op::prelu:
        return united({in[0], times(in[0], in[1])});
      case Op::div:
        return quotient(in[0], in[1]);
      case Op::pow:
        return of_power(in[0], in[1]);
      case Op::sqrt:
        return power(in[0], 0.5);
      case Op::gather:
        return with(all, in[0].terms);
      case Op::batch_norm:
        return of_batch_norm(in);
      case Op::clip:
        return of_clip(in[0], attribute(Attr::min), attribute(Attr::max));
      case Op::add:
        return sum(in);
      case Op::sub: {
        Form made = sum(in);
        made.positive = false;
        made.below_zero = in[1].is_max && in[1].terms == in[0].terms;
        return made;
      }
      case Op::reduce_max: {
        Form made = all;
        made.is_max = true;
        return made;
      }
      default:
        return of_one(op, in[0], all);
    }
  }

  // Of activations and reductions.
  Form of_one(Op op, const Form& x, const Form& all) {
    switch (op) {
      case Op::reciprocal:
        return inverse(x);
      case Op::exp:
        return of_exp(x);
      case Op::abs:
      case Op::relu: {
        Form made = with(all, all.terms);
        made.above_zero = true;
        return made;
      }
      case Op::neg: {
        Form made = with(all, all.terms);
        made.positive = false;
        made.below_zero = x.above_zero;
        return made;
      }
      case Op::softplus:
      case Op::elu:
      case Op::selu:
      case Op::celu:
      case Op::reduce_log_sum_exp:
        return sum({x, number(1)});
      case Op::reduce_sum:
      case Op::reduce_l1:
      case Op::cumsum:
        return summed(x);
      case Op::reduce_sum_square:
        return summed(power(x, 2));
      case Op::reduce_l2:
        return united({x, summed(power(x, 2))});
      case Op::reduce_prod:
        return with(all, {{1, {{atom("product", x), 1}}}});
      default:
        return all;
    }
  }

  Form of_batch_norm(const std::vector<Form>& in) {
    if (in.size() < 5) return united(in);
    const Form scale = times(in[1], inverse(power(united({in[4], number(1)}), 0.5)));
    return sum({times(sum({in[0], in[3]}), scale), in[2]});
  }

  static Form of_clip(const Form& x, std::optional<double> min, std::optional<double> max) {
    if (!min || !max || !std::isfinite(*min) || !std::isfinite(*max))
      return {.terms = x.terms, .constant = x.constant, .below_zero = max && *max <= 0};
    return {.terms = number(std::max(std::abs(*min), std::abs(*max))).terms, .constant = x.constant};
  }

  const CompiledRule& rule_;
  const KnownVariables& known_;
  std::vector<std::optional<Form>> left_;
  std::vector<Form> right_;
  std::vector<bool> ends_;         // by right node: it reaches a replaced value without arithmetic
  std::vector<Monomial> allowed_;  // of all values of the left side
  std::vector<Form> sums_;
  std::map<std::string, int> atoms_;
};

bool is_half(const CompiledRule& rule, const graph::Graph& graph, const Binding& binding) {
  for (size_t k = 0; k < rule.left.size(); ++k) {
    for (const auto& type : graph.node(binding.nodes[k]).info->outputs) {
      if (type.dtype == ops::DType::f16) return true;
    }
  }
  return false;
}

}  // namespace

bool keeps_range(const CompiledRule& rule, const KnownVariables& known) { return Analysis(rule, known).run(); }

std::shared_ptr<RangeCondition> RangeCondition::of(const CompiledRule& rule) {
  if (rule.all_types || rule.of_constants) return nullptr;
  const bool half = keeps_range(rule, {.half = true});
  auto condition = std::make_shared<RangeCondition>();
  condition->half_only_ = keeps_range(rule, {});
  return half && condition->half_only_ ? nullptr : condition;
}

bool RangeCondition::holds(const CompiledRule& rule, const graph::Graph& graph, const Binding& binding) {
  KnownVariables known{.half = is_half(rule, graph, binding)};
  if (!known.half && half_only_) return true;
  const auto look = [&](size_t bit, std::span<const graph::Value> values) {
    const uint64_t mask = uint64_t{1} << bit;
    const auto constant = [&](const graph::Value& v) { return graph.node(v.node).constant; };
    const auto extreme = [&](const graph::Value& v) { return (graph.node(v.node).infinities & graph::kExtreme) != 0; };
    if (!std::ranges::all_of(values, constant)) return;
    known.constant |= mask;
    if (std::ranges::none_of(values, extreme)) known.moderate |= mask;
  };
  for (size_t k = 0; k < rule.tensors.size(); ++k) look(k, {&binding.tensors[k], 1});
  for (size_t k = 0; k < rule.sequences.size(); ++k) {
    const auto& items = binding.sequences[k];
    look(32 + k, {items.begin(), items.size()});
  }
  const std::lock_guard lock(mutex_);
  const auto [answer, is_new] = answers_.try_emplace(known, false);
  if (is_new) answer->second = keeps_range(rule, known);
  return answer->second;
}

}  // namespace rlgo::rules
