// Ways of rewriting a model, and the one that runs fastest.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/cost/analytic.h"
#include "core/cost/cost.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/clock.h"
#include "core/optimise/deferred_costs.h"
#include "core/optimise/model.h"
#include "core/optimise/optimise.h"
#include "core/optimise/plan.h"
#include "core/optimise/timed_graphs.h"
#include "core/rules/script.h"

namespace rlgo::optimise {

// Who runs in a comparison: indices of candidates, the cheapest first; what was not rewritten last, as the original
// runs anyway. Where only `places` of them can run, and these are two or more, the one that was found without timing is
// among them: costs may be of other days.
void rank_runners(std::span<const Candidate> candidates, size_t places, std::vector<size_t>& runners);

// Where writing all kinds, `write_s` each, takes more than `has_s`: without those of little gain by `prices`. The best
// and the respelled ones stay.
void leave_out_slight(std::vector<Candidate>& kinds, const graph::Graph& model, cost::CostModel& prices, double write_s,
                      double has_s);

// Rules of a trace, the most used first.
std::vector<int32_t> rules_by_use(const rules::Trace& trace);

// The tag of rules that make convolutions by fewer multiplications.
inline constexpr const char* kWinograd = "winograd";
// Whether a rule makes convolutions by fewer multiplications: whether they pay, only times show, of whole models better
// than of the many small operators that they are made of.
bool is_winograd(const rules::RuleSet& rules, int32_t rule);

// The rules with a tag; null where none has it.
std::shared_ptr<const rules::RuleSet> tagged(const rules::RuleSet& rules, const std::string& tag);

// Those that a count of operations may judge: not convolutions by fewer multiplications.
std::shared_ptr<const rules::RuleSet> for_formula(const std::shared_ptr<const rules::RuleSet>& rules);

// The searches that a method of OptimiseOptions stands for, after the sweeps.
std::vector<std::string> methods_behind(const std::string& method);

class Candidates {
 public:
  // Adds to result.searches and result.candidates. Model files go to `folder`.
  Candidates(const OptimiseOptions& options, const LoadedModel& model, cost::CostModel& cost, Benchmark& benchmark,
             std::filesystem::path folder, OptimiseClock& clock, const TimePlan& plan, const Log& log, Result& result)
      : options_(options),
        model_(model),
        cost_(cost),
        benchmark_(benchmark),
        folder_(std::move(folder)),
        clock_(clock),
        plan_(plan),
        timing_s_(plan.timing_s),
        compare_until_s_(plan.choose_s),
        log_(log),
        result_(result) {}

  void use_predicted(cost::CostModel* predicted) { predicted_ = predicted; }  // learned prices; null: none
  // What --method train searches with.
  void use_training(const OptimiseParts& parts) { parts_ = &parts; }
  // Rewriting in sweeps without timing, whole models of what these found, then sweeps by measured costs from the
  // fastest of them and from the model, then the method that was asked for from the cheapest of all that is not behind,
  // until plan.search_s; to plan.late_s where nothing was found by then.
  void search();
  // Time, on the clock, when no more operators are to be timed.
  double timing_s() const { return timing_s_; }
  // Compares all candidates. Then, as long as that makes it faster, until plan.choose_s, rules of the best one are left
  // out, one by one and then together: what lowers the sum over operators may still spoil what the runtime does with
  // the whole graph. At last the fastest few run for as many rounds as there is time for. Sets result.chosen. A
  // comparison has as many runners as can finish the fewest rounds in time; where none can, the cheapest candidate by
  // the sum over operators is chosen.
  void choose();

 private:
  search::Result run(const std::string& method, const graph::Graph& from,
                     const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& cost, double until_s,
                     std::string from_name);
  // By search::run, or by what trains an agent.
  search::Result found_by(const std::string& method, const search::Problem& problem, const search::Options& options);
  // The searches that options.method stands for, each from the cheapest candidate so far, in equal parts of the time.
  void search_further(double until_s);
  // What a search follows, and the rules that this may judge.
  cost::CostModel& costs_of(By by);
  static std::shared_ptr<const rules::RuleSet> rules_for(By by, const std::shared_ptr<const rules::RuleSet>& rules) {
    return by == By::formula ? for_formula(rules) : rules;
  }
  // `from` searched on, by these of result_.rules, under its name; not added.
  Candidate searched(const std::string& method, const Candidate& from, By by,
                     const std::shared_ptr<const rules::RuleSet>& rules, double until_s);
  // What sweeps find without timing, by kind: by formula; then, where there are learned prices, by these with all
  // rules, and by these without Winograd's convolutions or, where the former have none, from another start.
  std::vector<Candidate> untimed_kinds(double until_s);
  // `from` with every rewrite made by these of `rules` that spell slow kernels otherwise, wherever they fit: prices of
  // the operators in between show nothing of what comes of them together. As `from` where there are none.
  Candidate respelled(const Candidate& from, const std::shared_ptr<const rules::RuleSet>& rules, double until_s);
  // Candidates from `first` on against the original, in two fresh processes where there is time: sets their ratios.
  // Where those with a family of rules (families.h) are not faster than those without, or than the original, although
  // prices promised it, further searches do without. All kinds run for a quarter of the time; two of them in a little
  // more where one has Winograd's convolutions. Else the final measurement alone judges these, unless others gain, too.
  void compare_kinds(size_t first);
  double kinds_s() const;  // what that has, in s
  // Those of them that can run in so many seconds.
  std::vector<size_t> kinds_in_time(size_t first, double seconds);
  struct Judged {
    const Candidate* candidate = nullptr;  // the fastest with the family
    double without = 1;                    // the least ratio without it; the model itself has 1
  };
  void judge_families();
  void drop_contradicted(const std::map<std::string, Judged>& judged);
  void drop(const std::string& family, const std::string& why);
  const std::string& family_of(int32_t rule);
  bool uses(const Candidate& candidate, const std::string& family);
  bool uses_dropped(const Candidate& candidate);
  bool uses_winograd(const Candidate& candidate) const;
  // The rules of further searches: result.rules without the families that were dropped.
  const std::shared_ptr<const rules::RuleSet>& allowed() const;
  // The fastest of the kinds; where none was timed, the cheapest by prices that know them.
  size_t kind_to_refine();
  // The least ratio of a comparison so far, at most 1.
  double fastest_ratio() const;
  // Whole models have shown that there are faster ones, whatever it costs by prices.
  bool is_behind(size_t k);
  // By costs of one time, of those that are not behind.
  size_t cheapest();
  // Where nothing was found that is worth a check, the searches continue in the time that was kept for checks.
  void search_late();
  // Searches on from a candidate and adds what is found.
  void go_on(const std::string& method, size_t from, double until_s);
  // False where another candidate is the same graph.
  bool add(Candidate candidate);
  rules::Trace in_result_rules(const rules::Trace& trace, const rules::RuleSet& rules) const;
  // A candidate's sweeps again, without some rules.
  bool add_without(const Candidate& best, const std::set<std::string>& without);
  // A candidate's rewrites again (`replay`), but for those by some rules.
  bool add_part(const Candidate& whole, const rules::Script& replay, const std::set<std::string>& without);
  // One that does without the Winograd convolutions of the best one.
  void add_without_winograd();
  // Seconds until comparisons are to end.
  double left() const { return std::max(0.0, compare_until_s_ - clock_.passed()); }
  // How many candidates a comparison may have next to the original and its twin.
  size_t runners_in_time() const;
  // Compares candidates from `first` on against the original and, where first > 0, the best so far; in heats: the
  // slower half drops out. True where result.chosen is another one now.
  bool compare_from(size_t first);
  // One heat: sets the ratios of runners. Returns them, the fastest first, without those that failed.
  // `seconds`: when no more than the fewest rounds are run.
  std::vector<size_t> heat(std::span<const size_t> runners, int rounds, double seconds);
  bool side_by_side(std::span<const size_t> runners, int rounds, double seconds, bool twin = true);
  // How many models fit into memory next to the original, loaded twice.
  size_t places() const;
  // Candidates that do without one of the best one's rules each, then without all that this may gain by.
  bool leave_out_rules();
  // Those that were fast in comparisons of few rounds run once more, for as many as there is time for. Sets
  // result.chosen to the fastest where it shows that beyond doubt.
  void decide();
  // Beyond doubt, by the comparison that both were last in.
  bool is_faster(size_t candidate, size_t than) const;

  const OptimiseOptions& options_;
  const LoadedModel& model_;
  cost::CostModel& cost_;
  Benchmark& benchmark_;
  cost::AnalyticCost analytic_;
  cost::CostModel* predicted_ = nullptr;
  std::filesystem::path folder_;
  OptimiseClock& clock_;
  const TimePlan& plan_;
  double timing_s_, compare_until_s_;
  const Log& log_;
  Result& result_;
  const OptimiseParts* parts_ = nullptr;
  std::shared_ptr<const rules::RuleSet> allowed_;  // null: all
  std::set<std::string> dropped_;                  // families
  std::vector<std::string> families_;              // by rule; empty: not asked yet
  std::set<std::string> tried_;                    // rules that were left out
};

}  // namespace rlgo::optimise
