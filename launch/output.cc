#include "launch/output.h"

#include <unistd.h>

#include <cstdio>

#include "core/base/usage.h"

namespace rlgo::launch {

void declare(OptionSink& o, OutputOptions& options) {
  o.flag("quiet", options.quiet, "no progress and no notes: the result and errors alone");
  o.flag("verbose", options.verbose, "also how the result came about");
}

Output::Output(const OutputOptions& options) : options_(options) {
  if (options.quiet && options.verbose) fail_usage("--quiet and --verbose exclude one another");
}

LogOptions Output::log(LogLevel usual) const {
  LogOptions options;
  options.console = quiet() ? LogLevel::error : verbose() ? LogLevel::info : usual;
  return options;
}

StatusLine Output::status_line() const { return {!quiet(), ::isatty(STDERR_FILENO) == 1}; }

void Output::say(const std::string& text) const {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void Output::note(const std::string& text) const {
  if (!quiet()) std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace rlgo::launch
