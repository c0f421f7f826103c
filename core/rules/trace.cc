#include "core/rules/trace.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "core/base/deadline.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/graph/trial.h"
#include "core/rules/together.h"

namespace rlgo::rules {
namespace {

constexpr std::string_view kMagic = "rlgo-trace 1";

uint64_t parse_hex(const std::string& text, const std::string& place) {
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (status != std::errc() || end != text.data() + text.size()) fail("{}: '{}' is not a hash", place, text);
  return value;
}

}  // namespace

graph::Graph replay(const graph::Graph& graph, const std::shared_ptr<const RuleSet>& rules,
                    std::span<const Rewrite> trace, int max_locations,
                    const std::function<void(const graph::Graph&, size_t)>& after_each,
                    const std::function<bool()>& stop) {
  std::map<int32_t, int32_t> place;  // in the set of those rules that the trace takes: no others need be matched
  for (size_t k = 0; k < trace.size(); ++k) {
    if (trace[k].rule < 0 || trace[k].rule >= rules->size())
      fail("trace, step {}: no rule has the number {}", k + 1, trace[k].rule);
    place[trace[k].rule] = 0;
  }
  if (place.empty()) return graph;
  std::vector<std::string> names;
  for (auto& [rule, at] : place) {
    at = static_cast<int32_t>(names.size());
    names.push_back(rules->name(rule));
  }
  const auto used = rules->subset(names);
  const Deadline deadline = Deadline::when(stop);
  MatchIndex index(used, graph, stop);
  graph::Trial trial(graph);
  for (size_t k = 0; k < trace.size();) {
    deadline.check();
    const auto some = made_together(trace, k);
    const std::string& name = rules->name(trace[k].rule);
    Together edit(index, trial);
    for (const Rewrite& one : some) {
      const size_t step = k + static_cast<size_t>(&one - some.data()) + 1;
      const auto matches = index.matches(place[one.rule]);
      const size_t offered =
          some.size() > 1 ? matches.size() : std::min(matches.size(), static_cast<size_t>(max_locations));
      const int32_t match = match_of(one);
      if (static_cast<size_t>(match) >= offered)
        fail("trace, step {}: rule '{}' has {} locations here, and not number {}", step, rules->name(one.rule), offered,
             match);
      if (!edit.add(place[one.rule], match))
        fail("trace, step {}: rule '{}' does not apply together with those before it", step, rules->name(one.rule));
    }
    const graph::Delta& delta = trial.apply();
    if (!trial.keep()) fail("trace, step {}: rule '{}' does not apply at location {}", k + 1, name, trace[k].location);
    if (some.size() == 1)
      index.update(trial.graph(), delta);
    else
      index = MatchIndex(used, trial.graph(), stop);
    k += some.size();
    if (after_each) after_each(trial.graph(), some.size());
  }
  return trial.graph();
}

Everywhere make_everywhere(const graph::Graph& graph, const std::shared_ptr<const RuleSet>& rules, size_t most,
                           const std::function<bool()>& stop) {
  Everywhere out{graph, {}};
  MatchIndex index(rules, graph, stop);
  for (int32_t rule = 0; rule < rules->size() && out.trace.size() < most && !(stop && stop());) {
    const MatchView matches = index.matches(rule);
    auto made = matches.empty() ? std::nullopt : apply(*rules, matches[0], out.graph);
    if (!made) {
      ++rule;
      continue;
    }
    index.update(made->graph, made->delta);
    out.graph = std::move(made->graph);
    out.trace.push_back({rule, 0});
    rule = 0;
  }
  return out;
}

std::string count_rules(std::span<const Rewrite> trace, const RuleSet& rules) {
  std::map<int32_t, int> counts;
  for (const auto& rewrite : trace) ++counts[rewrite.rule];
  std::vector<std::pair<int, int32_t>> order;
  for (const auto& [rule, count] : counts) order.emplace_back(-count, rule);
  std::sort(order.begin(), order.end());
  std::vector<std::string> parts;
  for (const auto& [count, rule] : order) parts.push_back(fmt::format("{} x {}", -count, rules.name(rule)));
  return parts.empty() ? "none" : join(parts, ", ");
}

std::string to_text(const TraceFile& trace, const RuleSet& rules) {
  std::string out = fmt::format("{}\ngraph {}\ngraph_hash {}\nrules_hash {}\n# step\trule\tlocation\tcost_us\n", kMagic,
                                trace.graph, hex(trace.graph_hash), hex(trace.rules_hash));
  for (size_t i = 0; i < trace.rewrites.size(); ++i) {
    const auto& a = trace.rewrites[i];
    out += fmt::format("{}\t{}\t{}\t{}\n", i, rules.name(a.rule), a.location,
                       i < trace.cost_us.size() ? fmt::format("{}", trace.cost_us[i]) : "-");
  }
  return out;
}

TraceFile parse_trace(const std::string& text, const std::string& file_name, const RuleSet& rules) {
  TraceFile trace;
  const auto lines = split(text, '\n');
  if (lines.empty() || trim(lines[0]) != kMagic)
    fail("{}:1: not a trace of rlgo (the first line must be '{}')", file_name, kMagic);
  const auto names = rules.names();
  for (size_t n = 1; n < lines.size(); ++n) {
    const auto line = trim(lines[n]);
    if (line.empty() || line[0] == '#') continue;
    const std::string place = fmt::format("{}:{}", file_name, n + 1);
    if (const auto space = line.find(' ');
        line.find('\t') == std::string_view::npos && space != std::string_view::npos) {
      const auto key = line.substr(0, space);
      const std::string value(trim(line.substr(space + 1)));
      if (key == "graph")
        trace.graph = value;
      else if (key == "graph_hash")
        trace.graph_hash = parse_hex(value, place);
      else if (key == "rules_hash")
        trace.rules_hash = parse_hex(value, place);
      else
        fail("{}: unknown key '{}'", place, key);
      continue;
    }
    const auto cells = split(line, '\t');
    if (cells.size() != 4) fail("{}: {} columns, expected 4 (step, rule, location, cost_us)", place, cells.size());
    const auto at = std::find(names.begin(), names.end(), cells[1]);
    if (at == names.end()) fail("{}: unknown rule '{}'{}", place, cells[1], did_you_mean(cells[1], names));
    const auto location = parse_int(cells[2]);
    const int64_t least = trace.rewrites.empty() ? 0 : INT32_MIN;  // together.h
    if (!location || *location < least || *location > INT32_MAX) fail("{}: '{}' is not a location", place, cells[2]);
    trace.rewrites.push_back({static_cast<int32_t>(at - names.begin()), static_cast<int32_t>(*location)});
    trace.cost_us.push_back(parse_double(cells[3]).value_or(0.0));
  }
  return trace;
}

}  // namespace rlgo::rules
