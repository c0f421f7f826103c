#include "core/zoo/zoo.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace rlgo::zoo {
namespace {

struct Row {
  const char* name;
  graph::Graph (*make)(const ZooOptions&);
};
constexpr auto kRows = std::to_array<Row>({
#define RLGO_GRAPH(name) {#name, make_##name},
#include "core/zoo/graph_list.def"
#undef RLGO_GRAPH
});

// "zoo" in a list of graphs: those that papers on graph substitution measure.
constexpr const char* kMeasured[] = {"resnet18", "resnet50", "inception_v3", "squeezenet1_1", "bert"};

// Running mean and variance are inputs 3 and 4 of batch_norm.
bool is_running_statistic(const graph::Graph& graph, const graph::Node& weight) {
  for (const graph::Use& use : weight.uses) {
    if (graph.node(use.user).op() == ops::Op::batch_norm && use.input >= 3) return true;
  }
  return false;
}

}  // namespace

void declare(OptionSink& o, ZooOptions& options) {
  o.heading("Zoo graphs");
  o.integer("zoo.batch", options.batch, 1, 65536, "batch size");
  o.integer("zoo.layers", options.layers, 0, 1000,
            "number of layers (bert, gpt2, vit_b16), of cells in a stage (nasnet_a); 0: the model's own");
  o.integer("zoo.sequence", options.sequence, 0, 65536, "tokens (bert, gpt2), steps (nasrnn); 0: the model's own");
  o.integer("zoo.image", options.image, 0, 4096, "height and width of the input picture; 0: the model's own");
}

void check_name(const std::string& name) {
  const auto known = names();
  if (std::ranges::find(known, name) == known.end())
    fail("no graph named '{}'{}; the zoo has {}", name, did_you_mean(name, known), join(known, ", "));
}

graph::Graph make(const std::string& name, const ZooOptions& options) {
  check_name(name);
  for (const Row& row : kRows) {
    if (name != row.name) continue;
    try {
      return row.make(options);
    } catch (const Error& e) {
      throw e.in(name);
    }
  }
  fail("{}: no zoo graph", name);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Row& row : kRows) all.emplace_back(row.name);
  return all;
}

std::vector<std::string> graphs_of(const std::string& list) {
  std::vector<std::string> graphs;
  for (const auto& name : split(list, ',')) {
    if (name == "zoo") {
      graphs.insert(graphs.end(), std::begin(kMeasured), std::end(kMeasured));
    } else if (name == "all") {
      std::ranges::copy_if(names(), std::back_inserter(graphs), [](const auto& n) { return !n.starts_with("toy_"); });
    } else if (!name.empty()) {
      graphs.push_back(name);
    }
  }
  if (graphs.empty())
    fail_usage("no graph is given; use --graph NAME (a zoo graph), --graph model.onnx, or --graph zoo");
  return graphs;
}

std::string label_of(const std::string& name, std::vector<std::string>& taken) {
  std::string stem = std::filesystem::path(name).stem().string();
  if (stem.empty()) stem = "graph";
  std::ranges::replace(stem, ',', '_');
  std::string label = stem;
  for (int k = 2; std::ranges::count(taken, label) > 0; ++k) label = fmt::format("{}-{}", stem, k);
  taken.push_back(label);
  return label;
}

int64_t parameter_count(const graph::Graph& graph) {
  int64_t count = 0;
  for (const graph::NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (node.op() == ops::Op::weight && !is_running_statistic(graph, node)) count += node.info->outputs[0].elements();
  }
  return count;
}

}  // namespace rlgo::zoo
