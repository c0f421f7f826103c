// What a generation states of itself, and the last look at its rules.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/rulegen/generate/generate.h"
#include "core/rules/compiled.h"

namespace rlgo::rulegen {

namespace {

void drop(GenerateReport& report, const std::vector<bool>& dropped) {
  for (size_t k = 0; k < dropped.size(); ++k) {
    if (!dropped[k]) continue;
    for (auto& family : report.families) family.repeated += family.family == report.rules[k].family;
  }
  size_t at = 0;
  std::erase_if(report.rules, [&](const GeneratedRule&) { return dropped[at++]; });
}

}  // namespace

// A rule that a later, more general one of the same operators states too.
void drop_narrower(GenerateReport& report) {
  std::vector<bool> dropped(report.rules.size(), false);
  const auto plain = [](const GeneratedRule& rule) {
    const auto digits = rule.name.find_last_not_of("0123456789");
    return digits + 1 < rule.name.size() && rule.name[digits] == '-' ? rule.name.substr(0, digits) : rule.name;
  };
  for (size_t k = 0; k < report.rules.size(); ++k) {
    for (size_t other = k + 1; other < report.rules.size() && !dropped[k]; ++other) {
      dropped[k] = plain(report.rules[other]) == plain(report.rules[k]) &&
                   rewrites_the_same(*report.rules[other].rule, *report.rules[k].rule, 8);
    }
  }
  drop(report, dropped);
}

namespace {

// The operators of both sides, sorted: rules that do the same have the same ones.
std::string operators_of(const rules::CompiledRule& rule) {
  std::vector<std::string> left, right;
  for (const auto& node : rule.left) left.emplace_back(ops::name(node.op));
  for (const auto& node : rule.right) right.emplace_back(ops::name(node.op));
  std::ranges::sort(left);
  std::ranges::sort(right);
  return join(left, " ") + " => " + join(right, " ");
}

const char* prose(std::string_view family) {
  if (family == "2d")
    return "Matrices: products, sums, products of elements, activations, transposes, joins and splits.";
  if (family == "4d") return "Images: convolutions, pools, sums, activations, joins and splits of channels.";
  if (family == "transformer")
    return "Stacks of matrices as in attention: products, scales, softmax, transposes, reshapes.";
  if (family == "2d-constant") return "Matrices next to constants: ones, zeros and identity matrices.";
  if (family == "4d-constant") return "Images next to constants: identity and averaging kernels.";
  if (family == "4d-window") return "Images under windows of several sizes, strides and pads.";
  return "Other operators.";
}

// What the rule states, variables numbered in the order in which they come.
std::string without_names(const rules::CompiledRule& rule) {
  const std::string text = rules::body_text(rule.text);
  std::map<std::string, size_t> numbers;
  std::string out;
  for (size_t k = text.find('\n'); k < text.size(); ++k) {
    out += text[k];
    if (text[k] != '?') continue;
    size_t end = k + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
    out += std::to_string(numbers.try_emplace(text.substr(k, end - k), numbers.size()).first->second);
    k = end - 1;
  }
  return out;
}

}  // namespace

void drop_repeated(GenerateReport& report) {
  constexpr int kPlaces = 8;
  std::map<std::string, std::vector<size_t>> alike;
  for (size_t k = 0; k < report.rules.size(); ++k) alike[operators_of(report.rules[k].rule->rule(0))].push_back(k);
  std::vector<bool> dropped(report.rules.size(), false);
  std::set<std::string> listed;
  for (size_t k = 0; k < report.rules.size(); ++k)
    dropped[k] = !listed.insert(without_names(report.rules[k].rule->rule(0))).second;
  for (const auto& entry : alike) {
    const std::vector<size_t>& group = entry.second;  // no structured binding: clang 14 captures none
    for (size_t last = group.size(); last-- > 0;) {
      dropped[group[last]] =
          dropped[group[last]] || std::ranges::any_of(group, [&](size_t other) {
            return other != group[last] && !dropped[other] &&
                   rewrites_the_same(*report.rules[other].rule, *report.rules[group[last]].rule, kPlaces);
          });
    }
  }
  drop(report, dropped);
}

std::string file_text(const GenerateReport& report, const std::string& command) {
  std::string body, family;
  for (const auto& rule : report.rules) {
    if (rule.family != family) body += fmt::format("\n# ---- {}: {}\n", rule.family, prose(rule.family));
    family = rule.family;
    body += "\n" + rule.text;
  }
  return fmt::format("# {} rules, generated and proved by\n#   {}\n# content {}\n{}", report.rules.size(), command,
                     hex(hash_string(body)), body);
}

std::string to_text(const GenerateReport& report) {
  std::string text;
  for (const auto& f : report.families) {
    uint64_t generated = 0, distinct = 0, redundant = 0;
    for (const auto& level : f.levels) {
      generated += level.generated, distinct += level.distinct, redundant += level.redundant;
    }
    text += fmt::format("{}, up to {} operators a side{}\n", f.family, f.levels.size() - 1,
                        f.stopped.empty() ? "" : ": " + f.stopped);
    text += fmt::format("  generated {}, distinct {}, redundant {}, fingerprints {}; {:.1f} s, tables {}\n", generated,
                        distinct, redundant, f.counts.fingerprints, f.enumerate_s, human_bytes(double(f.table_bytes)));
    text += fmt::format("  candidates {}: {} pairs, {} of one graph with itself, {} identities; {:.1f} s\n",
                        f.counts.pairs + f.counts.selves + f.counts.identities, f.counts.pairs, f.counts.selves,
                        f.counts.identities, f.prune_s);
    text += "  pruned:";
    for (int k = 1; k < kFates; ++k) {
      const auto count = f.fates[k] + (k == static_cast<int>(Fate::instance) ? f.special : 0);
      text += fmt::format("{} {} {}", k == 1 ? "" : ",", name(static_cast<Fate>(k)), count);
    }
    text += fmt::format("; kept {}\n", f.fates[0] - f.special);
    text += fmt::format(
        "  directed rules {}: proved {} ({} repeated once written, {} known already), unproved {}, the language cannot "
        "express {}; {:.1f} s\n",
        f.directed, f.proved, f.repeated, f.known, f.unproved, f.inexpressible, f.prove_s);
    if (const auto settled = f.proved + f.unproved + f.inexpressible; settled < f.directed)
      text += fmt::format("  {} not tried: stopped\n", f.directed - settled);
    if (f.proofs_resumed > 0) text += fmt::format("  {} decided by an earlier run\n", f.proofs_resumed);
  }
  return text;
}

}  // namespace rlgo::rulegen
