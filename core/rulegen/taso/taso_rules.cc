#include "core/rulegen/taso/taso_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rulegen/taso/taso_to_rule.h"

namespace rlgo::rulegen {
namespace {

using Term = TasoTerm;
using Pairs = TasoPairs;

struct Inexpressible {
  std::string why;
};
// As Inexpressible, but the opposite direction can perhaps be expressed.
struct NotOnLeft {
  std::string why;
};

bool is_conv(const Term& term) { return term.op.starts_with("conv"); }
bool is_split(const Term& term) { return term.op.starts_with("split"); }
int axis_of(const Term& term) { return term.op[term.op.find("_ax") + 3] - '0'; }
char port_of(const Term& term) { return term.op[term.op.find('[') + 1]; }
// Extents of the convolution's kernel.
std::pair<int, int> kernel_of(const Term& conv) { return {conv.op[4] - '0', conv.op[6] - '0'}; }

// What a constant has to be to fit where it stands: n channels, n rows; or the shape of a neighbour.
struct Context {
  std::string size;
  std::string like;  // "shape(?x)"
};

// Extents, as expressions of the language over tensors of the left side.
std::string dim(const Term& term, int axis, const Context& context) {
  if (term.is_variable()) return fmt::format("dim(?{}, {})", term.op, axis);
  if (term.is_constant()) {
    if (axis > 1) return "3";
    if (context.size.empty()) throw Inexpressible{"the extents of " + term.op + " do not follow from where it stands"};
    return term.op == "constant_pool" && axis == 1 ? "1" : context.size;
  }
  const auto& in = term.operands;
  if (term.op == "matmul") return axis == 0 ? dim(in[0], 0, {}) : dim(in[1], 1, Context{dim(in[0], 1, {}), ""});
  if (is_conv(term)) return axis == 1 ? dim(in[1], 0, Context{dim(in[0], 1, context), ""}) : dim(in[0], axis, context);
  if (term.op.starts_with("concat")) {
    const std::string first = dim(in[0], axis, context);
    return axis_of(term) == axis ? first + " + " + dim(in[1], axis, context) : first;
  }
  if (is_split(term) && axis_of(term) == axis) throw Inexpressible{"extents of a part of a split"};
  if (term.op == "transpose") return dim(in[0], 1 - axis, context);
  if (term.op == "enlarge" && axis > 1) return "3";
  if (in.size() == 1 || in[1].op == "i20" || in[1].op == "constant_one") return dim(in[0], axis, context);
  if (in[0].is_constant()) return dim(in[1], axis, context);
  const std::string first = dim(in[0], axis, context), second = dim(in[1], axis, context);  // one may be broadcast
  return first == second ? first : fmt::format("max({}, {})", std::min(first, second), std::max(first, second));
}

// Extents of the two parts that a concat below the term joined along an axis.
std::optional<std::pair<std::string, std::string>> parts(const Term& term, int axis) {
  const auto& in = term.operands;
  if (in.empty()) return std::nullopt;
  if (term.op.starts_with("concat") && axis_of(term) == axis)
    return std::pair{dim(in[0], axis, {}), dim(in[1], axis, {})};
  if (term.op == "matmul") return parts(in[static_cast<size_t>(axis)], axis);
  if (is_conv(term)) return axis == 0 ? parts(in[0], 0) : parts(in[1], 0);
  if (term.op == "transpose") return parts(in[0], 1 - axis);
  for (const auto& operand : in) {
    if (auto found = parts(operand, axis)) return found;
  }
  return std::nullopt;
}

class Writer {
 public:
  // `pools`: a constant_pool on the left is any tensor of its shape that holds 1/9 throughout.
  explicit Writer(bool pools) : pools_(pools) {}

  std::string rule(const std::string& name, const Pairs& pairs, bool reversed) {
    std::vector<std::string> roots;
    for (const auto& [left, right] : pairs) {
      if (left.is_variable()) throw Inexpressible{"the left side is a tensor alone"};
      roots.push_back(emit(left, {}));
    }
    for (const auto& root : roots) replaced_.push_back(root.substr(0, root.find('.')));
    on_left_ = false;
    std::string results;
    for (size_t k = 0; k < pairs.size(); ++k) {
      const std::string with = emit(pairs[k].second, {});
      results += fmt::format("     {} = {}\n", roots[k], with);
    }
    std::string right = right_ + results;
    right.replace(0, 5, "  => ");
    std::string when;
    for (const auto& condition : conditions_) when += "  when " + condition + "\n";
    return fmt::format("rule {}\n  tags taso{}\n{}{}{}", name, reversed ? " reversed" : "", left_, when, right);
  }

 private:
  void demand(std::string condition) {
    if (std::ranges::find(conditions_, condition) == conditions_.end()) conditions_.push_back(std::move(condition));
  }

  // The name of a node of this text.
  std::string node(const std::string& text) {
    const auto left = names_[0].find(text);
    if (left != names_[0].end() && (on_left_ || std::ranges::find(replaced_, left->second) == replaced_.end()))
      return left->second;
    auto& names = names_[on_left_ ? 0 : 1];
    const auto known = names.find(text);
    if (known != names.end()) return known->second;
    const std::string name = fmt::format("?{}{}", on_left_ ? "n" : "m", names.size());
    (on_left_ ? left_ : right_) += fmt::format("{}{} = {}\n", on_left_ ? "  " : "     ", name, text);
    names[text] = name;
    return name;
  }

  std::string emit(const Term& term, const Context& context) {
    if (term.is_variable()) {
      if (term.op == "i20") demand("rank(?i20) == 0");
      return "?" + term.op;
    }
    if (term.is_constant()) return constant(term, context);
    const auto& in = term.operands;
    if (term.op == "matmul") return matmul(term);
    if (is_conv(term)) return conv(term);
    if (term.op.starts_with("concat")) return concat(term, context);
    if (is_split(term)) return split_node(term);
    if (term.op == "ew_add" || term.op == "ew_mul" || term.op == "mul") return elementwise(term, context);
    const std::string x = emit(in[0], context);
    if (term.op == "relu" || term.op == "sigmoid" || term.op == "tanh") return node(fmt::format("({} {})", term.op, x));
    if (term.op == "transpose") return node(fmt::format("(transpose {} perm=[1, 0])", x));
    if (term.op == "enlarge") {
      if (on_left_) demand(fmt::format("dim({}, 2) == 1 and dim({}, 3) == 3", x, x));
      return node(fmt::format("(pad {} pads=[0, 0, 1, 0, 0, 0, 1, 0])", x));
    }
    const char* window = "kernel=[3, 3] strides=[1, 1] pads=[1, 1, 1, 1]";
    if (term.op == "pool2d_max") return node(fmt::format("(max_pool {} {})", x, window));
    RLGO_CHECK(term.op == "pool2d_avg");
    return node(fmt::format("(avg_pool {} {} count_include_pad=1)", x, window));
  }

  std::string elementwise(const Term& term, const Context& context) {
    std::array<std::string, 2> in;
    for (size_t k : {0, 1}) {
      Context inside = context;
      const Term& sibling = term.operands[1 - k];
      if (inside.size.empty() && sibling.is_variable() && sibling.op != "i20") {
        inside.size = fmt::format("dim(?{}, 0)", sibling.op);
        inside.like = fmt::format("shape(?{})", sibling.op);
      }
      in[k] = emit(term.operands[k], inside);
    }
    return node(fmt::format("({} {} {})", term.op == "ew_add" ? "add" : "mul", in[0], in[1]));
  }

  std::string matmul(const Term& term) {
    const Term &a = term.operands[0], &b = term.operands[1];
    const auto has_constant = [](const Term& t) { return t.is_constant() || holds_identity(t); };
    const std::string x = emit(a, has_constant(a) ? Context{dim(b, 0, {}), ""} : Context{});
    const std::string w = emit(b, has_constant(b) ? Context{dim(a, 1, {}), ""} : Context{});
    if (on_left_) demand(fmt::format("rank({}) == rank({}) and rank({}) >= 2", x, w, x));
    if (!on_left_ && (has_constant(a) || has_constant(b))) demand(fmt::format("rank({}) == 2", first_variable(term)));
    return node(fmt::format("(matmul {} {})", x, w));
  }
  static bool holds_identity(const Term& term) {
    return term.op == "constant_imm" || std::ranges::any_of(term.operands, holds_identity);
  }
  static std::string first_variable(const Term& term) {
    if (term.is_variable() && term.op != "i20") return "?" + term.op;
    for (const auto& operand : term.operands) {
      if (auto found = first_variable(operand); !found.empty()) return found;
    }
    return "";
  }

  // What the term's extents are those of: asked of a tensor alone, they are easier to meet.
  static const Term& of_its_size(const Term& term) {
    const bool keeps = term.op == "relu" || term.op == "sigmoid" || term.op == "tanh" || term.op == "pool2d_max" ||
                       term.op == "pool2d_avg" || (term.op == "mul" && term.operands[1].op == "i20");
    return keeps ? of_its_size(term.operands[0]) : term;
  }

  std::string conv(const Term& term) {
    const Term &data = term.operands[0], &kernel = term.operands[1];
    const std::string x = emit(data, {});
    const Context inside{dim(data, 1, {}), ""};
    const std::string w = emit(kernel, inside);
    const std::string channels = inside.size, depth = dim(kernel, 1, inside);
    const auto [h, wide] = kernel_of(term);
    std::string group = groups_[{channels, depth}];
    if (on_left_ && group.empty()) {
      group = channels == depth ? "1" : fmt::format("?g{}", groups_.size() - 1);
      groups_[{channels, depth}] = group;
    } else if (group.empty()) {
      group = channels == depth ? "1" : depth == "1" ? channels : fmt::format("({}) / ({})", channels, depth);
    }
    const std::string sized = of_its_size(kernel).is_variable() ? "?" + of_its_size(kernel).op : w;
    if (on_left_) demand(fmt::format("dim({}, 2) == {} and dim({}, 3) == {}", sized, h, sized, wide));
    return node(fmt::format("(conv2d {} {} act={} group={} strides=[1, 1] dilations=[1, 1] pads=[{}, {}, {}, {}])", x,
                            w, term.op.ends_with("_relu") ? "relu" : "none", group, h / 2, wide / 2, h / 2, wide / 2));
  }

  std::string concat(const Term& term, const Context& context) {
    const std::string x = emit(term.operands[0], context), z = emit(term.operands[1], context);
    if (on_left_) demand(fmt::format("rank({}) == {}", x, term.op[6]));
    if (!on_left_) demand_rank(term.operands[0], term.op[6]);
    return node(fmt::format("(concat {} {} axis={})", x, z, axis_of(term)));
  }
  // TASO's concat of two dimensions cannot be made of images.
  void demand_rank(const Term& term, char rank) {
    if (term.is_variable()) demand(fmt::format("rank(?{}) == {}", term.op, rank));
  }

  std::string split_node(const Term& term) {
    const auto sizes = parts(term.operands[0], axis_of(term));
    if (!sizes) throw Inexpressible{"a split of what no concat joined"};
    const std::string x = emit(term.operands[0], {});
    std::string list = fmt::format("[{}, {}]", sizes->first, sizes->second);
    if (on_left_) {
      demand("?sizes == " + list);
      list = "?sizes";
    }
    return node(fmt::format("(split {} axis={} sizes={})", x, axis_of(term), list)) + "." + port_of(term);
  }

  std::string constant(const Term& term, const Context& context) {
    if (term.op == "constant_one") return "1";
    if (on_left_ && pools_ && term.op == "constant_pool" && !context.size.empty()) {
      demand("rank(?pool) == 4 and dim(?pool, 1) == 1 and dim(?pool, 2) == 3 and dim(?pool, 3) == 3");
      demand(fmt::format("dim(?pool, 0) == {}", context.size));
      demand("near(value(?pool) * 9.0, 1.0)");
      return "?pool";
    }
    if (on_left_) throw NotOnLeft{"both sides read constants that no condition can ask for: " + term.op};
    if (term.op == "constant_pool") {
      if (!context.like.empty()) return node(fmt::format("(fill shape={} value=1.0 / 9)", context.like));
      if (context.size.empty()) throw Inexpressible{"the extents of constant_pool do not follow from where it stands"};
      return node(fmt::format("(fill shape=[{}, 1, 3, 3] value=1.0 / 9)", context.size));
    }
    const std::string& n = context.size;
    if (n.empty()) throw Inexpressible{"the extents of " + term.op + " do not follow from where it stands"};
    const std::string row = fmt::format(
        "(slice (reshape (pad (fill shape=[{0}, 1] value=1.0) pads=[0, 0, 0, {0}]) shape=[({0}) * ({0}) + ({0})]) "
        "axes=[0] "
        "starts=[0] ends=[({0}) * ({0})] steps=[1])",
        n);
    if (term.op == "constant_imm") return node(fmt::format("(reshape {} shape=[{}, {}])", row, n, n));
    return node(fmt::format("(pad (reshape {} shape=[{}, {}, 1, 1]) pads=[0, 0, 1, 1, 0, 0, 1, 1])", row, n, n));
  }

  bool pools_ = false;
  bool on_left_ = true;
  std::string left_, right_;
  std::map<std::string, std::string> names_[2];
  std::vector<std::string> replaced_, conditions_;
  std::map<std::pair<std::string, std::string>, std::string> groups_;  // by input channels and a kernel's channels
};

Pairs parse_pairs(std::string_view text, const std::string& place) {
  Pairs pairs;
  for (const auto& part : split(text, ';')) {
    const size_t arrow = part.find("=>");
    if (arrow == std::string::npos) fail("{}: expected LEFT => RIGHT, found '{}'", place, trim(part));
    pairs.emplace_back(parse_taso_term(trim(std::string_view(part).substr(0, arrow)), place),
                       parse_taso_term(trim(std::string_view(part).substr(arrow + 2)), place));
  }
  return pairs;
}

using Variables = std::set<std::string>;
void collect(const Term& term, Variables& variables) {
  if (term.is_variable()) variables.insert(term.op);
  for (const auto& operand : term.operands) collect(operand, variables);
}
bool meet(const Variables& a, const Variables& b) {
  return std::ranges::any_of(a, [&](const auto& name) { return b.contains(name); });
}

// Outputs in parts whose left sides share no tensor.
std::vector<Pairs> left_parts(const Pairs& pairs) {
  std::vector<std::pair<Variables, Pairs>> parts;
  for (const auto& pair : pairs) {
    std::pair<Variables, Pairs> joined{{}, {pair}};
    collect(pair.first, joined.first);
    std::erase_if(parts, [&](const auto& part) {
      if (!meet(part.first, joined.first)) return false;
      joined.first.insert(part.first.begin(), part.first.end());
      joined.second.insert(joined.second.begin(), part.second.begin(), part.second.end());
      return true;
    });
    parts.push_back(std::move(joined));
  }
  std::vector<Pairs> result;
  for (auto& part : parts) result.push_back(std::move(part.second));
  return result;
}

// Whether the right side of each part reads nothing of the other parts: then each is a rule of its own.
bool independent(const std::vector<Pairs>& parts) {
  for (const auto& part : parts) {
    Variables left, right;
    for (const auto& [from, to] : part) collect(from, left), collect(to, right);
    if (!std::ranges::includes(left, right)) return false;
  }
  return true;
}

TasoRule to_rule(std::string name, std::string source, Pairs pairs) {
  TasoRule rule;
  rule.name = std::move(name);
  rule.source = std::move(source);
  rule.trivial = std::ranges::all_of(pairs, [](const auto& pair) { return pair.first == pair.second; });
  // From left to right, from right to left, and both again with pooling kernels on the left.
  for (int attempt = 0; attempt < 4; ++attempt) {
    rule.reversed = attempt % 2 == 1;
    rule.inexpressible.clear();
    try {
      if (left_parts(pairs).size() > 1) throw NotOnLeft{"the parts of either side share no tensor"};
      rule.text = Writer(attempt >= 2).rule(rule.name, pairs, rule.reversed);
      break;
    } catch (const Inexpressible& reason) {
      rule.inexpressible = reason.why;
      break;
    } catch (const NotOnLeft& reason) {
      rule.inexpressible = reason.why;
    }
    for (auto& [left, right] : pairs) std::swap(left, right);
  }
  if (!rule.inexpressible.empty()) rule.reversed = false;
  return rule;
}

}  // namespace

void add_taso_rules(int64_t number, const std::string& source, const TasoPairs& pairs, std::vector<TasoRule>& rules) {
  const std::string name = fmt::format("taso-{:03}", number);
  const auto parts = left_parts(pairs);
  if (parts.size() == 1 || !independent(parts)) {
    rules.push_back(to_rule(name, source, pairs));
    return;
  }
  for (size_t k = 0; k < parts.size(); ++k)
    rules.push_back(to_rule(fmt::format("{}-{}", name, k + 1), source, parts[k]));
}

std::vector<TasoRule> read_taso(std::string_view text, const std::string& file_name) {
  std::vector<TasoRule> rules;
  int number = 0;
  for (const auto& line : split(text, '\n')) {
    const std::string place = fmt::format("{}:{}", file_name, ++number);
    if (trim(line).empty() || line.starts_with("#")) continue;
    const auto fields = split(line, '\t');
    const auto id = parse_int(fields[0]);
    if (fields.size() != 3 || !id || *id < 0)
      fail("{}: expected NUMBER, counts and rule with tabs between them, as in a text dump of TASO's rules", place);
    add_taso_rules(*id, fields[2], parse_pairs(fields[2], place), rules);
  }
  return rules;
}

}  // namespace rlgo::rulegen
