// ONNX files in and out: any valid model becomes a graph, and a rewritten graph becomes a valid model again, with the
// same inputs and outputs (names, types, order), opset, ir_version and metadata.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/options.h"
#include "core/graph/graph.h"

namespace rlgo::onnx_io {

// What a file may ask for. Models that people run are far below; a file above is refused with the limit's name before
// anything is inferred or computed from it.
struct ImportLimits {
  int64_t nodes = 1'000'000;            // operators, those of subgraphs and of local functions at each call counted
  int64_t nesting = 200;                // subgraphs inside subgraphs, and calls inside local functions
  int64_t rank = 64;                    // of a tensor
  int64_t elements = int64_t{1} << 38;  // of a tensor that the file holds or declares
  int64_t name_bytes = 1 << 16;         // of one name
  // Reading is tried in a child process first, which may crash (ONNX's checker and shape inference do on some damaged
  // models), and has so much processor time and memory. Both grow with the file.
  bool isolate = true;
  double seconds = 8;
  int64_t memory_bytes = int64_t{2} << 30;
  // Asked now and then while a model is read or checked; true ends it with an Error. No option.
  std::function<bool()> should_stop = {};
};
// Options onnx.*.
void declare(OptionSink& sink, ImportLimits& limits);

// Runs a model without inputs: type and raw little-endian bytes of each output. Empty where it cannot. The bytes are
// those of a serialized ModelProto.
using Evaluate = std::function<std::vector<std::pair<ops::TensorType, std::string>>(const std::string& model)>;

struct ImportOptions {
  // Sizes (>= 0) for dimensions of the graph's inputs that the file leaves open: by symbolic name ("batch"), or by
  // input and axis ("input_ids:1"). A bound dimension is written as a fixed one at export.
  std::map<std::string, int64_t> dims = {};
  // The same for one more look at a model that was read before: bodies of operators are simplified only as far as they
  // are without these sizes, so that what stays unknown is the same in both.
  std::map<std::string, int64_t> later_dims = {};
  // True: dimensions that `dims` does not bind stay open in the export, while the graph has them at sample sizes
  // (Model::samples), and operators behind them can be rewritten. The graph's types also hold extents as functions of
  // the open sizes (TensorType::open): a rewrite applies only where it holds for all of them.
  // False: operators behind open dimensions become opaque.
  bool sample_open = false;
  std::map<std::string, int64_t> samples = {};  // sample sizes (>= 2) by name, instead of synthetic ones
  // False: weights become absent blobs (type and content hash), except single numbers, which rules may look at. For
  // processes that rewrite but never compute.
  bool keep_weights = true;
  // Constants that only bodies of If, Loop and Scan read move there (core/onnx/bodies.h), and branches of If are
  // simplified. False for files that rlgo wrote and that are to be the same graph again: a rewrite may have left a body
  // as the only reader of a constant.
  bool change_bodies = true;
  std::set<std::string> quantised = {};  // rewrites of quantised models to make (core/onnx/quantised.h), by name
  ImportLimits limits = {};
  // Asked for the values of operators on constants alone that rlgo does not know. Null: they stay as they are.
  Evaluate evaluate = {};
};

// Something of the file that the graph does without: constant folding, common subexpressions, dead code.
struct Change {
  enum class Kind : uint8_t {
    folded,     // its value was computed, and is a weight
    merged,     // computes what `detail` computes, or holds the same numbers
    bypassed,   // does nothing: what read it reads its input
    unread,     // no output of the model needs it
    moved,      // a constant that only bodies of If, Loop and Scan read: these hold it now
    inlined,    // an If whose condition is known: the branch that it takes (`detail`) stands in its place
    left_out,   // what no written model has: how it is trained
    respelled,  // a rewrite of ImportOptions::quantised, whose name is `detail`
  };
  Kind kind;
  std::string op;      // "Add"; "initialiser"
  std::string name;    // of the operator, else of its first output
  std::string detail;  // folded: its type; merged: name of the other one
};
// "merged Add 'b': the same as 'a'".
std::string to_text(const Change& change);

// Where an input has a dimension that the file leaves open.
struct OpenDim {
  std::string name;  // as in ImportOptions::dims
  std::string input;
  int axis = 0, rank = 0;  // of the input
};

// What rewrites of core/onnx/quantised.h could do with a model, empty where it is not quantised.
struct QuantisedReport {
  std::map<std::string, int> matches;   // rewrite -> in how many places it applies
  std::set<std::string> saturating;     // of these: processors that add products of u8 by s8 in 16 bits may saturate
  std::map<std::string, double> steps;  // output -> one quantisation step of its values; 0: not known
};

// What became of the model's operators, for people.
struct ImportReport {
  int known = 0;                      // operators that rlgo can rewrite
  int folded = 0;                     // shape arithmetic and other small constants computed at import
  int fixed = 0;                      // of `known`, those that stay as they are: their last bit decides something
  int moved = 0;                      // constants that bodies of If, Loop and Scan hold now
  std::map<std::string, int> opaque;  // operator ("LSTM", "com.microsoft.FusedConv") -> how many are kept as they are
  bool sampled = false;               // open dimensions do not keep operators from being rewritten
  std::vector<std::string> unresolved_dims;  // "batch (input 'x', axis 0)": may be bound by ImportOptions::dims
  std::vector<OpenDim> open_dims;            // the same, every place of a name
  std::vector<std::string> default_inputs;   // weights that a caller may override (ir_version >= 4), hence no constants
  std::vector<std::string> notes;            // other things worth a line
  std::vector<Change> changes;               // in the order in which they were found
  std::vector<std::filesystem::path> data_files;  // with tensors of the model, which the file refers to
  QuantisedReport quantised;                      // before the rewrites of ImportOptions::quantised
  std::string summary() const;                    // a few lines of text, without a final newline
  std::string changes_summary() const;            // counts of changes by kind and operator; "" where there are none
};

// All of the model file that the graph does not hold. Made by import_model, read by export_model.
class Skeleton;

struct Model {
  graph::Graph graph;
  std::shared_ptr<const Skeleton> skeleton;
  ImportReport report;
  // Sizes in the graph of dimensions that stay open, by name as in ImportOptions::dims; empty where none is open.
  std::map<std::string, int64_t> samples;
};

// Values of constant nodes, one blob per port. Needed for those that other nodes or outputs read; where one is missing
// its operators are written instead.
using Folded = std::unordered_map<graph::NodeId, std::vector<std::shared_ptr<const graph::Blob>>>;

class WeightFiles;  // core/onnx/weight_files.h

struct ExportOptions {
  // Weights too small for a normalised number (below 1.18e-38 in f32) become zero: they add nothing to a result, and
  // processors are many times slower at them. Tensors of fewer than 16 elements keep theirs, which may guard a
  // division.
  bool flush_denormals = true;
  // Models with more bytes of weights than this keep them in a file next to the model (protobuf ends at 2 GiB).
  int64_t external_above_bytes = 1'900'000'000;
  ImportLimits limits = {};  // for ONNX's check of a model that came from a file
  // Where large weights go, for models in that folder. Null: they are in the model, or in a file of its own.
  std::shared_ptr<WeightFiles> weight_files = {};
  // Gets the written file before it has its name. Where it throws, an older file of that name stays as it was.
  std::function<void(const std::filesystem::path&)> verify = {};
};

// What an export changed besides the graph's rewrites.
struct ExportReport {
  int64_t denormals = 0;         // numbers set to zero
  int64_t denormal_tensors = 0;  // in so many weights
  int64_t folded_operators = 0;  // that depend on weights alone, and so were computed
  int64_t folded_weights = 0;    // the weights that this made
  int64_t annotations = 0;       // of quantisation that are left out: their tensors are gone
};

// The files next to a model that it refers to for its tensors, as it names them. They are not looked at. Throws Error
// where the model cannot be read.
std::vector<std::string> external_data_of(const std::filesystem::path& model);

// Reads a model. Operators that rlgo does not know, or whose types are not static, become opaque nodes. Throws Error
// that names the file and the place in it where the file is missing, damaged, hostile or no valid ONNX model.
Model import_model(const std::filesystem::path& path, const ImportOptions& options = {});

// Bytes of a model's file and of the files with external data that its initialisers name; 0 where there is no file.
int64_t stored_bytes(const std::filesystem::path& path);

constexpr int kDefaultOpset = 17;  // of graphs that came from no file

// Transposes of weights that operators of the file do on the way (Gemm): export_model() needs no value of theirs.
std::unordered_set<graph::NodeId> read_through(const Skeleton& skeleton, const graph::Graph& graph);

// Writes `graph`, made from the model's graph by rewriting, to `path`. The model is checked (ONNX checker, full) before
// the file appears: one that fails throws Error and nothing is written. Needs the weights (keep_weights).
ExportReport export_model(const Skeleton& skeleton, const graph::Graph& graph, const Folded& folded,
                          const std::filesystem::path& path, const ExportOptions& options = {});

// The same for a graph that came from no file: ir_version 8, `opset` (7 or later), producer rlgo.
ExportReport export_graph(const graph::Graph& graph, const Folded& folded, const std::filesystem::path& path,
                          int opset = kDefaultOpset, const ExportOptions& options = {});

}  // namespace rlgo::onnx_io
