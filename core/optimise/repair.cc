#include "core/optimise/repair.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/graph/editor.h"
#include "core/onnx/onnx.h"
#include "core/rules/compiled.h"
#include "core/rules/minimise.h"
#include "core/verify/fold.h"

namespace rlgo::optimise {
namespace {

using graph::Graph;
using graph::NodeId;

// The first kept step with which the beginning of the trace is refused, given that all of it is.
size_t first_refused(const rules::Script& replay, const std::vector<bool>& keep, const Accepts& accepts, int& tries,
                     const std::function<bool()>& should_stop) {
  std::vector<size_t> steps;
  for (size_t k = 0; k < keep.size(); ++k) {
    if (keep[k]) steps.push_back(k);
  }
  size_t good = 0, bad = steps.size();  // lengths
  while (bad - good > 1 && tries > 0 && !should_stop()) {
    const size_t middle = (good + bad) / 2;
    --tries;
    (accepts(replay.subset(std::span(steps).first(middle))) ? good : bad) = middle;
  }
  return steps[bad - 1];
}

// The nodes, and the constants that they read, as a graph of its own: inputs x0, x1, ..., outputs y0, y1, ...
Graph part_of(const Graph& graph, std::vector<NodeId> nodes) {
  std::ranges::sort(nodes, {}, [&](NodeId id) { return graph.position(id); });
  graph::Editor editor("part");
  std::map<std::pair<NodeId, int32_t>, graph::Value> made;
  int inputs = 0;
  const std::function<graph::Value(graph::Value)> value_of = [&](graph::Value value) {
    if (const auto at = made.find({value.node, value.port}); at != made.end()) return at->second;
    const auto& node = graph.node(value.node);
    graph::Value out;
    if (node.op() == ops::Op::weight) {
      out = editor.add_weight(node.info->name, node.info->blob);
    } else if (node.constant) {
      std::vector<graph::Value> in;
      for (const auto& from : node.inputs) in.push_back(value_of(from));
      out = {editor.add_made(node.info, in), value.port};
    } else {
      out = editor.add_input(fmt::format("x{}", inputs++), graph.type(value));
    }
    return made[{value.node, value.port}] = out;
  };
  for (const NodeId id : nodes) {
    const auto& node = graph.node(id);
    std::vector<graph::Value> in;
    for (const auto& from : node.inputs) in.push_back(value_of(from));
    const NodeId copy = editor.add_made(node.info, in);
    for (int32_t port = 0; port < static_cast<int32_t>(node.info->outputs.size()); ++port)
      made[{id, port}] = {copy, port};
  }
  int outputs = 0;
  for (const NodeId id : nodes) {
    for (int32_t port = 0; port < static_cast<int32_t>(graph.node(id).info->outputs.size()); ++port) {
      const bool inner = std::ranges::any_of(graph.node(id).uses, [&](const graph::Use& use) {
        return use.port == port && std::ranges::find(nodes, use.user) != nodes.end();
      });
      if (!inner) editor.add_output(fmt::format("y{}", outputs++), made[{id, port}]);
    }
  }
  return *editor.finish();
}

}  // namespace

std::optional<Repaired> without_refused(const rules::Script& replay, const Accepts& accepts, int tries,
                                        const std::function<bool()>& should_stop) {
  std::vector<bool> keep(replay.size(), true);
  std::map<int32_t, int> spoiled;  // rule -> steps of it that were left out
  while (tries > 0 && !should_stop()) {
    const size_t culprit = first_refused(replay, keep, accepts, tries, should_stop);
    if (should_stop()) return std::nullopt;
    keep[culprit] = false;
    if (++spoiled[replay.rule(culprit)] >= 2) {
      for (size_t k = culprit; k < keep.size(); ++k) keep[k] = keep[k] && replay.rule(k) != replay.rule(culprit);
    }
    Repaired out{replay.subset(keep), {}};
    if (out.rewritten.trace.empty()) return std::nullopt;
    --tries;
    if (!accepts(out.rewritten)) {
      // What needed a step that is gone is gone with it.
      for (size_t k = 0; k < keep.size(); ++k) {
        if (keep[k] && !std::ranges::binary_search(out.rewritten.steps, k)) keep[k] = false;
      }
      continue;
    }
    for (size_t k = 0; k < keep.size(); ++k) {
      if (!std::ranges::binary_search(out.rewritten.steps, k)) out.left_out.push_back(k);
    }
    return out;
  }
  return std::nullopt;
}

std::vector<size_t> minimal_refused(const rules::Script& replay, const Accepts& accepts, int tries,
                                    const std::function<bool()>& should_stop) {
  const size_t culprit = first_refused(replay, std::vector<bool>(replay.size(), true), accepts, tries, should_stop);
  std::vector<bool> keep = replay.needed_by(culprit);
  if (should_stop() || accepts(replay.subset(keep))) {
    keep.assign(replay.size(), false);
    std::fill_n(keep.begin(), culprit + 1, true);
  }
  const auto still_refused = [&](const std::vector<size_t>& steps) -> std::optional<std::vector<size_t>> {
    rules::Replayed rest = replay.subset(steps);
    if (rest.steps.empty() || rest.steps.back() != culprit) return std::nullopt;
    --tries;
    return accepts(rest) ? std::nullopt : std::optional(std::move(rest.steps));
  };
  const auto may_continue = [&] { return tries > 0 && !should_stop(); };
  return rules::minimise(replay.subset(keep).steps, 1, still_refused, may_continue);
}

void write_counterexample(const rules::Script& replay, const std::vector<size_t>& steps, const std::string& why,
                          const std::filesystem::path& folder) {
  make_writable_folder(folder);
  std::string text = why + "\n";
  for (const size_t step : steps) text += fmt::format("step {}: {}\n", step + 1, replay.rule_name(step));
  const auto place = replay.place(steps, steps.back());
  if (place) {
    text += "\n" + place->graph.name() + ":";
    for (const auto id : place->match.nodes)
      text += fmt::format(" {} '{}'", ops::name(place->graph.node(id).op()), place->graph.node(id).info->name);
    const std::string names[] = {replay.rules()->name(place->match.rule)};
    text += "\n\n" + replay.rules()->subset(names)->to_text();
    const Graph before = part_of(place->graph, {place->match.nodes.begin(), place->match.nodes.end()});
    onnx_io::export_graph(before, verify::fold(before), folder / "before.onnx");
    const auto matches = rules::find_matches(*replay.rules(), place->match.rule, before);
    if (const auto after = matches.empty() ? std::nullopt : rules::apply(*replay.rules(), matches[0], before))
      onnx_io::export_graph(after->graph, verify::fold(after->graph), folder / "after.onnx");
  }
  atomic_write(folder / "trace.txt", text);
}

}  // namespace rlgo::optimise
