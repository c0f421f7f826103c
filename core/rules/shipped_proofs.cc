#include "core/rules/shipped_proofs.h"

#include <algorithm>

#include "core/rules/parser.h"

namespace rlgo::rules {

bool is_shipped_text(std::string_view text) {
  const auto texts = shipped_texts();
  return std::ranges::find(texts, text) != texts.end();
}

bool is_shipped_rule(const RuleText& rule) {
  const std::string head = "\nrule " + rule.name + "\n", wanted = to_text(rule);
  for (const auto text : shipped_texts()) {
    const size_t begin = text.find(head);
    if (begin == std::string_view::npos) continue;
    const auto shipped = parse_rules(text.substr(begin, text.find("\nrule ", begin + 1) - begin), "shipped");
    if (shipped.size() == 1 && to_text(shipped[0]) == wanted) return true;
  }
  return false;
}

}  // namespace rlgo::rules
