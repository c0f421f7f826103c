// Turns the nodes of a checked model into a graph, one after the other.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/onnx/decisions.h"
#include "core/onnx/onnx.h"
#include "core/onnx/onnx_node.h"
#include "core/onnx/open_shapes.h"
#include "core/onnx/sampled_shapes.h"
#include "core/onnx/skeleton.h"
#include "core/onnx/type_table.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class ValueInfoProto;
}  // namespace onnx

namespace rlgo::onnx_io {

// Before opset 7 operators broadcast and drop out in other ways; such models pass through untouched.
constexpr int kOldestOpset = 7;

class Importer {
 public:
  // The model's weights are moved out of the message.
  // `simplified`: operators with bodies as simplified() has them of another reading, which are taken over; null:
  // bodies are simplified where the options ask for it.
  Importer(onnx::ModelProto& model, const ImportOptions& options,
           const std::unordered_map<std::string, onnx::NodeProto>* simplified = nullptr);
  ~Importer();
  Model run();
  // Of operators whose bodies were simplified, by the name of their first output: as they are now.
  const std::unordered_map<std::string, onnx::NodeProto>& simplified() const { return simplified_; }

 private:
  // A large constant that the import computed, and what computes it.
  struct Computed {
    std::shared_ptr<const Constant> value;
    onnx::NodeProto* node;
    OnnxNode resolved;
    bool own;  // no runtime was asked for it or what it is computed from: each reading computes it
  };
  void add_inputs();
  void add_initialisers();
  void add_tensor(onnx::TensorProto& tensor, const std::string& value_name, bool was_initialiser);
  void keep_notes(const std::string& name, std::string notes);
  void add_sparse_initialisers();
  void keep_initialiser(const std::string& name);
  void add_node(onnx::NodeProto& node);
  // Each tries one way to take a node in, and shows whether it worked.
  bool add_constant(onnx::NodeProto& node);
  bool add_branch(onnx::NodeProto& node);
  bool add_folded(onnx::NodeProto& node, const OnnxNode& resolved);
  bool take_in(onnx::NodeProto& node, const OnnxNode& resolved, std::vector<Constant> results, bool own);
  bool add_evaluated(onnx::NodeProto& node, const OnnxNode& resolved);
  bool is_known_constant(const std::string& name) const;
  void note_constant(const onnx::NodeProto& node);
  bool collect(const std::string& name, std::vector<const onnx::NodeProto*>& nodes, onnx::GraphProto& graph) const;
  void count_readers();
  const onnx::NodeProto* maker_of(const std::string& name) const;
  int64_t replaced_bytes(const onnx::NodeProto& node);
  std::vector<std::shared_ptr<const graph::Blob>> known_results(const onnx::NodeProto& node) const;
  void add_operator(onnx::NodeProto& node, const OnnxNode& resolved);
  bool add_known(const onnx::NodeProto& node, const OnnxNode& resolved);
  bool add_sampled(const onnx::NodeProto& node, const OnnxNode& resolved);
  bool pass_unknown(const OnnxNode& node);
  bool add_converted(const onnx::NodeProto& node, const OnnxNode& resolved);
  void add_opaque(const onnx::NodeProto& node);
  const Computed* waiting(const std::string& name) const;
  void note_folded(const onnx::NodeProto& node, const ops::TensorType& type);
  void note_intermediate();
  void write_computed(const std::string& name);
  void write_operands(const onnx::NodeProto& node, OnnxNode& resolved);
  void rename_branch(onnx::GraphProto& branch, const std::string& if_output);
  void simplify_branches(onnx::NodeProto& node);
  void take_over(onnx::NodeProto& node);
  bool simplify(onnx::GraphProto& branch);
  bool declare(const std::string& name, onnx::ValueInfoProto& value, Sizes& samples);
  void set_value(const std::string& name, graph::Value value);
  graph::Value add_weight(const std::string& name, const ops::TensorType& type, std::string bytes);

  void note(Change::Kind kind, const onnx::NodeProto& node, std::string detail = {});
  void note_made(const onnx::NodeProto& node, graph::NodeId id, bool known);
  void note_known(const onnx::NodeProto& node, const OnnxNode& resolved);
  void note_unread(const graph::Graph& graph);

  void check_samples(const Sizes& open, const Sizes& wanted) const;
  void sample_open_dims();
  void follow(const onnx::NodeProto& node, OnnxNode& resolved);
  ops::TensorType sampled_type(const std::string& name);
  void set_sampled(const std::string& name, const ops::TensorType& type);

  OnnxNode resolve(const onnx::NodeProto& node) const;
  void refine_types(const onnx::NodeProto& node);
  const Constant* constant_of(const std::string& name) const;
  bool is_deterministic(const onnx::NodeProto& node) const;
  bool is_standard(const onnx::NodeProto& node) const;  // one of ai.onnx, in a version that rlgo knows
  void keep_origin(const onnx::NodeProto& node);
  void fill_skeleton();

  onnx::ModelProto& model_;
  const ImportOptions& options_;
  int opset_;
  std::unordered_map<std::string, int> versions_;  // of each imported domain
  std::unordered_set<std::string> functions_;      // "domain:name" of local functions
  std::unordered_set<std::string> pinned_names_;   // initialisers that the export writes in any case
  std::unordered_set<std::string> read_names_;     // values that some node, subgraph or graph output reads
  TypeTable types_;
  Decisions decisions_;
  std::unique_ptr<SampledShapes> sampled_;  // null where nothing is sampled
  std::unique_ptr<OpenShapes> open_;        // null where nothing is sampled
  Sizes samples_;
  graph::Editor editor_;
  std::unordered_map<std::string, graph::Value> values_;  // see set_value
  std::unordered_map<graph::NodeId, int> names_;          // how many of these are of a node
  std::unordered_map<graph::NodeId, std::shared_ptr<const Constant>> constants_;
  std::map<std::string, Computed> computed_;  // by the value's name; in the graph as soon as something there reads it
  int64_t computed_elements_ = 0;             // of these
  // By name, what operators on constants alone make, and these operators; kept where there is a runtime to ask.
  std::unordered_map<std::string, const onnx::NodeProto*> constant_makers_;
  std::unordered_map<std::string, int> readers_;                                    // how often the file reads a value
  std::unordered_map<graph::NodeId, std::shared_ptr<const graph::Blob>> operands_;  // contents of weights
  std::unordered_map<uint64_t, std::vector<graph::Value>> weights_;                 // by content, to find equal ones
  struct Made {
    graph::NodeId id;
    bool known;
    Change unread;  // what to report of the operator if its node turns out unread
  };
  std::vector<Made> made_;
  std::shared_ptr<Skeleton> skeleton_;
  ImportReport report_;
  int64_t growth_left_;  // bytes that constants may still add to the file
  const std::unordered_map<std::string, onnx::NodeProto>* given_;
  std::unordered_map<std::string, onnx::NodeProto> simplified_;
};

// Whether what ONNX infers and what rlgo infers do not contradict each other.
bool agree(const ops::TensorType& onnx, const ops::TensorType& own);

// One attribute of an OnnxNode.
OnnxAttr attribute_value(const onnx::AttributeProto& attribute);

}  // namespace rlgo::onnx_io
