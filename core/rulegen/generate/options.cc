#include <cstdio>
#include <fstream>

#include "core/base/error.h"
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

}  // namespace rlgo::rulegen
