#include "core/rules/rule_set.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/rules/compiled.h"
#include "core/rules/instance.h"
#include "core/rules/parser.h"
#include "core/rules/ranges.h"
#include "core/rules/shipped_proofs.h"

namespace rlgo::rules {

namespace {

uint32_t asked_uses(const CompiledRule& rule) {
  uint32_t asked = 0;
  const std::function<void(const Expr&)> look = [&](const Expr& expr) {
    const bool uses = expr.calls(Fn::uses);
    if (uses) asked |= 1u << expr.args[0].slot.index;
    std::ranges::for_each(expr.args, look);
  };
  for (const auto& condition : rule.conditions) look(condition.expr);
  for (const auto& test : rule.deferred) look(test.expr);
  for (const auto& node : rule.right) {
    for (const auto& attr : node.attrs) look(attr.expr);
  }
  std::ranges::for_each(rule.scalars, look);
  return asked;
}

}  // namespace

void RuleSet::Impl::finish() {
  hash = mix64(rules.size());
  for (size_t r = 0; r < rules.size(); ++r) {
    hash = hash_combine(hash, rules[r]->hash);
    asks_uses.push_back(asked_uses(*rules[r]));
    for (size_t k = 0; k < rules[r]->left.size(); ++k) {
      const auto op = static_cast<size_t>(rules[r]->left[k].op);
      anchors[op].push_back({static_cast<int32_t>(r), static_cast<int32_t>(k)});
      if (asks_uses.back() >> k & 1u) use_anchors[op].push_back(anchors[op].back());
    }
  }
}

RuleSet::RuleSet() : impl_(std::make_unique<Impl>()) {}
RuleSet::~RuleSet() = default;

namespace {

Proof proof_of(const std::string& word) {
  return word == "proved" ? Proof::proved : word == "tested" ? Proof::tested : Proof::unproved;
}

// Of a file's rules that claim a proof which rlgo did not make.
std::string remark_on(const std::vector<std::string>& claims, const std::string& file) {
  if (claims.empty()) return "";
  constexpr size_t kNamed = 3;
  std::vector<std::string> named(claims.begin(), claims.begin() + std::min<ptrdiff_t>(kNamed, std::ssize(claims)));
  if (claims.size() > kNamed) named.push_back("...");
  return fmt::format("{}: {} ({}) {} a proof that rlgo did not make and {} as unproved; rlgo rules verify {} shows",
                     file, claims.size() == 1 ? "1 rule" : fmt::format("{} rules", claims.size()), join(named, ", "),
                     claims.size() == 1 ? "claims" : "claim", claims.size() == 1 ? "counts" : "count", file);
}

void add_file(RuleSet::Impl& set, std::set<std::string>& names, std::string_view text, const std::string& file) {
  const bool shipped = is_shipped_text(text);
  std::vector<std::string> claims;
  for (auto& rule : parse_rules(text, file)) {
    if (!names.insert(rule.name).second)
      throw Error(fmt::format("{}:{}: rule '{}' is defined twice", rule.file, rule.line, rule.name));
    Proof proof = proof_of(rule.proof);
    if (proof != Proof::unproved && !shipped && !is_shipped_rule(rule)) {
      proof = Proof::unproved;
      claims.push_back(rule.name);
    }
    auto compiled = std::make_shared<CompiledRule>(compile(std::move(rule)));
    compiled->proof = proof;
    check_types(*compiled);
    compiled->ranges = RangeCondition::of(*compiled);
    set.rules.push_back(std::move(compiled));
  }
  const std::string remark = remark_on(claims, file);
  set.remark += (set.remark.empty() || remark.empty() ? "" : "\n") + remark;
}

}  // namespace

std::shared_ptr<const RuleSet> RuleSet::parse(std::string_view text, const std::string& file_name) {
  std::shared_ptr<RuleSet> set(new RuleSet());
  std::set<std::string> names;
  add_file(*set->impl_, names, text, file_name);
  set->impl_->finish();
  return set;
}

std::shared_ptr<const RuleSet> RuleSet::load(std::span<const std::filesystem::path> files) {
  std::shared_ptr<RuleSet> set(new RuleSet());
  std::set<std::string> names;
  for (const auto& file : files) add_file(*set->impl_, names, read_text(file), file.string());
  set->impl_->finish();
  return set;
}

int RuleSet::size() const { return static_cast<int>(impl_->rules.size()); }
const CompiledRule& RuleSet::rule(int index) const {
  RLGO_CHECK(index >= 0 && index < size());
  return *impl_->rules[static_cast<size_t>(index)];
}
const std::string& RuleSet::name(int index) const { return rule(index).text.name; }
Proof RuleSet::proof(int index) const { return rule(index).proof; }
std::vector<std::string> RuleSet::names() const {
  std::vector<std::string> names;
  for (const auto& rule : impl_->rules) names.push_back(rule->text.name);
  return names;
}
uint64_t RuleSet::hash() const { return impl_->hash; }
const std::string& RuleSet::remark() const { return impl_->remark; }

std::shared_ptr<const RuleSet> RuleSet::subset(std::span<const std::string> wanted) const {
  const auto known = names();
  for (const auto& name : wanted) {
    if (std::ranges::find(known, name) == known.end()) fail("no rule is named '{}'{}", name, did_you_mean(name, known));
  }
  std::shared_ptr<RuleSet> set(new RuleSet());
  for (const auto& rule : impl_->rules) {
    if (std::ranges::find(wanted, rule->text.name) != wanted.end()) set->impl_->rules.push_back(rule);
  }
  set->impl_->remark = impl_->remark;
  set->impl_->finish();
  return set;
}

namespace {

std::shared_ptr<const RuleSet> relaxed(const RuleSet& rules, bool ranges) {
  auto set = rules.subset(rules.names());
  for (auto& rule : const_cast<RuleSet::Impl&>(set->impl()).rules) {  // nobody else has it yet
    auto free = std::make_shared<CompiledRule>(*rule);
    std::erase_if(free->conditions, [](const CompiledCondition& condition) { return condition.pays; });
    if (!ranges) free->ranges.reset();
    if (free->ranges != rule->ranges || free->conditions.size() < rule->conditions.size()) rule = std::move(free);
  }
  return set;
}

}  // namespace

std::shared_ptr<const RuleSet> wherever_true(const RuleSet& rules) { return relaxed(rules, true); }
std::shared_ptr<const RuleSet> over_reals(const RuleSet& rules) { return relaxed(rules, false); }

std::string RuleSet::to_text() const {
  std::string text;
  for (const auto& rule : impl_->rules) text += (text.empty() ? "" : "\n") + rules::to_text(rule->text);
  return text;
}

const RuleSet::Impl& RuleSet::impl() const { return *impl_; }

bool stands_before(const graph::Graph& graph, const Match& a, const Match& b) {
  for (size_t k = 0; k < a.nodes.size(); ++k) {
    if (a.nodes[k] != b.nodes[k]) return graph.position(a.nodes[k]) < graph.position(b.nodes[k]);
  }
  for (size_t k = 0; k < std::min(a.variables.size(), b.variables.size()); ++k) {
    const auto &x = a.variables[k], &y = b.variables[k];
    if (x.node != y.node) return graph.position(x.node) < graph.position(y.node);
    if (x.port != y.port) return x.port < y.port;
  }
  return a.variables.size() < b.variables.size();
}

void Placed::find_ends(const graph::Graph& graph) {
  const auto position = [&](graph::NodeId id) { return graph.position(id); };
  const auto ends = std::ranges::minmax(found->match.nodes, {}, position);
  first = ends.min;
  last = ends.max;
}

Placed place(const graph::Graph& graph, Found found) {
  Placed placed{.found = nullptr, .signature = found.signature, .sensitive = found.sensitive, .blocked = found.blocked};
  for (const graph::NodeId id : found.match.nodes) placed.nodes |= uint64_t{1} << (static_cast<uint64_t>(id) % 64);
  placed.found = std::make_shared<Found>(std::move(found));
  placed.find_ends(graph);
  return placed;
}

void sort_found(const graph::Graph& graph, std::vector<Placed>& all, size_t sorted) {
  const auto less = [&](const Placed& a, const Placed& b) {
    return stands_before(graph, a.found->match, b.found->match);
  };
  const auto same = [](const Placed& a, const Placed& b) { return a.found->match == b.found->match; };
  const auto middle = all.begin() + static_cast<ptrdiff_t>(sorted);
  if (!std::is_sorted(middle, all.end(), less)) std::sort(middle, all.end(), less);
  all.erase(std::unique(middle, all.end(), same), all.end());
  const auto known = [&](const Placed& one) {
    const auto at = std::lower_bound(all.begin(), middle, one, less);
    return at != middle && same(*at, one);
  };
  all.erase(std::remove_if(middle, all.end(), known), all.end());
  constexpr ptrdiff_t kFew = 8;
  if (all.end() - middle > kFew) {
    std::inplace_merge(all.begin(), middle, all.end(), less);
  } else {  // asks fewer of them where they stand
    for (auto one = middle; one != all.end(); ++one)
      std::rotate(std::upper_bound(all.begin(), one, *one, less), one, one + 1);
  }
}

namespace {

// A set of at most as many numbers as it was made for.
class Signatures {
 public:
  explicit Signatures(size_t most) : slots_(std::bit_ceil(2 * most)), used_(slots_.size(), 0) {}
  // False where it was there.
  bool insert(uint64_t number) {
    size_t at = mix64(number) & (slots_.size() - 1);
    for (; used_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == number) return false;
    }
    slots_[at] = number;
    used_[at] = 1;
    return true;
  }

 private:
  std::vector<uint64_t> slots_;
  std::vector<uint8_t> used_;
};

}  // namespace

std::vector<uint32_t> publish(const CompiledRule& rule, const graph::Graph& graph, std::span<const Placed> all) {
  std::vector<uint32_t> offered;
  offered.reserve(all.size());
  for (uint32_t k = 0; k < all.size(); ++k) {
    const auto& nodes = all[k].found->match.nodes;
    if (all[k].blocked) continue;
    if (rule.before_first >= 0 && graph.position(nodes[static_cast<size_t>(rule.before_first)]) >
                                      graph.position(nodes[static_cast<size_t>(rule.before_second)]))
      continue;
    offered.push_back(k);
  }
  if (offered.size() < 2) return offered;
  Signatures seen(offered.size());
  std::erase_if(offered, [&](uint32_t k) { return !seen.insert(all[k].signature); });
  return offered;
}

std::vector<Match> find_matches(const RuleSet& rules, int index, const graph::Graph& graph) {
  const CompiledRule& rule = rules.rule(index);
  std::vector<Placed> all;
  Binding scratch;
  Matcher matcher(rule, index, graph, scratch);
  const Matcher::Sink sink = [&](Found found, const Plan&) { all.push_back(place(graph, std::move(found))); };
  for (graph::NodeId id : graph.order()) {
    if (graph.node(id).op() == rule.left[0].op) matcher.at(0, id, sink);
  }
  sort_found(graph, all);
  std::vector<Match> matches;
  for (const uint32_t k : publish(rule, graph, all)) matches.push_back(all[k].found->match);
  return matches;
}

namespace {

std::optional<Rewritten> finish(graph::Editor& editor) {
  Rewritten rewrite;
  auto graph = editor.finish(&rewrite.delta);
  if (!graph) return std::nullopt;
  rewrite.graph = std::move(*graph);
  return rewrite;
}

std::optional<Rewritten> build(const graph::Graph& graph, const Plan& plan) {
  graph::Editor editor(graph);
  draw(*make_recipe(plan, graph), editor);
  return finish(editor);
}

}  // namespace

std::optional<Rewritten> apply(const RuleSet& rules, const Match& match, const graph::Graph& graph) {
  std::optional<Rewritten> rewrite;
  bool tried = false;
  Binding scratch;
  Matcher matcher(rules.rule(match.rule), match.rule, graph, scratch);
  matcher.pinned(match.nodes, [&](const Found& found, const Plan& plan) {
    if (tried || found.blocked || found.match != match) return;
    tried = true;
    rewrite = build(graph, plan);
  });
  return rewrite;
}

}  // namespace rlgo::rules
