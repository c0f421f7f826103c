#include <cstdio>
#include <fstream>

#include "core/base/error.h"
#include "core/rulegen/generate/bench.h"
#include "core/rulegen/generate/generate.h"

namespace rlgo::rulegen {

void declare(OptionSink& o, GenerateOptions& options) {
  o.heading("Generate");
  o.text("ops", options.ops,
         "sets of operators, '+' between: 2d, 4d, transformer, 2d-constant, 4d-constant, 4d-window; only some of one: "
         "4d:conv2d,relu,concat");
  o.integer("max-ops", options.max_ops, 1, 5, "operators of each side");
  o.integer("prove-ops", options.prove_ops, 0, 5, "candidates with more a side are counted, not proved; 0: no bound");
  o.integer("threads", options.threads, 1, 256, "threads; the result does not depend on their number");
  o.texts("activations", options.activations, "written for the activation that stands for all of them");
  o.integer("activation-ops", options.activation_ops, 0, 5,
            "where a side has more operators, only the first activation is written; 0: no bound");
}

std::string unproved_text(const GenerateReport& report) {
  std::string text = "# Equal at all tested shapes, but not proved. Not for use: what is missing is an axiom.\n";
  for (const auto& rule : report.missing) text += "\n" + rule;
  return text;
}

std::function<void(const std::string&)> explain_to(const std::string& file) {
  if (file == "-") return [](const std::string& line) { std::printf("%s\n", line.c_str()); };
  const auto out = std::make_shared<std::ofstream>(file);
  if (!*out) fail("{}: cannot be written", file);
  return [out](const std::string& line) { *out << line << "\n"; };
}

void declare(OptionSink& o, BenchOptions& bench) {
  o.texts("families", bench.families, "sets of operators to generate from, as of rules generate --ops");
  o.integer("max-ops", bench.max_ops, 1, 5, "operators of each side of generated rules");
  o.texts("sets", bench.sets, "shipped sets or rule files to prove again");
  o.integer("most", bench.most, 0, kNoLimit, "rules of each set to prove at most; 0: all");
  o.integer("rewrites", bench.rewrites, 1, kNoLimit, "random rewrites of each graph");
  o.integer("applications", bench.applications, 1, kNoLimit, "of the soundness test");
  o.integer("threads", bench.threads, 1, 256, "of the generation; everything else runs on one");
}

}  // namespace rlgo::rulegen
