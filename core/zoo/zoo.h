// Graphs that come with rlgo: the models that papers on graph substitution measure, and toys for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/graph/graph.h"

namespace rlgo::zoo {

// Zero stands for the model's own value. A model ignores nothing silently: one that has no such dimension throws Error.
struct ZooOptions {
  int batch = 1;
  int layers = 0;     // encoder layers (bert, gpt2, vit_b16 12; toy_attention 1), hidden layers (toy_mlp 2), normal
                      // cells of each of three stages (nasnet_a 4)
  int sequence = 0;   // tokens (bert, gpt2 128, at most 512 and 1024; toy_attention 8) or steps (nasrnn 5)
  int image = 0;      // height = width of the input picture (inception_v3 299; toys 8; others 224)
  uint64_t seed = 0;  // of the weights; graphs with different seeds differ in weights alone
};

// Options zoo.*.
void declare(OptionSink& sink, ZooOptions& options);

// Throws Error on an unknown name; shows the nearest, and all.
void check_name(const std::string& name);
// The graph of that name, weights seeded by (options.seed, weight name). Throws Error on an unknown name, and
// on options that the model cannot take.
graph::Graph make(const std::string& name, const ZooOptions& options = {});
// In the order of graph_list.def.
std::vector<std::string> names();
// The graphs that a list with commas names: "zoo" stands for resnet18, resnet50, inception_v3, squeezenet1_1 and bert,
// "all" for every graph but the toys; other names and files are left as they are. Throws UsageError where it names
// none.
std::vector<std::string> graphs_of(const std::string& list);
// A short name for a graph that none of `taken` is, to which it is added: "resnet50", "model-2" for the second
// model.onnx.
std::string label_of(const std::string& name, std::vector<std::string>& taken);

// Scalars in all weights but the running statistics of batch norms: what frameworks print as the parameter count.
int64_t parameter_count(const graph::Graph& graph);

#define RLGO_GRAPH(name) graph::Graph make_##name(const ZooOptions& options);
#include "core/zoo/graph_list.def"
#undef RLGO_GRAPH

}  // namespace rlgo::zoo
