// What a model file states beyond the graph. Implementation files of core/onnx only.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/graph/graph.h"

namespace onnx {
class ModelProto;
}

namespace rlgo::onnx_io {

// How the file called a node and the values that it makes.
struct Origin {
  std::string node;
  std::vector<std::string> outputs;  // one per port, "" where it had no name
  std::string header;                // serialized NodeProto with nothing but documentation and metadata; "" where none
};

class Skeleton {  // what export takes from the file as it was
 public:
  Skeleton();
  ~Skeleton();

  // The model without nodes and initialisers: versions, metadata, functions, declarations of inputs, outputs and values
  // inside, and initialisers of element types that rlgo cannot hold but that must stay (defaults of inputs).
  std::unique_ptr<onnx::ModelProto> model;
  std::unordered_map<graph::NodeId, Origin> origins;
  // Documentation and metadata of initialisers and constants by name (proto.h, notes_of), of those that have some.
  std::unordered_map<std::string, std::string> notes;
  // Opaque Constant nodes that were initialisers in the file (strings, sparse tensors, ...).
  std::unordered_set<graph::NodeId> initialisers;
  // Initialisers that are written even where nothing reads them: defaults of graph inputs, parameters of quantisation.
  std::vector<std::pair<std::string, std::shared_ptr<const graph::Blob>>> pinned;
  // What Reshapes make in whose shape the file leaves an item open (-1), while others depend on open sizes.
  std::unordered_set<std::string> leaves_rest;
  // All names of values in the file, those inside subgraphs included: new values get others.
  std::unordered_set<std::string> names;
  // The file's shapes contradict each other, so an export cannot be expected to pass the full check.
  bool contradictory = false;
  // The graph has sample sizes where the model is open.
  bool sampled = false;
};

}  // namespace rlgo::onnx_io
