#include "core/rulegen/prove/sym_ranks.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "core/ops/moves.h"
#include "core/ops/windows.h"

namespace rlgo::rulegen::sym {
namespace {

using ops::Attr;
using ops::Op;
using rules::Operand;

constexpr uint32_t kAny = (1u << (Ranks::kMost + 1)) - 1;
constexpr uint32_t only(int rank) { return 1u << rank; }
// From the least rank in the set on, and up to the largest one.
uint32_t upwards(uint32_t ranks) { return ranks == 0 ? 0 : kAny & ~((ranks & -ranks) - 1); }
uint32_t downwards(uint32_t ranks) { return ranks == 0 ? 0 : (std::bit_floor(ranks) << 1) - 1; }

// Length of a list attribute, the value of a whole one; -1: open.
int length_of(const rules::LeftNode& node, Attr key) {
  for (const auto& [held, value] : node.fixed) {
    if (held != key) continue;
    const auto* list = std::get_if<std::vector<int64_t>>(&value);
    return list ? static_cast<int>(list->size()) : -1;
  }
  const auto test = std::ranges::find(node.tests, key, &rules::AttrTest::key);
  return test != node.tests.end() && test->is_list ? static_cast<int>(test->items.size()) : -1;
}
int length_of(const rules::RightNode& node, Attr key) {
  const auto held = std::ranges::find(node.attrs, key, &rules::RightAttr::key);
  return held != node.attrs.end() && held->expr.kind == rules::Expr::Kind::list
             ? static_cast<int>(held->expr.args.size())
             : -1;
}
bool keeps_rank(const rules::LeftNode& node) {
  return std::ranges::any_of(node.fixed, [](const auto& item) {
    return item.first == Attr::keepdims && item.second == ops::AttrValue(int64_t{1});
  });
}
bool keeps_rank(const rules::RightNode& node) {
  return std::ranges::any_of(node.attrs, [](const auto& attr) {
    return attr.key == Attr::keepdims && attr.expr.kind == rules::Expr::Kind::integer && attr.expr.integer == 1;
  });
}

}  // namespace

Ranks::Ranks(const rules::CompiledRule& rule, bool all_windows)
    : windows_(all_windows ? only(3) | only(4) | only(5) : only(4)),
      tensors_(rule.tensors.size()),
      left_(tensors_ + rule.sequences.size()),
      right_(left_ + rule.left.size()),
      start_(right_ + rule.right.size(), kAny),
      lists_(start_.size()),
      uniform_(rule.sequences.size(), 0),
      filled_(rule.sequences.size(), 0) {
  for (const auto& node : rule.left) {
    for (const auto& operand : node.operands) {
      if (node.op == Op::concat && operand.kind == Operand::Kind::sequence)
        uniform_[static_cast<size_t>(operand.index)] = 1;
    }
  }
  for (size_t k = 0; k < rule.sequences.size(); ++k) lists_[tensors_ + k] = {static_cast<int>(k)};
  for (size_t k = 0; k < rule.left.size(); ++k) read(rule.left[k], static_cast<int>(left_ + k), true);
  for (size_t k = 0; k < rule.right.size(); ++k) read(rule.right[k], static_cast<int>(right_ + k), false);
  for (const auto& replacement : rule.replacements) {
    if (replacement.with.kind == Operand::Kind::scalar) continue;
    if (const int with = operand(replacement.with); with >= 0) demand(static_cast<int>(left_) + replacement.left, with);
  }
  reset();
}

// The demands of a node. A mapped one stands for all its rounds: without elements there are none.
template <class Node>
void Ranks::read(const Node& node, int out, bool left) {
  std::vector<int> in;
  bool placed = true;  // each operand so far is one tensor
  for (size_t place = 0; place < node.operands.size(); ++place) {
    const auto& one = node.operands[place];
    placed = placed && !one.spread;
    if (one.kind == Operand::Kind::scalar) {
      in.push_back(fresh(left ? kAny : only(0)));
      if (left) numbers_.push_back({static_cast<size_t>(out) - left_, place, static_cast<size_t>(in.back())});
    } else {
      in.push_back(placed || node.op == Op::concat ? operand(one) : -1);
    }
    if (!one.element) continue;
    if (one.kind == Operand::Kind::sequence) lists_[static_cast<size_t>(out)].push_back(one.index);
    if (one.kind != Operand::Kind::right) continue;
    const auto inner = lists_[right_ + static_cast<size_t>(one.index)];
    lists_[static_cast<size_t>(out)].insert(lists_[static_cast<size_t>(out)].end(), inner.begin(), inner.end());
  }
  of_node(node.op, out, in, length_of(node, node.op == Op::transpose ? Attr::perm : Attr::shape), keeps_rank(node));
}

void Ranks::reset() {
  domains_ = start_;
  std::ranges::fill(filled_, 0);
  settle();
}

int Ranks::fresh(uint32_t ranks) {
  start_.push_back(ranks);
  lists_.emplace_back();
  return static_cast<int>(start_.size()) - 1;
}

// The variable of an operand; -1: its ranks are not known to be one.
int Ranks::operand(const Operand& operand) const {
  const auto index = static_cast<size_t>(operand.index);
  switch (operand.kind) {
    case Operand::Kind::tensor:
      return static_cast<int>(index);
    case Operand::Kind::sequence:
      return uniform_[index] ? static_cast<int>(tensors_ + index) : -1;
    case Operand::Kind::left:
      return static_cast<int>(left_ + index);
    case Operand::Kind::right:
      return static_cast<int>(right_ + index);
    default:
      return -1;
  }
}

void Ranks::demand(int out, int a, int b) {
  if (out < 0 || a < 0) return;
  Demand made{out, a, b, {}};
  for (const int variable : {out, a, b}) {
    if (variable < 0) continue;
    const auto& lists = lists_[static_cast<size_t>(variable)];
    made.lists.insert(made.lists.end(), lists.begin(), lists.end());
  }
  demands_.push_back(std::move(made));
}

// By the node `out`, which is where its lists have elements.
void Ranks::restrict(int out, int variable, uint32_t ranks) {
  if (variable >= 0 && (lists_[static_cast<size_t>(out)].empty() || !lists_[static_cast<size_t>(variable)].empty()))
    start_[static_cast<size_t>(variable)] &= ranks;
}

// Of convolutions and pools.
void Ranks::of_windows(Op op, int out, const std::vector<int>& in) {
  if (ops::is_convolution(op)) {
    restrict(out, in[1], windows_);
    demand(out, in[1]);
  }
  restrict(out, in[0], windows_);
  demand(out, in[0]);
  restrict(out, out, windows_);
}

// `listed`: how many items the node's permutation or shape has, -1: open.
void Ranks::of_node(Op op, int out, const std::vector<int>& in, int listed, bool keeps) {
  if (ops::is_reduction(op)) {
    if (keeps) demand(out, in[0]);
    return restrict(out, in[0], upwards(only(1)));
  }
  if (ops::has_windows(op)) return of_windows(op, out, in);
  switch (op) {
    case Op::concat:
      restrict(out, out, upwards(only(1)));
      for (int variable : in) demand(out, variable);
      return;
    case Op::split:
    case Op::softmax:
    case Op::log_softmax:
    case Op::lp_norm:
    case Op::cumsum:
    case Op::layer_norm:
    case Op::rms_norm:
      restrict(out, out, upwards(only(1)));
      return demand(out, in[0]);
    case Op::slice:
    case Op::pad:
    case Op::cast:
    case Op::batch_norm:
    case Op::instance_norm:
    case Op::group_norm:
      return demand(out, in[0]);
    case Op::transpose:
      if (listed >= 0) restrict(out, out, only(std::min(listed, kMost)));
      return demand(out, in[0]);
    case Op::reshape:
    case Op::fill:
      if (listed >= 0) restrict(out, out, only(std::min(listed, kMost)));
      return;
    case Op::matmul:
      for (size_t k = 0; k < 2; ++k) restrict(out, in[k], upwards(only(2)));
      restrict(out, out, upwards(only(2)));
      if (in[1] >= 0) demand(out, in[0], in[1]);
      return;
    case Op::resize:
    case Op::depth_to_space:
    case Op::space_to_depth:
      restrict(out, in[0], only(4));
      return restrict(out, out, only(4));
    case Op::attention:  // heads as an axis, or in the last one
      for (size_t k = 0; k < 3; ++k) restrict(out, in[k], only(3) | only(4));
      return restrict(out, out, only(3) | only(4));
    case Op::trilu:
      restrict(out, out, upwards(only(2)));
      return demand(out, in[0]);
    case Op::where:
    case Op::expand:
    case Op::recurrent:
      return;
    default:
      if (!ops::spec(op).elementwise) return;
      if (in.size() == 1) demand(out, in[0]);
      if (in.size() == 2 && in[1] >= 0) demand(out, in[0], in[1]);
  }
}

uint32_t Ranks::of_number(size_t left, size_t place) const {
  const auto held = std::ranges::find_if(numbers_, [&](const Number& n) { return n.left == left && n.place == place; });
  return domains_[held->variable];
}

bool Ranks::fix_number(size_t left, size_t place, int rank) {
  const auto held = std::ranges::find_if(numbers_, [&](const Number& n) { return n.left == left && n.place == place; });
  return fix(held->variable, rank);
}

bool Ranks::fix_sequence(int32_t slot, int rank) {
  if (!uniform_[static_cast<size_t>(slot)]) return true;
  filled_[static_cast<size_t>(slot)] = 1;
  return fix(sequence(slot), rank);
}

bool Ranks::fix(size_t variable, int rank) {
  domains_[variable] &= only(std::min(rank, kMost));
  return domains_[variable] != 0 && settle();
}

bool Ranks::has_elements(const Demand& demand) const {
  return std::ranges::all_of(demand.lists, [&](int list) { return filled_[static_cast<size_t>(list)] != 0; });
}

// Until nothing changes: each variable keeps the ranks that some ranks of the others go with.
bool Ranks::settle() {
  for (bool again = true; again;) {
    again = false;
    for (const auto& demand : demands_) {
      if (!has_elements(demand)) continue;
      const auto [out, a, b] = std::tuple(demand.out, demand.a, demand.b);
      uint32_t &o = domains_[static_cast<size_t>(out)], &x = domains_[static_cast<size_t>(a)];
      const uint32_t before[] = {o, x};
      if (b < 0) {
        o &= x;
        x = o;
      } else {
        uint32_t& y = domains_[static_cast<size_t>(b)];
        const uint32_t other = y;
        o &= (x & upwards(y)) | (y & upwards(x));
        x &= (o & upwards(y)) | downwards(y & o);
        y &= (o & upwards(x)) | downwards(x & o);
        again = again || y != other;
        if (y == 0) return false;
      }
      again = again || o != before[0] || x != before[1];
      if (o == 0 || x == 0) return false;
    }
  }
  return true;
}

}  // namespace rlgo::rulegen::sym
