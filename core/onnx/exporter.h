// Writes a graph into the model message of its skeleton.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/onnx/onnx.h"
#include "core/onnx/skeleton.h"
#include "core/onnx/writer.h"

namespace onnx {
class ValueInfoProto;
}

namespace rlgo::onnx_io {

class Exporter {
 public:
  // `model` already holds the declarations; nodes and initialisers are added to it.
  Exporter(const Skeleton& skeleton, onnx::ModelProto& model, const graph::Graph& graph, const Folded& folded,
           const ExportOptions& options);
  ExportReport run();

 private:
  // What an operator in the file reads: the node's inputs, except that a Gemm looks through transposes of weights.
  struct Reads {
    std::vector<graph::Value> values;
    bool transposed_a = false, transposed_b = false;
  };
  Reads reads_of(graph::NodeId id) const;
  void choose_nodes();
  void reserve_names();
  void name_outputs();

  void write_node(graph::NodeId id);
  // mul(x, x) of floats that only means read.
  bool is_square_under_mean(graph::NodeId id) const;
  void leave_out_unread(graph::NodeId id, Names& outputs) const;
  void write_opaque(graph::NodeId id, const Names& inputs, const Names& outputs);
  void write_outputs();
  void write_pinned();
  void trim_declarations();
  bool holds_still(onnx::ValueInfoProto& declared) const;

  const std::string& read(graph::Value value);
  void count_folded(graph::NodeId id);
  void write_weight(const std::string& name, const graph::Blob& blob);
  int64_t load_weight(const graph::Blob& blob, std::string& bytes) const;
  Names output_names(graph::NodeId id);
  const Origin* origin(graph::NodeId id) const;
  bool is_folded(graph::NodeId id) const;
  std::shared_ptr<const graph::Blob> folded_blob(graph::Value value) const;

  const Skeleton& skeleton_;
  onnx::ModelProto& model_;
  const graph::Graph& graph_;
  const Folded& folded_;
  const bool flush_denormals_;
  WeightFiles* const weight_files_;
  ExportReport report_;
  Writer writer_;
  std::vector<bool> is_written_;                                // by id: becomes an operator of the file
  std::unordered_map<std::string, graph::Value> output_value_;  // graph output -> what it shows
  std::map<graph::Value, std::string> names_;                   // values that have a name already
  std::unordered_map<std::string, std::shared_ptr<const graph::Blob>> pinned_;
  std::unordered_set<std::string> written_weights_;
  std::unordered_set<graph::NodeId> folded_operators_;
  std::unordered_map<std::string, graph::Value> kept_;  // values that have the file's names
};

}  // namespace rlgo::onnx_io
