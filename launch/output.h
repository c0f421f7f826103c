// What a command says, and to whom: people on a terminal, a log, or a program that reads JSON.
#pragma once

#include <string>

#include "core/base/log.h"
#include "core/base/options.h"
#include "core/base/status_line.h"

namespace rlgo::launch {

struct OutputOptions {
  bool quiet = false;    // results and errors alone
  bool verbose = false;  // also how they came about
};
// Options quiet, verbose.
void declare(OptionSink& sink, OutputOptions& options);

// Results go to standard output; progress, notes and errors to standard error.
class Output {
 public:
  // Throws UsageError where the options exclude one another.
  explicit Output(const OutputOptions& options);

  bool quiet() const { return options_.quiet; }
  bool verbose() const { return options_.verbose; }
  // Log lines: all with `verbose`, warnings without it. `usual`: what the command shows where neither is given.
  LogOptions log(LogLevel usual = LogLevel::info) const;
  // Progress: in place on a terminal, a line every ten seconds elsewhere, none where quiet.
  StatusLine status_line() const;
  // Prints a result as it is.
  void say(const std::string& text) const;
  // A note on standard error, a line; not where quiet.
  void note(const std::string& text) const;

 private:
  OutputOptions options_;
};

}  // namespace rlgo::launch
