// Operators that several of rlgo's compute. Runtimes have faster kernels for these than for the operator that the file
// names: the composition is written back.
#include <algorithm>
#include <numeric>

#include "core/onnx/converters.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

bool contains(std::string_view letters, char letter) { return letters.find(letter) != std::string_view::npos; }

// The letters of an equation, one for each axis; no letter stands twice in one of them.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

bool is_plain(const std::string& letters) {
  std::string sorted = letters;
  std::ranges::sort(sorted);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return std::ranges::all_of(sorted, is_letter) && std::ranges::adjacent_find(sorted) == sorted.end();
}

// Nothing for ellipses and diagonals.
std::optional<Equation> equation_of(const OnnxNode& node) {
  std::string text = node.s("equation", "");
  std::erase(text, ' ');
  const auto arrow = text.find("->");
  Equation equation;
  std::string all;
  for (const char c : text.substr(0, arrow) + ",") {
    if (c == ',') {
      equation.operands.push_back(all);
      all.clear();
    } else {
      all += c;
    }
  }
  if (arrow != std::string::npos) {
    equation.result = text.substr(arrow + 2);
  } else {  // letters that stand once, in order
    for (const auto& letters : equation.operands) all += letters;
    std::ranges::sort(all);
    for (const char c : all) {
      if (std::ranges::count(all, c) == 1) equation.result += c;
    }
  }
  if (!is_plain(equation.result) || !std::ranges::all_of(equation.operands, is_plain) ||
      equation.operands.size() != node.inputs.size())
    return std::nullopt;
  for (const char c : equation.result) {
    const auto has = [c](const std::string& letters) { return contains(letters, c); };
    if (std::ranges::none_of(equation.operands, has)) return std::nullopt;
  }
  return equation;
}

// A value whose axes have letters.
class Lettered {
 public:
  Lettered(Maker& maker, graph::Value value, std::string letters)
      : maker_(&maker), value_(value), letters_(std::move(letters)) {}

  // Sums over the letters that are not in `kept`.
  void keep(std::string_view kept) {
    Ints axes;
    std::string left;
    for (size_t d = 0; d < letters_.size(); ++d) {
      if (contains(kept, letters_[d]))
        left += letters_[d];
      else
        axes.push_back(static_cast<int64_t>(d));
    }
    if (axes.empty()) return;
    value_ = maker_->op(Op::reduce_sum, {value_}, {{Attr::axes, axes}, {Attr::keepdims, int64_t{0}}});
    letters_ = left;
  }

  void arrange(const std::string& wanted) {
    if (wanted == letters_) return;
    Ints perm;
    for (const char c : wanted) perm.push_back(static_cast<int64_t>(letters_.find(c)));
    value_ = maker_->op(Op::transpose, {value_}, {{Attr::perm, perm}});
    letters_ = wanted;
  }

  ops::Extents extents(std::string_view of) const {
    const auto type = maker_->type(value_);
    ops::Extents found;
    for (const char c : of) {
      const size_t axis = letters_.find(c);
      if (axis < type.shape.size()) found.push_back(type.extent(static_cast<int64_t>(axis)));
    }
    return found;
  }

  const std::string& letters() const { return letters_; }
  graph::Value value() const { return value_; }

 private:
  Maker* maker_;
  graph::Value value_;
  std::string letters_;
};

std::string letters_that(std::string_view of, const std::function<bool(char)>& fits) {
  std::string found;
  std::ranges::copy_if(of, std::back_inserter(found), fits);
  return found;
}

ops::Extents joined(std::initializer_list<ops::Extents> parts) {
  ops::Extents all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Of two operands: a product of matrices, or of elements where nothing is summed.
void multiply(Maker& maker, Lettered a, Lettered b, const std::string& result) {
  const auto in_a = [&](char c) { return contains(a.letters(), c); };
  const auto in_b = [&](char c) { return contains(b.letters(), c); };
  a.keep(result + letters_that(a.letters(), in_b));
  b.keep(result + letters_that(b.letters(), in_a));
  const std::string batch = letters_that(result, [&](char c) { return in_a(c) && in_b(c); });
  const std::string free_of_both = letters_that(result, [&](char c) { return !contains(batch, c); });
  if (!free_of_both.empty() && !in_a(free_of_both.front())) std::swap(a, b);
  const std::string rows = letters_that(result, [&](char c) { return in_a(c) && !in_b(c); });
  const std::string columns = letters_that(result, [&](char c) { return in_b(c) && !in_a(c); });
  const std::string summed = letters_that(a.letters(), [&](char c) { return in_b(c) && !contains(result, c); });
  a.arrange(batch + rows + summed);
  b.arrange(batch + summed + columns);
  const ops::Extents outer = a.extents(batch), of_rows = a.extents(rows), of_columns = b.extents(columns);
  const bool alone = batch.empty() && !rows.empty();  // the rows may be of several axes then
  const ops::Extents left = alone ? of_rows : joined({outer, {ops::product(of_rows)}});
  const ops::Extents inner = {ops::product(a.extents(summed))};
  const auto one = maker.reshaped(a.value(), joined({left, inner}));
  const auto two = maker.reshaped(b.value(), joined({outer, inner, {ops::product(of_columns)}}));
  const auto product = maker.op(summed.empty() ? Op::mul : Op::matmul, {one, two});
  Lettered made(maker, maker.reshaped(product, joined({outer, of_rows, of_columns})), batch + rows + columns);
  made.arrange(result);
  maker.pass(made.value());
}

}  // namespace

bool convert_einsum(const OnnxNode& node, Maker& maker) {
  const auto equation = equation_of(node);
  if (!equation || equation->operands.size() > 2) return false;
  std::map<char, ops::Extent> extents;
  std::vector<Lettered> operands;
  for (size_t k = 0; k < equation->operands.size(); ++k) {
    const auto& letters = equation->operands[k];
    const auto& type = node.input_types[k];
    if (!node.has_input(k) || !ops::is_float(type.dtype) || static_cast<size_t>(type.rank()) != letters.size())
      return false;
    for (size_t d = 0; d < letters.size(); ++d) {
      const auto extent = type.extent(static_cast<int64_t>(d));
      if (const auto at = extents.try_emplace(letters[d], extent); !at.second && !at.first->second.same(extent))
        return false;  // extents of 1 are broadcast
    }
    operands.emplace_back(maker, node.inputs[k], letters);
  }
  if (operands.size() == 2) {
    multiply(maker, operands[0], operands[1], equation->result);
  } else {
    operands[0].keep(equation->result);
    operands[0].arrange(equation->result);
    maker.pass(operands[0].value());
  }
  return true;
}

bool convert_global_max_pool(const OnnxNode& node, Maker& maker) {
  const int rank = node.input_types[0].rank();
  if (rank < 3) return false;
  Ints axes(static_cast<size_t>(rank) - 2);
  std::iota(axes.begin(), axes.end(), 2);
  maker.out(Op::reduce_max, {node.inputs[0]}, {{Attr::axes, axes}, {Attr::keepdims, int64_t{1}}});
  return true;
}

// Extents of 1 are broadcast; another axis may be repeated as a few parts of a concatenation.
bool convert_tile(const OnnxNode& node, Maker& maker) {
  constexpr int64_t kMostParts = 4;
  const auto& type = node.input_types[0];
  bool known = true;
  const auto repeats = node.ints_of("", 1, known);
  if (!repeats || repeats->size() != type.shape.size()) return false;
  std::optional<size_t> along;
  bool broadcasts = false;
  for (size_t d = 0; d < repeats->size(); ++d) {
    const int64_t count = (*repeats)[d];
    const bool single = type.shape[d] == 1 && !type.is_open(static_cast<int64_t>(d));
    if (count < 1 || (!single && count > 1 && (along || count > kMostParts))) return false;
    if (!single && count > 1) along = d;
    broadcasts = broadcasts || (single && count > 1);
  }
  if (broadcasts && (along || !is_closed(type) || node.opset < 8)) return false;
  if (broadcasts) {
    Ints shape = to_ints(type.shape);
    for (size_t d = 0; d < shape.size(); ++d) shape[d] *= (*repeats)[d];
    maker.out(Op::expand, {node.inputs[0]}, {{Attr::shape, shape}});
  } else if (along) {
    const std::vector<graph::Value> parts(static_cast<size_t>((*repeats)[*along]), node.inputs[0]);
    maker.out(Op::concat, parts, {{Attr::axis, static_cast<int64_t>(*along)}});
  } else {
    maker.pass(node.inputs[0]);
  }
  return true;
}

}  // namespace rlgo::onnx_io
