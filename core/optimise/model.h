// The model that is optimised: a zoo graph or an ONNX file.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/graph/graph.h"
#include "core/onnx/onnx.h"
#include "core/zoo/zoo.h"

namespace rlgo::verify {
class FoldedBlobs;
}

namespace rlgo::optimise {

struct ModelOptions {
  std::string graph = {};               // an ONNX file, or the name of a zoo graph
  std::vector<std::string> dims = {};   // "NAME=VALUE": open dimensions that are fixed, in the written model too
  std::vector<std::string> sizes = {};  // "NAME=VALUE": sizes at which dimensions that stay open are costed and timed
  zoo::ZooOptions zoo = {};             // of zoo graphs
  onnx_io::ImportLimits limits = {};    // of ONNX files
  std::string python = {};  // runs ONNX Runtime for operators on constants that rlgo does not know; "": they stay
  bool written = false;     // a file that rlgo wrote, read again: as it is
  std::map<std::string, int64_t> later_sizes = {};  // see onnx_io::ImportOptions::later_dims
  std::set<std::string> quantised = {};             // see onnx_io::ImportOptions
};
// One for each graph that options name with commas between: "a,b.onnx". What is the name of a file is one graph,
// commas and all.
std::vector<ModelOptions> each_model(const ModelOptions& options);
// Options graph, dim, size; those of the zoo stand next to it.
void declare(OptionSink& sink, ModelOptions& options);
// Of these, dim and size alone.
void declare_sizes(OptionSink& sink, ModelOptions& options);

struct LoadedModel {
  ModelOptions source;  // what it was made from
  graph::Graph graph;
  std::shared_ptr<const onnx_io::Skeleton> skeleton;  // null for zoo graphs
  std::string about;                                  // a few lines for people
  std::vector<std::string> open_dims;                 // "batch (input 'x', axis 0)": open in the written model too
  bool sampled = false;                               // the graph has sample sizes there
  std::map<std::string, int64_t> samples;             // these sizes, by name of the dimension
  std::vector<onnx_io::OpenDim> open_places;          // where inputs have open dimensions
  // Shapes of inputs with which the runtime runs the model, where these are not the graph's (an open batch that must be
  // 1, while sample sizes are 2 or more); empty: the graph's.
  std::map<std::string, std::vector<int64_t>> other_shapes = {};
  // Operators that the import computed or respelled, constants that it moved into bodies.
  int simplified = 0;
  int worked_out = 0, worked_out_weights = 0;  // operators on weights alone, into so many, by load_model()
  std::vector<std::string> changes;            // one line for each thing of the file that the graph does without
  std::vector<std::string> left_out = {};      // one line for each thing of the file that no written model has
  std::vector<std::filesystem::path> data_files = {};  // that hold tensors of the file
  onnx_io::QuantisedReport quantised = {};
  // The file whose outputs rewritten models are to have in the runtime, where that is not source.graph.
  std::filesystem::path reference = {};
  // What exports of graphs that are made from this one share; null: nothing.
  std::shared_ptr<verify::FoldedBlobs> folded = {};
  std::shared_ptr<onnx_io::WeightFiles> weight_files = {};
};

// `with_weights`: false for ranks that rewrite but never compute. Throws Error on a bad file, and
// UsageError on what is wrong whatever a file holds: an unknown name, options that do not go with the graph.
// `should_stop`: asked now and then; true ends it with an Error.
LoadedModel read_model(const ModelOptions& options, bool with_weights, const std::function<bool()>& should_stop = {});
// The same; what the file computes from weights alone with rounded numbers are weights
// (verify::fold_rounded_constants).
LoadedModel load_model(const ModelOptions& options, bool with_weights, const std::function<bool()>& should_stop = {});
// Shapes of the inputs that the model leaves open, as the graph has them.
std::map<std::string, std::vector<int64_t>> open_input_shapes(const graph::Graph& graph);
// Shapes of all inputs that have one, by name: at the sample sizes.
std::map<std::string, std::vector<int64_t>> input_shapes(const graph::Graph& graph);
// Shapes with which the runtime is to run the model: other_shapes, else those of its graph.
std::map<std::string, std::vector<int64_t>> run_shapes(const LoadedModel& model);
// Throws Error where no operator of it can be rewritten.
void check_rewritable(const LoadedModel& model, const std::string& name);
// What an export changed besides the rewrites: "12 operators on weights alone computed into 3 weights"; "" for
// nothing.
std::string normalisation_text(const onnx_io::ExportReport& report);
// Throws Error where `path` is a file that weights of the model were read from. It may have another name there (a
// link).
void check_not_read(const LoadedModel& model, const std::filesystem::path& path);
// Folds constants and writes a checked ONNX model. `verify`: see onnx_io::ExportOptions. Throws Error; then nothing is
// written.
onnx_io::ExportReport export_model(const LoadedModel& model, const graph::Graph& graph,
                                   const std::filesystem::path& path,
                                   std::function<void(const std::filesystem::path&)> verify = {});

}  // namespace rlgo::optimise
