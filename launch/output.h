// What a command states, and to whom: people on a terminal, a log, or a program that reads JSON.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/options.h"
#include "core/base/status_line.h"
#include "core/options/options.h"
#include "core/report/json.h"

namespace rlgo::launch {

using report::Json;

struct OutputOptions {
  std::string json;      // file for the result as JSON; "-": standard output; "": none
  bool quiet = false;    // results and errors alone
  bool verbose = false;  // also how they came about
};
// Options json, quiet, verbose.
void declare(OptionSink& sink, OutputOptions& options);

// Results go to standard output (standard error where that is JSON's); progress, notes and errors to standard error.
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
  void print(const std::string& text) const;
  // Writes the document of a command where --json asks for it: `body` behind the members that all documents have
  // (docs/json.md). `kind`: "optimise". Throws Error where the file cannot be written.
  void document(const std::string& kind, int exit_status, const Options& options, Json body) const;
  // The same with the options as they were made before.
  void document(const std::string& kind, int exit_status, Json options, Json body) const;
  // Writes a document that lies in a file already.
  void pass_on(const std::filesystem::path& document) const;
  bool wants_document() const { return !options_.json.empty(); }
  // A note on standard error, a line; not where quiet.
  void note(const std::string& text) const;

 private:
  OutputOptions options_;
};

// A whole document: what all have, `options`, then the members of `body`.
Json make_document(const std::string& kind, int exit_status, Json options, Json body);
// What --json gets where the command fails: {"schema": "rlgo.error/1", ...}, by the words of the command line. Nothing
// where it has no --json, or that cannot be written.
void document_error(const std::vector<std::string>& arguments, int exit_status, const std::string& message);

}  // namespace rlgo::launch
