#include <onnx/onnx_pb.h>

#include <new>

#include "core/base/error.h"
#include "core/base/write_error.h"
#include "core/onnx/exporter.h"
#include "core/onnx/external_data.h"
#include "core/onnx/onnx.h"
#include "core/onnx/proto.h"
#include "core/onnx/trial_read.h"
#include "core/onnx/validate.h"
#include "core/onnx/weight_files.h"

namespace rlgo::onnx_io {
namespace {

namespace fs = std::filesystem;

bool is_used_standard(const onnx::ModelProto& model) {
  for (const auto& node : model.graph().node()) {
    if (is_standard_domain(node.domain())) return true;
  }
  return false;
}

// Whether the inferred shapes of the outputs are those of the graph (which, behind opaque operators, are only what the
// file stated).
bool outputs_agree(const onnx::ModelProto& model, const graph::Graph& graph) {
  for (int k = 0; k < model.graph().output_size(); ++k) {
    const auto inferred = type_of(model.graph().output(k).type());
    const graph::Value value = graph.outputs()[static_cast<size_t>(k)].value;
    const auto& own = graph.type(value);
    if (graph.node(value.node).op() == ops::Op::opaque) continue;
    if (inferred.is_static() && own.is_static() && inferred.shape != own.shape) return false;
  }
  return true;
}

// The full check of ONNX. A file may declare wrong shapes for its outputs, and hide it behind shape arithmetic that
// ONNX cannot see through; now that rlgo has worked it out, ONNX notices. That is not the export's fault.
void check_export(onnx::ModelProto& model, const graph::Graph& graph, bool contradictory) {
  check_model(model);
  std::string problem;
  {
    Inference inference(model);
    problem = inference.run_strictly(false);
  }
  if (problem.empty() || contradictory) return;
  Inference inference(model);
  inference.forget_shapes();
  if (!inference.run_strictly(false).empty() || !outputs_agree(model, graph)) fail("ONNX shape inference: {}", problem);
}

int64_t bytes_of_weights(const onnx::ModelProto& model) {
  int64_t sum = 0;
  for (const auto& tensor : model.graph().initializer()) sum += static_cast<int64_t>(tensor.raw_data().size());
  return sum;
}

ExportReport write_model(const Skeleton& skeleton, const graph::Graph& graph, const Folded& folded,
                         const fs::path& path, const ExportOptions& options, bool of_file) {
  onnx::ModelProto model = *skeleton.model;
  const bool has_opset = standard_opset(model) > 0;
  if (!has_opset) model.add_opset_import()->set_version(kDefaultOpset);
  const ExportReport report = Exporter(skeleton, model, graph, folded, options).run();
  if (!has_opset && !is_used_standard(model)) model.mutable_opset_import()->RemoveLast();
  {
    const FilesAsInputs hidden(model);
    if (of_file && options.limits.isolate) {
      try_in_child([&] { check_export(model, graph, skeleton.contradictory); }, model.ByteSizeLong(),
                   model.graph().node_size(), options.limits);
    } else {
      check_export(model, graph, skeleton.contradictory);
    }
  }
  if (bytes_of_weights(model) > options.external_above_bytes) store_external_data(model, path);
  save_proto(model, path, options.verify);
  return report;
}

// Errors of the export state this, and name the file.
template <typename Write>
ExportReport with_place(const fs::path& path, const Write& write) {
  try {
    return write();
  } catch (const WriteError&) {
    throw;  // names the file
  } catch (const Error& error) {
    throw error.in("cannot write " + path.string());
  } catch (const std::bad_alloc&) {
    fail("cannot write {}: not enough memory", path.string());
  } catch (const std::exception& error) {
    fail("cannot write {}: {}", path.string(), error.what());
  }
}

}  // namespace

ExportReport export_model(const Skeleton& skeleton, const graph::Graph& graph, const Folded& folded,
                          const fs::path& path, const ExportOptions& options) {
  return with_place(path, [&] { return write_model(skeleton, graph, folded, path, options, true); });
}

ExportReport export_graph(const graph::Graph& graph, const Folded& folded, const fs::path& path, int opset,
                          const ExportOptions& options) {
  return with_place(path, [&] {
    if (opset < 7) fail("opset {} is not supported (7 and later are)", opset);
    Skeleton skeleton;
    auto& model = *skeleton.model;
    model.set_ir_version(8);
    model.set_producer_name("rlgo");
    model.add_opset_import()->set_version(opset);
    auto& proto = *model.mutable_graph();
    proto.set_name(graph.name().empty() ? "graph" : graph.name());
    const auto declare = [&](onnx::ValueInfoProto& value, const std::string& name, const ops::TensorType& type) {
      if (!type.is_static() || type.dtype == ops::DType::other)
        fail("'{}' has the type {}, which cannot be declared", name, ops::to_string(type));
      value.set_name(name);
      set_type(*value.mutable_type(), type);
    };
    for (graph::NodeId id : graph.inputs())
      declare(*proto.add_input(), graph.node(id).info->name, graph.node(id).info->outputs[0]);
    for (const auto& output : graph.outputs()) declare(*proto.add_output(), output.name, graph.type(output.value));
    return write_model(skeleton, graph, folded, path, options, false);
  });
}

}  // namespace rlgo::onnx_io
