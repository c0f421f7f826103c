// The whole way from a set of operators to proved rules: enumerate, pair, prune, write as rules, prove.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/rulegen/generate/enumerate.h"
#include "core/rulegen/generate/prune.h"
#include "core/rulegen/prove/axiom.h"
#include "core/rules/rules.h"

namespace rlgo::rulegen {

struct GenerateOptions {
  std::string ops = "2d";  // families, see make_family(); several with '+' between
  int max_ops = 3;         // of each side
  int prove_ops = 0;       // candidates of more operators a side are counted, not written as rules; 0: all are
  int threads = 1;
  uint64_t memory_bytes = uint64_t{4} << 30;  // of the tables
  std::filesystem::path state;                // folder for what is done of each family, taken up again; "" for none
  bool derive = true;                         // drop what two applications of kept rules do, where no more expensive
  bool prove = true;
  std::vector<std::string> activations{"gelu"};  // what is written for the activation that stands for all
  int activation_ops = 0;  // where a side has more operators, only the first of them is written; 0: no bound
  std::shared_ptr<const AxiomSet> axioms;
  std::shared_ptr<const rules::RuleSet> known;       // rules that do the same in one application are left out
  std::function<void(const std::string&)> explain;   // one line for each pruned pair, in a fixed order
  std::function<bool(const std::string&)> progress;  // a line; false: stop
};

// Options ops, max-ops, prove-ops, threads, activations, activation-ops.
void declare(OptionSink& sink, GenerateOptions& options);

struct FamilyReport {
  std::string family;
  std::vector<Level> levels;  // counts only
  CandidateCounts counts;
  std::array<uint64_t, kFates> fates{};
  uint64_t special = 0;   // kept, but instances of a rule that was kept after them
  uint64_t directed = 0;  // texts to be proved: both directions, all activations
  uint64_t inexpressible = 0, proved = 0, unproved = 0, repeated = 0, known = 0;
  double enumerate_s = 0, prune_s = 0, prove_s = 0;
  uint64_t table_bytes = 0;
  int resumed = 0;              // levels of the enumeration
  uint64_t proofs_resumed = 0;  // texts whose fate was known
  std::string stopped;
};

struct GeneratedRule {
  std::string name;
  std::string text;  // with tags and proof
  std::string family;
  std::vector<std::string> axioms;
  std::shared_ptr<const rules::RuleSet> rule;  // compiled, under another name
};

struct GenerateReport {
  std::vector<GeneratedRule> rules;
  std::vector<FamilyReport> families;
  // Equal at all tested shapes, but not proved: axioms are missing. Never shipped.
  std::vector<std::string> missing;
};

// Does not depend on the number of threads.
GenerateReport generate(const GenerateOptions& options);

// Drops rules that a later, more general one of the same operators states too.
void drop_narrower(GenerateReport& report);

// Drops rules that another one states too: with other names or operands in another order (the later one goes), or as an
// instance of one that is kept.
void drop_repeated(GenerateReport& report);

// The rules as a file: under each family a line of prose; in front what made them (`command`), counts, and a hash of
// all that follows the head, so that two runs can be compared.
std::string file_text(const GenerateReport& report, const std::string& command);

// What is equal at all tested shapes but not proved, as a file.
std::string unproved_text(const GenerateReport& report);

// GenerateOptions::explain that writes its lines to a file, "-" for standard output. Throws Error where it cannot.
std::function<void(const std::string&)> explain_to(const std::string& file);

// Lines for people: counts, times, memory of every family.
std::string to_text(const GenerateReport& report);

// Whether rules of `known` rewrite what `rule` (one rule) rewrites into the same, in one application, in all of up to
// `instances` random instances. False where no instance was found.
bool rewrites_the_same(const rules::RuleSet& known, const rules::RuleSet& rule, int instances);

}  // namespace rlgo::rulegen
