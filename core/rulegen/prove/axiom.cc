#include "core/rulegen/prove/axiom.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/rules/parser.h"

namespace rlgo::rulegen {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// `name` as a whole word, replaced everywhere.
std::string with_word(const std::string& text, const std::string& name, const std::string& word) {
  std::string out;
  for (size_t k = 0; k < text.size();) {
    const bool here = text.compare(k, name.size(), name) == 0 && (k == 0 || !is_word(text[k - 1])) &&
                      (k + name.size() == text.size() || !is_word(text[k + name.size()]));
    out += here ? word : text.substr(k, 1);
    k += here ? name.size() : 1;
  }
  return out;
}

bool asks(const rules::Expr& expr, rules::Fn function) {
  return expr.calls(function) || std::ranges::any_of(expr.args, [&](const auto& arg) { return asks(arg, function); });
}

bool starts_rule(const std::string& line) { return line.starts_with("rule ") || line.starts_with("# each "); }

void check_one_term(const rules::CompiledRule& rule) {
  std::set<int32_t> reached;
  const std::function<void(int32_t)> visit = [&](int32_t node) {
    if (!reached.insert(node).second) return;
    for (const auto& operand : rule.left[static_cast<size_t>(node)].operands) {
      if (operand.kind == rules::Operand::Kind::left) visit(operand.index);
    }
  };
  visit(0);
  if (reached.size() != rule.left.size())
    fail("{}:{}: axiom '{}': the left side must be one term (all nodes below the first)", rule.text.file,
         rule.text.line, rule.text.name);
}

Axiom axiom_of(rules::RuleText text, std::string name, bool reversed) {
  Axiom axiom{rules::compile(std::move(text)), std::move(name), reversed, "", false, false, 0};
  axiom.asks_total = std::ranges::any_of(axiom.rule.conditions,
                                         [](const auto& condition) { return asks(condition.expr, rules::Fn::total); });
  const auto tagged = [&](const char* tag) {
    return std::ranges::find(axiom.rule.text.tags, tag) != axiom.rule.text.tags.end();
  };
  constexpr size_t kMore = 3;  // operators that the right side of a plain axiom may have more than the left one
  const bool smaller = axiom.rule.right.size() <= axiom.rule.left.size() + kMore && !tagged("two-way") &&
                       axiom.name.find("associate") == std::string::npos;
  axiom.plain = !reversed && (tagged("definition") || smaller);
  axiom.family = family_of(axiom.name);
  for (const auto& node : axiom.rule.left) axiom.operators |= uint64_t{1} << (static_cast<int>(node.op) % 64);
  check_one_term(axiom.rule);
  return axiom;
}

// A two-way axiom from right to left.
rules::RuleText reversed(const rules::RuleText& text) {
  rules::RuleText out = text;
  out.name += "-reversed";
  std::swap(out.left, out.right);
  return out;
}

}  // namespace

std::string family_of(const std::string& name) {
  std::string out;
  for (const auto& word : split(name, '-')) {
    const auto op = ops::op_from_name(word);
    out += (out.empty() ? "" : "-") + (op && ops::spec(*op).elementwise ? std::string("F") : std::string(word));
  }
  return out;
}

std::string expand_families(std::string_view text, const std::string& file_name) {
  std::vector<std::string> lines;
  for (const auto& line : split(text, '\n')) lines.emplace_back(line);
  std::string out;
  for (size_t k = 0; k < lines.size();) {
    if (!lines[k].starts_with("# each ")) {
      out += lines[k++] + "\n";
      continue;
    }
    const size_t colon = lines[k].find(':');
    if (colon == std::string::npos) fail("{}:{}: expected '# each NAME: WORD WORD ...'", file_name, k + 1);
    const std::string name(trim(std::string_view(lines[k]).substr(7, colon - 7)));
    std::vector<std::string> words;
    for (const auto& word : split(std::string_view(lines[k]).substr(colon + 1), ' ')) {
      if (!trim(word).empty()) words.emplace_back(trim(word));
    }
    size_t end = k + 2;
    while (end < lines.size() && !starts_rule(lines[end])) ++end;
    std::string body;
    for (size_t line = k + 1; line < end; ++line) body += lines[line] + "\n";
    for (const auto& word : words) out += with_word(body, name, word);
    k = end;
  }
  return out;
}

std::shared_ptr<const AxiomSet> AxiomSet::parse(std::string_view text, const std::string& file_name) {
  auto set = std::make_shared<AxiomSet>();
  std::set<std::string> names;
  for (auto& rule : rules::parse_rules(expand_families(text, file_name), file_name)) {
    if (!names.insert(rule.name).second) fail("{}:{}: axiom '{}' is there twice", file_name, rule.line, rule.name);
    const std::string name = rule.name;
    const bool two_way = std::ranges::find(rule.tags, "two-way") != rule.tags.end();
    if (two_way) set->axioms_.push_back(axiom_of(reversed(rule), name, true));
    set->axioms_.push_back(axiom_of(std::move(rule), name, false));
  }
  return set;
}

std::shared_ptr<const AxiomSet> AxiomSet::load(const std::filesystem::path& file) {
  return parse(read_text(file), file.string());
}

bool AxiomSet::has(std::string_view name) const {
  return std::ranges::find(axioms_, name, &Axiom::name) != axioms_.end();
}

std::vector<std::string> AxiomSet::names() const {
  std::vector<std::string> out;
  for (const auto& axiom : axioms_) {
    if (std::ranges::find(out, axiom.name) == out.end()) out.push_back(axiom.name);
  }
  return out;
}

}  // namespace rlgo::rulegen
