// Rules of others, a whole file of them: read, judged against known ones, imported.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/rulegen/taso/cover.h"
#include "core/rulegen/taso/taso_rules.h"

namespace rlgo::rulegen {

// TASO's file: FILE.pb (graph_subst.pb), else a text dump. Throws Error with file and place.
std::vector<TasoRule> read_dump(const std::string& file);
// The same, or a rule file, FILE.rules.
std::vector<TasoRule> read_rules_to_cover(const std::string& file);

struct CoverAllOptions {
  CoverOptions cover;
  int threads = 1;             // rules that are judged at a time, >= 1
  std::function<bool()> stop;  // asked before each rule
  std::function<void(const std::string&)>
      print;  // a rule's verdict and reason, as soon as it is known; one call at a time
};

// How many rules have which verdict.
struct CoverCounts {
  std::array<int, kCovers> by_cover{};  // by Cover
  int rules = 0;
  int inexpressible = 0;  // of the unknown ones: not expressible as a rule, or not typed
  int reversed = 0;       // read from right to left
  int stopped = 0;        // not judged: stop() came first
  bool all_hold() const;
};
CoverCounts cover_all(const std::vector<TasoRule>& rules, const std::shared_ptr<const rules::RuleSet>& known,
                      const AxiomSet& axioms, const CoverAllOptions& options);
// One line. `known`: rules that were known, `seconds`: what it took.
std::string to_text(const CoverCounts& counts, int known, double seconds);

// TASO's rules as the text of a rule file, unproved. `say` receives each rule that is left out, and why.
struct ImportedRules {
  std::string text;
  int rules = 0, reversed = 0, left_out = 0;
};
// Rules that the language cannot express are left out.
ImportedRules import_rules(const std::vector<TasoRule>& rules, const std::function<void(const std::string&)>& print);

}  // namespace rlgo::rulegen
