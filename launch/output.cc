#include "launch/output.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/destination.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "core/options/places.h"
#include "launch/commands/command.h"
#include "launch/revision.h"

namespace rlgo::launch {
namespace {

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Json envelope(const std::string& kind, int exit_status) {
  // A member that is removed or renamed makes a new one.
  static const std::map<std::string, int> kVersions = {
      {"bench-kernels", 2}, {"bench-scale", 2}, {"evaluate", 2}, {"inspect", 2}, {"optimise", 3}};
  const auto known = kVersions.find(kind);
  const int version = known == kVersions.end() ? 1 : known->second;
  return {{"schema", fmt::format("rlgo.{}/{}", kind, version)},
          {"rlgo", {{"version", kVersion}, {"revision", kRevision}}},
          {"ended_utc", now_utc()},
          {"machine", {{"host", host_name()}, {"cores", std::thread::hardware_concurrency()}}},
          {"exit_status", exit_status}};
}

void write(const std::string& place, const std::string& text) {
  if (place != "-") return atomic_write(place, text);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

void declare(OptionSink& o, OutputOptions& options) {
  o.text("json", options.json,
         "file for the result as JSON, - for standard output (what people read then goes to standard error); "
         "docs/json.md");
  o.flag("quiet", options.quiet, "no progress and no notes: only the result and errors");
  o.flag("verbose", options.verbose, "also how the result came about");
}

Output::Output(const OutputOptions& options) : options_(options) {
  if (options.quiet && options.verbose) fail_usage("--quiet and --verbose exclude one another");
  if (wants_document() && options.json != "-") check_destination(options.json);
}

LogOptions Output::log(LogLevel usual) const {
  LogOptions options;
  options.console = quiet() ? LogLevel::error : verbose() ? LogLevel::info : usual;
  return options;
}

StatusLine Output::status_line() const { return {!quiet(), ::isatty(STDERR_FILENO) == 1}; }

void Output::print(const std::string& text) const {
  std::FILE* out = options_.json == "-" ? stderr : stdout;
  std::fputs(text.c_str(), out);
  std::fflush(out);
}

void Output::document(const std::string& kind, int exit_status, const Options& options, Json body) const {
  document(kind, exit_status, options.to_json(), std::move(body));
}

void Output::document(const std::string& kind, int exit_status, Json options, Json body) const {
  if (wants_document())
    write(options_.json, report::to_text(make_document(kind, exit_status, std::move(options), std::move(body))));
}

void Output::pass_on(const std::filesystem::path& document) const {
  if (wants_document()) write(options_.json, read_file(document));
}

Json make_document(const std::string& kind, int exit_status, Json options, Json body) {
  Json whole = envelope(kind, exit_status);
  whole["options"] = std::move(options);
  for (auto& [name, value] : body.items()) whole[name] = std::move(value);
  return whole;
}

void document_error(const std::vector<std::string>& arguments, int exit_status, const std::string& message) {
  std::string place;
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k] == "--json" && k + 1 < arguments.size()) place = arguments[k + 1];
    if (arguments[k].starts_with("--json=")) place = arguments[k].substr(7);
  }
  if (place.empty() || !overwritten_file(arguments).empty() || holds_other(place)) return;
  Json whole = envelope("error", exit_status);
  whole["kind"] = exit_status == kUsageStatus ? "usage" : "failed";
  whole["message"] = message;
  try {
    write(place, report::to_text(whole));
  } catch (const Error&) {
    // The message has been printed.
  }
}

void Output::note(const std::string& text) const {
  if (!quiet()) std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace rlgo::launch
