#include "core/rulegen/prove/prove.h"

#include <algorithm>
#include <bit>
#include <set>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/rulegen/prove/certify.h"
#include "core/rulegen/prove/falsify.h"
#include "core/rulegen/prove/sym_number.h"
#include "core/rulegen/prove/sym_saturate.h"
#include "core/rules/proof_scope.h"

namespace rlgo::rulegen {
namespace {

using namespace sym;  // NOLINT: the prover's own terms

constexpr int kMaxPasses = 40;        // until assumptions add nothing new
constexpr int64_t kBuildSteps = 100;  // what a pass counts for, see Budget

// All cases of one rule.
class Prover {
 public:
  Prover(const rules::CompiledRule& rule, const AxiomSet& axioms, const ProveOptions& options)
      : rule_(rule),
        axioms_(axioms),
        options_(options),
        facts_(pool_.extents),
        binding_(rule),
        plan_(rule, options.all_windows),
        budget_(options.max_steps, options.stop) {
    limits_.max_rank = options.max_rank;
    limits_.max_sequence = options.max_list;
    limits_.all_windows = options.all_windows;
    for (const auto& [tensor, rank] : plan_.rank_hint) limits_.max_rank = std::max(limits_.max_rank, rank);
    if (const auto names = only_scalars(rule)) {
      limits_.scalar_numbers = true;
      used_.insert(names->begin(), names->end());
    }
    for (size_t k = 0; k < axioms.axioms().size(); ++k) {
      all_.push_back(static_cast<int32_t>(k));
      if (axioms.axioms()[k].plain) plain_.push_back(static_cast<int32_t>(k));
    }
  }

  Proof run() {
    const ThreadStopwatch watch;
    Proof proof = all_cases();
    proof.derive_ms = watch.us() / 1000 - proof.certify_ms;
    proof.steps = budget_.spent();
    proof.stopped = budget_.stopped();
    return proof;
  }

 private:
  Proof all_cases() {
    Proof proof;
    try {
      if (!axioms_.has("concat-flatten")) plan_.around = 0;
      if (plan_.around != 0) used_.insert("concat-flatten");
      do {
        if (++attempts_ > 50L * options_.max_cases) throw Untranslatable("too many combinations of ranks and lists");
        facts_.clear();
        if (!build() || is_covered()) continue;
        if (plan_.around != 0 && !same_axes()) return with_lists();
        if (++proof.cases > options_.max_cases) throw Untranslatable("too many cases");
        if (!one_case(proof)) return proof;
      } while (choices_.advance());
    } catch (const Untranslatable& e) {
      proof.reason = e.what();
      return proof;
    }
    if (proof.cases == 0) {
      proof.reason = "the conditions never hold, or the two sides never have equal types, up to this rank";
      return proof;
    }
    proof.verdict = Proof::Verdict::proved;
    proof.axioms.assign(used_.begin(), used_.end());
    proof.scope = scope();
    return proof;
  }

  rules::ProofScope scope() const {
    rules::ProofScope scope{rule_.all_types, limits_.max_rank, limits_.max_sequence, limits_.all_windows,
                            rules::has_lists(rule_)};
    const bool all_around =
        plan_.around != 0 && std::popcount(plan_.around) == static_cast<int>(rule_.sequences.size());
    const bool splits = std::ranges::any_of(rule_.left, [](const auto& node) { return node.op == ops::Op::split; });
    if (all_around && !splits) scope.max_list = rules::ProofScope::kAnyLength;
    return scope;
  }

  // Both sides of this case, all that its conditions and shapes state assumed. False: the case cannot arise.
  bool build() {
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      budget_.spend(kBuildSteps);
      if (!facts_.refresh()) return false;
      if (pass > 0) facts_.take_changed();
      graph_.clear();
      binding_ = Binding(rule_);
      goals_.clear();
      if (!sides()) return false;
      if (!facts_.take_changed()) return true;
    }
    throw Untranslatable("the conditions on extents do not decide");
  }

  // Whether what is replaced and what replaces it are joined along one axis, see LeftPlan::around.
  bool same_axes() const {
    const auto axis = [&](TermId t) {
      const Node& node = graph_.node(t);
      return node.op == static_cast<int>(ops::Op::concat) ? find(pool_.params_of(node.params), ops::Attr::axis)
                                                          : nullptr;
    };
    return std::ranges::all_of(goals_, [&](const auto& pair) {
      const Value *a = axis(pair.first), *b = axis(pair.second);
      return a && b && *a == *b;
    });
  }

  // From the beginning, with elements in all lists.
  Proof with_lists() {
    plan_.around = 0;
    used_.clear();
    choices_ = Choices();
    attempts_ = 0;
    return all_cases();
  }

  // Whether this case is proved with another one: a number on the left has a shape that does not count there.
  bool is_covered() {
    const auto axiom = covered_number(rule_, graph_, pool_, binding_);
    if (axiom) used_.insert(*axiom);
    return axiom.has_value();
  }

  bool sides() {
    World world{pool_, {facts_, true}, &budget_};
    try {
      LeftSide(rule_, graph_, world, binding_, choices_, plan_, limits_).run();
      RightSide right(rule_, graph_, world, binding_, &choices_);
      if (!demand(right.run())) return false;
      for (const auto& replacement : rule_.replacements) {
        if (!demand(right.replaced(replacement, goals_))) return false;
      }
      return equal_types();
    } catch (const Impossible&) {
      return false;
    }
  }
  static bool demand(Fit fit) {
    if (fit == Fit::unknown) throw Untranslatable("the right side cannot be read: an expression or a shape stays open");
    return fit == Fit::fits;
  }
  // A match applies only where old and new values are of one type: assumed.
  bool equal_types() {
    for (const auto& [old, fresh] : goals_) {
      const Shape a = pool_.shape_of(graph_.node(old).outs[0]), b = pool_.shape_of(graph_.node(fresh).outs[0]);
      if (a.size() != b.size()) return false;
      for (size_t k = 0; k < a.size(); ++k) {
        if (!facts_.assume_equal(a[k], b[k])) return false;
      }
    }
    return true;
  }

  bool one_case(Proof& proof) {
    World world{pool_, {facts_, false}, &budget_, &goals_};
    for (const auto& [old, fresh] : goals_) {
      if (graph_.node(old).outs == graph_.node(fresh).outs) continue;
      proof.reason = "cannot see that the shapes are equal" + case_text();
      return false;
    }
    if (!derive(world)) {
      proof.reason = fmt::format("no derivation found ({} terms, {} instances of axioms){}", graph_.size(),
                                 graph_.instances().size(), case_text());
      return false;
    }
    const ThreadStopwatch watch;
    const bool certified = certify(proof);
    proof.certify_ms += watch.us() / 1000;
    return certified;
  }

  // Several ways, each from the beginning: what one of them makes to no effect is in the way of the others.
  bool derive(World& world) {
    constexpr int kLikelyTerms = 800, kUsualTerms = 2500;
    const auto attempt = [&](const std::vector<int32_t>& axioms, int terms) {
      if (axioms.empty()) return false;
      if (tried_) rebuild();
      tried_ = true;
      const SaturationLimits limits{options_.max_iterations, std::min(terms, options_.max_terms)};
      return Saturation(axioms_, graph_, world, limits).run(goals_, axioms);
    };
    tried_ = false;
    if (attempt(likely_, kLikelyTerms) || attempt(all_, kUsualTerms)) return true;
    return options_.max_terms > kUsualTerms &&
           (attempt(plain_, options_.max_terms) || attempt(all_, options_.max_terms));
  }

  // The two sides again, nothing derived.
  void rebuild() {
    graph_.clear();
    binding_ = Binding(rule_);
    goals_.clear();
    RLGO_CHECK(sides());
    facts_.take_changed();
  }

  bool certify(Proof& proof) {
    std::set<int32_t> explained;
    for (const auto& [a, b] : goals_) graph_.explain(a, b, explained);
    std::vector<int32_t> core(explained.begin(), explained.end());
    if (options_.certify) {
      const std::vector<int32_t> instances = core;
      if (!certifier_) certifier_.emplace(options_.certify_effort);
      const auto answer = certifier_->entails(graph_, instances, goals_, core);
      if (answer == Certifier::Answer::gave_up)
        proof.reason = fmt::format("Z3 gave up after {} resource units", options_.certify_effort) + case_text();
      if (answer == Certifier::Answer::no) proof.reason = "Z3 does not confirm the derivation" + case_text();
      if (answer != Certifier::Answer::yes) return false;
    }
    for (int32_t instance : core) {
      if (instance < 0) {
        used_.insert("commutativity");
        continue;
      }
      const auto& axiom =
          axioms_.axioms()[static_cast<size_t>(graph_.instances()[static_cast<size_t>(instance)].axiom)];
      used_.insert(axiom.name);
      helpful(axiom.family);
    }
    return true;
  }

  // Axioms of this family are tried first in the cases to come.
  void helpful(const std::string& family) {
    if (!families_.insert(family).second) return;
    for (size_t k = 0; k < axioms_.axioms().size(); ++k) {
      if (axioms_.axioms()[k].family == family) likely_.push_back(static_cast<int32_t>(k));
    }
    std::ranges::sort(likely_);
  }

  // Shapes of the variables in the case at hand.
  std::string case_text() const {
    std::string text;
    const auto add = [&](const std::string& name, TermId t) {
      if (t < 0) return;
      const Shape& shape = pool_.shape_of(graph_.node(t).outs[0]);
      text += fmt::format("{} ?{}{}", text.empty() ? " for" : ",", name, pool_.text(Value::of(shape)));
    };
    for (size_t k = 0; k < binding_.tensors.size(); ++k) add(rule_.tensors[k], binding_.tensors[k]);
    for (size_t k = 0; k < binding_.sequences.size(); ++k) {
      for (TermId t : binding_.sequences[k]) add(rule_.sequences[k], t);
    }
    for (size_t k = 0; k < binding_.attributes.size(); ++k) {
      if (binding_.masks.attributes >> k & 1u)
        text += fmt::format(", ?{}={}", rule_.attributes[k], pool_.text(binding_.attributes[k]));
    }
    return text;
  }

  const rules::CompiledRule& rule_;
  const AxiomSet& axioms_;
  ProveOptions options_;
  CaseLimits limits_;
  Pool pool_;
  Facts facts_;
  EGraph graph_;
  Binding binding_;
  LeftPlan plan_;
  Choices choices_;
  Goals goals_;
  std::set<std::string> used_, families_;
  std::vector<int32_t> likely_, all_, plain_;  // numbers of axioms
  bool tried_ = false;                         // to derive this case
  std::optional<Certifier> certifier_;
  int64_t attempts_ = 0;
  Budget budget_;
};

}  // namespace

std::string_view name(Proof::Verdict verdict) {
  constexpr std::string_view kNames[] = {"proved", "refuted", "unknown"};
  return kNames[static_cast<size_t>(verdict)];
}

namespace {

// The widest scope that is proved, from that of `proof` on.
void widen(const rules::CompiledRule& rule, const AxiomSet& axioms, ProveOptions options, Proof& proof) {
  options.max_cases = options.max_wide_cases;
  const auto attempt = [&](int rank, int list) {
    options.max_rank = rank;
    options.max_list = list;
    Proof wider = Prover(rule, axioms, options).run();
    if (wider.verdict != Proof::Verdict::proved || wider.stopped) return false;
    wider.derive_ms += proof.derive_ms;
    wider.certify_ms += proof.certify_ms;
    proof = std::move(wider);
    return true;
  };
  if (options.widest_windows && !options.all_windows && rules::has_windows(rule)) {
    options.all_windows = true;
    options.all_windows = attempt(proof.scope.max_rank, options.max_list);
  }
  const bool lists = proof.scope.has_lists && proof.scope.max_list != rules::ProofScope::kAnyLength;
  const int rank = proof.scope.max_rank;
  int list = proof.scope.max_list;
  for (int wanted = options.widest_list; lists && wanted > list; wanted /= 2) {
    if (attempt(rank, wanted)) list = wanted;
  }
  for (int wanted = options.widest_rank; wanted > rank; --wanted) {
    if (attempt(wanted, list)) return;
  }
}

}  // namespace

Proof prove(const rules::CompiledRule& claimed, const AxiomSet& axioms, const ProveOptions& given) {
  rules::RuleText text = claimed.text;
  ProveOptions options = given;
  const bool scoped = text.proof == "proved" && text.scope.max_list != rules::ProofScope::kAnyLength;
  const rules::ProofScope start = text.proof == "proved" ? text.scope : rules::ProofScope();
  if (options.max_rank == 0) options.max_rank = start.max_rank;
  if (options.max_list == 0) options.max_list = scoped ? start.max_list : rules::ProofScope().max_list;
  options.all_windows = options.all_windows || start.all_windows;
  text.proof = "unproved";
  const rules::CompiledRule rule = rules::compile(std::move(text));
  Proof proof = Prover(rule, axioms, options).run();
  // Windows of a single axis, for example.
  if (proof.cases == 0 && !proof.stopped && !options.all_windows && rules::has_windows(rule)) {
    options.all_windows = true;
    proof = Prover(rule, axioms, options).run();
  }
  if (proof.verdict == Proof::Verdict::proved && !proof.stopped) widen(rule, axioms, options, proof);
  if (options.check && !proof.stopped) falsify(rule, options, proof);
  if (proof.verdict == Proof::Verdict::proved && (!options.certify || !options.check)) {
    proof.verdict = Proof::Verdict::unknown;
    proof.reason = options.certify ? "derived, not checked" : "derived, not certified";
  }
  return proof;
}

Proof prove(const rules::RuleText& rule, const AxiomSet& axioms, const ProveOptions& options) {
  return prove(rules::compile(rule), axioms, options);
}

}  // namespace rlgo::rulegen
