#include "core/rules/proof_scope.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/ops/moves.h"
#include "core/ops/windows.h"
#include "core/rules/ranges.h"

namespace rlgo::rules {
namespace {

using ops::Attr;
using ops::Op;

// An extent of 0, at some of the open sizes.
bool has_zero(const ops::TensorType& type) {
  if (!type.open) return std::ranges::find(type.shape, 0) != type.shape.end();
  return !std::ranges::all_of(*type.open, [](const ops::Extent& extent) { return extent.at_least(1); });
}

bool is_open(const ops::Attrs& attrs) {
  const auto* shape = attrs.find(Attr::shape);
  const auto* items = shape ? std::get_if<ops::Ints>(shape) : nullptr;
  return items && std::ranges::any_of(*items, [](int64_t item) { return item < 0; });
}

// A window of kernel k at dilation d covers positions d apart. One of them lies in the image where the image is at
// least as large as the step between them, and where nothing is padded.
bool windows_have_elements(const ops::TensorType& image, const ops::Attrs& attrs) {
  const auto &pads = attrs.ints(Attr::pads), &dilations = attrs.ints(Attr::dilations);
  for (size_t d = 0; d < dilations.size(); ++d) {
    const bool is_padded = dilations[d] > 1 && pads[d] + pads[d + dilations.size()] > 0;
    if (is_padded && !image.extent(static_cast<int64_t>(2 + d)).at_least(dilations[d])) return false;
  }
  return true;
}

// Rules were proved for images first.
bool has_known_axes(const CompiledRule& rule, Op op, const ops::TensorType& image) {
  return rule.all_windows || !ops::has_windows(op) || image.rank() == 4;
}

const AttrTest* shape_test(const LeftNode& node) {
  const auto test = std::ranges::find(node.tests, Attr::shape, &AttrTest::key);
  return test == node.tests.end() ? nullptr : &*test;
}

// Slots that an expression reads, as bits.
uint32_t read_by(const Expr& expr) {
  uint32_t bits = 0;
  if (expr.kind == Expr::Kind::name && expr.slot.kind == SlotKind::attribute) bits |= 1u << expr.slot.index;
  for (const auto& arg : expr.args) bits |= read_by(arg);
  return bits;
}

uint32_t find_read_shapes(const CompiledRule& rule) {
  uint32_t read = 0, passed = 0;
  for (const auto& condition : rule.conditions) read |= read_by(condition.expr);
  for (const auto& test : rule.deferred) read |= read_by(test.expr);
  for (const auto& scalar : rule.scalars) read |= read_by(scalar);
  for (const auto& node : rule.right) {
    for (const auto& attr : node.attrs) {
      const bool plain = node.op == Op::reshape && attr.key == Attr::shape && attr.expr.kind == Expr::Kind::name;
      (plain ? passed : read) |= read_by(attr.expr);
    }
  }
  uint32_t bound = 0, twice = 0, items = 0;
  for (const auto& node : rule.left) {
    for (const auto& test : node.tests) {
      for (const auto& item : test.items) {
        if (item.slot < 0) continue;
        const uint32_t bit = 1u << item.slot;
        twice |= bound & bit;
        bound |= bit;
        if (test.is_list) items |= bit;
      }
    }
  }
  return read | twice | (items & passed);
}

// A shape with open items stands for other numbers at other inputs: fine where it is only passed on.
bool open_shape_passed_on(const CompiledRule& rule, const LeftNode& node) {
  if (node.bundle >= 0 && std::ranges::find(node.mentioned, Attr::shape) == node.mentioned.end())
    return std::ranges::count(rule.left, node.bundle, &LeftNode::bundle) == 1;
  const AttrTest* test = shape_test(node);
  if (!test) return std::ranges::any_of(node.fixed, [](const auto& item) { return item.first == Attr::shape; });
  return std::ranges::none_of(
      test->items, [&](const AttrItem& item) { return item.slot >= 0 && (rule.read_shapes >> item.slot & 1u) != 0; });
}

// Whether the rule leaves open how many items the node's attribute has.
bool open_length(const LeftNode& node, Attr key) {
  const auto test = std::ranges::find(node.tests, key, &AttrTest::key);
  if (test != node.tests.end()) return !test->is_list;
  return std::ranges::none_of(node.fixed, [&](const auto& item) { return item.first == key; });
}

// How often each variable and each operator that computes something, or makes elements, occurs on one side.
struct Occurrences {
  std::map<std::pair<Operand::Kind, int32_t>, int> read;
  std::map<Op, int> operators;

  void add(Op op, const std::vector<Operand>& operands) {
    if (!ops::moves_only(op) || op == Op::pad) ++operators[op];
    for (const auto& operand : operands) add(operand);
  }
  void add(const Operand& operand) {
    const bool variable = operand.kind == Operand::Kind::tensor || operand.kind == Operand::Kind::sequence;
    if (variable) ++read[{operand.kind, operand.index}];
  }
  bool operator==(const Occurrences&) const = default;
};

// f(move(x)) = move(f(x)) holds for any f; sums and products of the same elements are reordered. Zeros that a pad makes
// are no such elements: a convolution by a padded kernel multiplies them with what the kernel did not read before.
bool find_rearranges(const CompiledRule& rule) {
  Occurrences left, right;
  for (const auto& node : rule.left) left.add(node.op, node.operands);
  for (const auto& node : rule.right) right.add(node.op, node.operands);
  for (const auto& replacement : rule.replacements) right.add(replacement.with);
  const auto is_elementwise = [](const auto& item) { return ops::spec(item.first).elementwise; };
  const bool one = left.operators.size() == 1 && left.operators.begin()->second == 1;
  return rule.scalars.empty() && left == right && (one || std::ranges::all_of(left.operators, is_elementwise));
}

class ScopeCheck {
 public:
  ScopeCheck(const CompiledRule& rule, const graph::Graph& graph, const Binding& binding)
      : rule_(rule), graph_(graph), binding_(binding) {}

  bool run() {
    for (size_t k = 0; k < rule_.left.size(); ++k) {
      if (!node(rule_.left[k], graph_.node(binding_.nodes[k]))) return false;
    }
    return true;
  }

 private:
  bool node(const LeftNode& left, const graph::Node& node) {
    if (!lists(left, node) || (!rule_.all_types && !finite(left.op, node))) return false;
    for (const auto& output : node.info->outputs) {
      if (!value(output)) return false;
    }
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const auto& type = graph_.type(node.inputs[k]);
      const bool index = ops::holds_places(left.op, k);
      if (has_zero(type) || (!index && !value(type))) return false;
    }
    if (!ranks(left, node)) return false;
    if (!node.inputs.empty() && !has_known_axes(rule_, left.op, graph_.type(node.inputs[0]))) return false;
    if (left.op == Op::reshape && is_open(node.attrs()) && !open_shape_passed_on(rule_, left)) return false;
    return left.op != Op::max_pool || windows_have_elements(graph_.type(node.inputs[0]), node.attrs());
  }

  // Numbers in attributes and constants; a clip may have no bound below (-inf) or above (inf).
  bool finite(Op op, const graph::Node& node) const {
    const auto is_finite = [](const auto& item) {
      const auto* number = std::get_if<double>(&item.second);
      return !number || std::isfinite(*number);
    };
    if (op != Op::clip && op != Op::pad && !std::ranges::all_of(node.attrs().items(), is_finite)) return false;
    if (op == Op::clip && (node.attrs().f(Attr::min) == HUGE_VAL || node.attrs().f(Attr::max) == -HUGE_VAL))
      return false;
    return std::ranges::all_of(node.inputs, [&](const graph::Value& input) {
      const auto& read = graph_.node(input.node);
      return (read.infinities & graph::kBothInfinite) == graph::kFinite || (rule_.rearranges && read.op() != Op::fill);
    });
  }

  bool value(const ops::TensorType& type) {
    if (has_zero(type)) return false;
    if (rule_.all_types) return true;
    if (!type_) type_ = type.dtype;
    return ops::is_float(type.dtype) && type.dtype == *type_;
  }

  bool ranks(const LeftNode& left, const graph::Node& node) const {
    if (rule_.max_rank == kNoLimit) return true;
    for (const auto& operand : left.operands) {
      if (operand.kind == Operand::Kind::tensor && graph_.type(binding_.tensors[operand.index]).rank() > rule_.max_rank)
        return false;
      if (operand.kind != Operand::Kind::sequence) continue;
      for (const auto& item : binding_.sequences[operand.index]) {
        if (graph_.type(item).rank() > rule_.max_rank) return false;
      }
    }
    const bool shaped = left.op == Op::reshape || left.op == Op::fill || left.op == Op::expand;
    return !shaped || !open_length(left, Attr::shape) || node.info->outputs[0].rank() <= rule_.max_rank;
  }

  bool lists(const LeftNode& left, const graph::Node& node) const {
    if (rule_.max_list == kNoLimit) return true;
    const auto spreads = std::ranges::count_if(left.operands, [](const Operand& o) { return o.spread; });
    const auto most = static_cast<size_t>(spreads > 1 ? rule_.max_list - 1 : rule_.max_list);
    for (const auto& operand : left.operands) {
      if (operand.kind == Operand::Kind::sequence && binding_.sequences[operand.index].size() > most) return false;
    }
    return left.op != Op::split || !open_length(left, Attr::sizes) ||
           node.info->outputs.size() <= static_cast<size_t>(rule_.max_list);
  }

  const CompiledRule& rule_;
  const graph::Graph& graph_;
  const Binding& binding_;
  std::optional<ops::DType> type_;  // of all tensors
};

}  // namespace

bool has_lists(const CompiledRule& rule) {
  return !rule.sequences.empty() || std::ranges::any_of(rule.left, [](const LeftNode& node) {
    return node.op == Op::split && open_length(node, Attr::sizes);
  });
}

bool has_windows(const CompiledRule& rule) {
  const auto windows = [](const auto& node) { return ops::has_windows(node.op); };
  return std::ranges::any_of(rule.left, windows) || std::ranges::any_of(rule.right, windows);
}

void find_scope(CompiledRule& rule) {
  const auto moves = [](const auto& node) { return ops::moves_only(node.op) || node.op == Op::expand; };
  const bool proved = rule.text.proof == "proved";
  rule.all_types = std::ranges::all_of(rule.left, moves) && std::ranges::all_of(rule.right, moves) &&
                   rule.scalars.empty() && (!proved || rule.text.scope.all_types);
  rule.read_shapes = find_read_shapes(rule);
  rule.rearranges = find_rearranges(rule);
  if (!proved) return;
  rule.max_rank = rule.text.scope.max_rank;
  rule.all_windows = rule.text.scope.all_windows;
  if (rule.text.scope.max_list != ProofScope::kAnyLength) rule.max_list = rule.text.scope.max_list;
}

bool in_scope(const CompiledRule& rule, const graph::Graph& graph, const Binding& binding) {
  return ScopeCheck(rule, graph, binding).run() && (!rule.ranges || rule.ranges->holds(rule, graph, binding));
}

bool in_scope(const CompiledRule& rule, Op op, std::span<const ops::TensorType* const> inputs, const ops::Attrs& attrs,
              const ops::Types& outputs) {
  if (std::ranges::any_of(outputs, has_zero)) return false;
  if (!inputs.empty() && !has_known_axes(rule, op, *inputs[0])) return false;
  return op != Op::max_pool || windows_have_elements(*inputs[0], attrs);
}

}  // namespace rlgo::rules
