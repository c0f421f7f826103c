#include "core/rulegen/generate/rule_writer.h"

#include <algorithm>
#include <set>

#include "core/base/text.h"
#include "core/rulegen/generate/prune_term.h"

namespace rlgo::rulegen {
namespace {

using Field = int RuleStyle::*;

std::string word(const OpConfig& config, const std::string& activation) {
  std::string text(config.act == Act::gelu ? activation : std::string(ops::name(config.op)));
  std::ranges::replace(text, '_', '-');
  return text;
}

// Operators from the outputs down, each once.
std::string words_of(const Family& family, const Sketch& sketch, const std::string& activation) {
  std::vector<std::string> words;
  for (auto step = sketch.steps.rbegin(); step != sketch.steps.rend(); ++step) {
    words.push_back(word(family.configs[step->config], activation));
  }
  return join(words, "-");
}

}  // namespace

std::string rule_name(const Family& family, const Candidate& pair, const std::string& activation) {
  const std::string target = pair.target.steps.empty() ? "nothing" : words_of(family, pair.target, activation);
  return words_of(family, pair.source, activation) + "-to-" + target;
}

bool any_activation(const Family& family, const Candidate& pair) {
  return std::ranges::any_of(pair.source.steps,
                             [&](const OpStep& step) { return family.configs[step.config].act == Act::gelu; });
}

std::vector<std::string> rule_tags(const Family& family, const Candidate& pair) {
  std::set<std::string> words;
  for (const Sketch* side : {&pair.source, &pair.target}) {
    for (const auto& step : side->steps) {
      using ops::Op;
      switch (const auto& config = family.configs[step.config]; config.op) {
        case Op::conv2d:
          words.insert("conv");
          break;
        case Op::max_pool:
        case Op::avg_pool:
          words.insert("pool");
          break;
        case Op::relu:
        case Op::gelu:
          words.insert("activation");
          break;
        case Op::reduce_mean:
        case Op::reduce_sum:
          words.insert("reduce");
          break;
        case Op::layer_norm:
        case Op::softmax:
          words.insert("norm");
          break;
        case Op::pad:
          words.insert("enlarge");
          break;
        case Op::add:
        case Op::mul:
          words.insert("algebra");
          break;
        default:
          words.insert(std::string(ops::name(config.op)));
      }
    }
  }
  std::vector<std::string> tags{"generated", family.name.substr(0, family.name.find(':'))};
  tags.insert(tags.end(), words.begin(), words.end());
  return tags;
}

std::optional<std::string> most_general(const Family& family, const Candidate& pair, const SymbolicPair& symbols,
                                        const std::string& name, const std::string& activation,
                                        const std::function<bool(const std::string&)>& holds) {
  const auto text_of = [&](const RuleStyle& style) {
    return rule_text(family, pair, symbols, style, name, activation);
  };
  RuleStyle style;
  auto best = text_of(style);
  if (!best || !holds(*best)) {
    style.windows = 2;  // some can only be expressed with names for the pads
    best = text_of(style);
    if (!best || !holds(*best)) return std::nullopt;
  }
  std::set<std::string> asked{*best};
  const auto attempt = [&](Field field, int value) {
    RuleStyle other = style;
    other.*field = value;
    const auto text = text_of(other);
    if (!text) return false;
    if (*text != *best && (!asked.insert(*text).second || !holds(*text))) return false;
    style = other;
    best = text;
    return true;
  };
  for (const Field field : {&RuleStyle::shapes, &RuleStyle::axes, &RuleStyle::windows, &RuleStyle::ranks,
                            &RuleStyle::axes, &RuleStyle::shapes}) {
    const int now = style.*field;
    for (int value = 0; value < now && !attempt(field, value); ++value) {
    }
  }
  attempt(&RuleStyle::among, 1);
  attempt(&RuleStyle::bias, 1);
  return best;
}

}  // namespace rlgo::rulegen
