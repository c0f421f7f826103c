#include "core/draw/rule_picture.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/base/error.h"
#include "core/draw/svg.h"
#include "core/graph/quote.h"
#include "core/rules/rule_choice.h"

namespace rlgo::launch {
namespace {

using graph::Arrow;
using graph::Box;
using graph::Picture;
using rules::Equation;
using rules::Term;

std::string name_of(const std::string& name, int port, bool spread) {
  return "?" + name + (port < 0 ? "" : "." + std::to_string(port)) + (spread ? "..." : "");
}

// Boxes and arrows of one side's equations.
class Side {
 public:
  Side(const std::vector<Equation>& equations, const std::vector<std::string>& results) {
    for (const auto& equation : equations) {
      const int box = add(equation.term);
      if (std::ranges::find(results, equation.name) == results.end()) {
        inner_[equation.name] = box;
        continue;
      }
      const int out = leaf(name_of(equation.name, equation.port, equation.spread) + " =",
                           "out:" + equation.name + std::to_string(equation.port));
      const bool port = equation.term.kind == Term::Kind::name && equation.term.port >= 0;
      waiting_.push_back({box, out, port ? "." + std::to_string(equation.term.port) : "", ""});
      if (!inner_.contains(equation.name)) inner_[equation.name] = box;
    }
    for (const auto& [equation_term, reader] : late_) connect(*equation_term, reader.first, reader.second);
    picture.arrows.insert(picture.arrows.end(), waiting_.begin(), waiting_.end());
  }
  Picture picture;

 private:
  // The box that computes a term.
  int add(const Term& term) {
    if (term.kind != Term::Kind::node) return leaf_of(term);
    Box box;
    box.title = term.text + (term.spread ? " (each)" : "");
    for (const auto& attr : term.attrs) box.lines.push_back(attr.key + "=" + rules::to_text(attr.value));
    if (!term.bundle.empty()) box.lines.push_back("others: " + term.bundle);
    if (term.text == "matmul" || term.text == "conv2d") box.look = "heavy";
    const int index = push(std::move(box));
    for (size_t k = 0; k < term.operands.size(); ++k) {
      const Term& operand = term.operands[k];
      if (operand.kind == Term::Kind::name) {
        late_.emplace_back(&operand, std::pair(index, static_cast<int>(k)));  // may be named further down
      } else {
        picture.arrows.push_back({add(operand), index, term.operands.size() > 1 ? std::to_string(k) : "", ""});
      }
    }
    return index;
  }
  void connect(const Term& name, int reader, int operand) {
    const auto held = inner_.find(name.text);
    const bool is_node = held != inner_.end();
    const int from = is_node ? held->second : leaf_of(name);
    const std::string port = is_node && name.port >= 0 ? "." + std::to_string(name.port) + " " : "";
    picture.arrows.push_back({from, reader, port + std::to_string(operand) + (name.spread ? "..." : ""), ""});
  }
  int leaf_of(const Term& term) {
    if (term.kind == Term::Kind::scalar) return leaf(rules::to_text(term.value), "");
    if (const auto held = inner_.find(term.text); held != inner_.end()) return held->second;
    const std::string name = name_of(term.text, term.port, term.spread);
    return leaf(name, name);
  }
  // Leaves of the same key are one box.
  int leaf(const std::string& title, const std::string& key) {
    if (const auto held = leaves_.find(key); held != leaves_.end() && !key.empty()) return held->second;
    Box box;
    box.title = title;
    box.look = "leaf";
    const int index = push(std::move(box));
    leaves_[key] = index;
    return index;
  }
  int push(Box box) {
    picture.boxes.push_back(std::move(box));
    return static_cast<int>(picture.boxes.size()) - 1;
  }

  std::map<std::string, int> inner_, leaves_;
  std::vector<std::pair<const Term*, std::pair<int, int>>> late_;
  std::vector<Arrow> waiting_;
};

// Names that the right side gives a new value; nodes of the left that it does not are inner ones.
std::vector<std::string> results_of(const rules::RuleText& text) {
  std::vector<std::string> results;
  for (const auto& equation : text.right) {
    const auto same = [&](const Equation& left) { return left.name == equation.name; };
    if (std::ranges::any_of(text.left, same)) results.push_back(equation.name);
  }
  return results;
}

std::vector<std::string> conditions_of(const rules::RuleText& text) {
  std::vector<std::string> lines;
  if (!text.before_first.empty()) lines.push_back("?" + text.before_first + " stands before ?" + text.before_second);
  for (const auto& condition : text.conditions) {
    lines.push_back(condition.let.empty() ? "when " + rules::to_text(condition.expr)
                                          : "let ?" + condition.let + " = " + rules::to_text(condition.expr));
  }
  return lines;
}

// The number behind `name="` in the head of a picture.
double number_in(const std::string& svg, const std::string& name) {
  const auto at = svg.find(name + "=\"");
  return at == std::string::npos ? 0 : std::strtod(svg.c_str() + at + name.size() + 2, nullptr);
}

std::string placed(std::string svg, double x, double y) {
  svg.insert(svg.find("<svg ") + 5, fmt::format("x=\"{:.0f}\" y=\"{:.0f}\" ", x, y));
  return svg;
}

}  // namespace

std::string rule_svg(const rules::CompiledRule& rule) {
  constexpr double kMargin = 16, kGap = 56, kLine = 15, kHead = 30;
  constexpr double kLetter = 6.2;  // width of the font below
  const auto results = results_of(rule.text);
  const auto draw = [&](const std::vector<Equation>& equations, const char* name) {
    Picture picture = Side(equations, results).picture;
    picture.name = rule.text.name + ", " + name;
    return graph::to_svg(picture);
  };
  const std::string left = draw(rule.text.left, "left side"), right = draw(rule.text.right, "right side");
  const auto lines = conditions_of(rule.text);
  size_t longest = rule.text.name.size() + 12;
  for (const auto& line : lines) longest = std::max(longest, line.size());
  const double both = number_in(left, "width") + kGap + number_in(right, "width");
  const double width = 2 * kMargin + std::max(both, static_cast<double>(longest) * kLetter);
  const double tall = std::max(number_in(left, "height"), number_in(right, "height"));
  const double height = kHead + tall + kMargin + static_cast<double>(lines.size()) * kLine + kMargin;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<g font-family=\"Helvetica,Arial,sans-serif\" font-size=\"12\" fill=\"#222\">\n"
      "<text x=\"{2:.0f}\" y=\"20\" font-weight=\"bold\">{3} ({4})</text>\n",
      width, height, kMargin, graph::xml_escaped(rule.text.name), rules::proof_name(rule.proof));
  double y = kHead + tall + kMargin;
  for (const auto& line : lines) {
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"11\">{}</text>\n", kMargin, y,
                       graph::xml_escaped(line));
    y += kLine;
  }
  out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"20\">&#8658;</text>\n</g>\n",
                     kMargin + number_in(left, "width") + kGap / 2 - 10, kHead + tall / 2);
  out += placed(left, kMargin, kHead) + placed(right, kMargin + number_in(left, "width") + kGap, kHead);
  return out + "</svg>\n";
}

std::string rule_dot(const rules::CompiledRule& rule) {
  const auto results = results_of(rule.text);
  std::string out = fmt::format("digraph {} {{\n  node [shape=box, fontname=\"Helvetica\", fontsize=10];\n",
                                graph::quoted(rule.text.name));
  const auto draw = [&](const std::vector<Equation>& equations, char side, const char* title) {
    const Picture picture = Side(equations, results).picture;
    out += fmt::format("  subgraph cluster_{} {{\n    label={};\n", side, graph::quoted(title));
    for (size_t k = 0; k < picture.boxes.size(); ++k) {
      std::string label = picture.boxes[k].title;
      for (const auto& line : picture.boxes[k].lines) label += "\n" + line;
      const char* shape = picture.boxes[k].look == "leaf" ? ", shape=ellipse" : "";
      out += fmt::format("    {}{} [label={}{}];\n", side, k, graph::quoted(label), shape);
    }
    for (const auto& arrow : picture.arrows) {
      out += fmt::format("    {0}{1} -> {0}{2} [label={3}];\n", side, arrow.from, arrow.to, graph::quoted(arrow.label));
    }
    out += "  }\n";
  };
  draw(rule.text.left, 'l', "left side");
  draw(rule.text.right, 'r', "right side");
  std::string conditions;
  for (const auto& line : conditions_of(rule.text)) conditions += line + "\n";
  return out + fmt::format("  label={};\n}}\n", graph::quoted(conditions));
}

}  // namespace rlgo::launch
