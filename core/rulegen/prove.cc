#include "core/rulegen/prove.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/rulegen/certify.h"
#include "core/rulegen/check.h"
#include "core/rulegen/sym_saturate.h"

namespace rlgo::rulegen {
namespace {

using namespace sym;  // NOLINT: the prover's own terms

constexpr int kMaxPasses = 40;  // until assumptions add nothing new

// All cases of one rule.
class Prover {
 public:
  Prover(const rules::CompiledRule& rule, const AxiomSet& axioms, const ProveOptions& options)
      : rule_(rule), axioms_(axioms), options_(options), facts_(pool_.lins), binding_(rule) {}

  Proof run() {
    Proof proof;
    try {
      do {
        if (++attempts_ > 50 * options_.max_cases) throw Untranslatable("too many combinations of ranks and lists");
        facts_.clear();
        if (!build()) continue;
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
    return proof;
  }

 private:
  // Both sides of this case, all that its conditions and shapes say assumed. False: the case cannot arise.
  bool build() {
    Stopwatch watch;
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      if (!facts_.refresh()) return false;
      if (pass > 0) facts_.take_changed();
      graph_.clear();
      binding_ = Binding(rule_);
      goals_.clear();
      const bool possible = sides();
      build_ms_ += watch.us() / 1000;
      watch.restart();
      if (!possible) return false;
      if (!facts_.take_changed()) return true;
    }
    throw Untranslatable("the conditions on extents do not settle");
  }

  bool sides() {
    World world{pool_, {facts_, true}};
    try {
      const CaseLimits limits{options_.max_rank, options_.max_sequence};
      LeftSide(rule_, graph_, world, binding_, choices_, limits).run();
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
    Stopwatch watch;
    World world{pool_, {facts_, false}};
    for (const auto& [old, fresh] : goals_) {
      if (graph_.node(old).outs == graph_.node(fresh).outs) continue;
      proof.reason = "cannot see that the shapes are equal" + case_text();
      return false;
    }
    const SaturationLimits limits{options_.max_iterations, options_.max_terms};
    const bool derived = Saturation(axioms_, graph_, world, limits).run(goals_, likely_);
    proof.derive_ms += watch.us() / 1000 + std::exchange(build_ms_, 0.0);
    if (!derived) {
      proof.reason = fmt::format("no derivation found ({} terms, {} instances of axioms){}", graph_.size(),
                                 graph_.instances().size(), case_text());
      return false;
    }
    watch.restart();
    const bool certified = certify(proof);
    proof.certify_ms += watch.us() / 1000;
    return certified;
  }

  bool certify(Proof& proof) {
    std::set<int32_t> explained;
    for (const auto& [a, b] : goals_) graph_.explain(a, b, explained);
    std::vector<int32_t> core(explained.begin(), explained.end());
    if (options_.certify) {
      const std::vector<int32_t> instances = core;
      if (!certifier_) certifier_.emplace();
      if (!certifier_->entails(graph_, instances, goals_, core)) {
        proof.reason = "Z3 does not confirm the derivation" + case_text();
        return false;
      }
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
  Pool pool_;
  Facts facts_;
  EGraph graph_;
  Binding binding_;
  Choices choices_;
  Goals goals_;
  std::set<std::string> used_, families_;
  std::vector<int32_t> likely_;
  std::optional<Certifier> certifier_;
  int64_t attempts_ = 0;
  double build_ms_ = 0;
};

}  // namespace

std::string_view name(Proof::Verdict verdict) {
  constexpr std::string_view kNames[] = {"proved", "refuted", "unknown"};
  return kNames[static_cast<size_t>(verdict)];
}

namespace {

// Looks for a counterexample at random shapes, exactly. What is not refuted and could not be looked at is unknown.
void check_exactly(const rules::CompiledRule& rule, const ProveOptions& options, Proof& proof) {
  const Stopwatch watch;
  CheckOptions check;
  check.instances = options.check_instances;
  check.seed = options.seed;
  const auto set = rules::RuleSet::parse(rules::to_text(rule.text), rule.text.file);
  const CheckResult result = check_rule(*set, 0, check);
  proof.check_ms = watch.us() / 1000;
  if (result.verdict == Verdict::different) {
    proof.verdict = Proof::Verdict::refuted;
    proof.reason = result.counterexample->to_text();
  } else if (proof.verdict == Proof::Verdict::proved && (result.verdict == Verdict::unknown || result.instances == 0)) {
    proof.verdict = Proof::Verdict::unknown;
    proof.reason = "derived, but the check at random shapes saw nothing: " + result.why;
  }
}

}  // namespace

Proof prove(const rules::CompiledRule& rule, const AxiomSet& axioms, const ProveOptions& options) {
  Proof proof = Prover(rule, axioms, options).run();
  if (options.check) check_exactly(rule, options, proof);
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
