// What an import does without: constant folding, common subexpressions and dead code, for people.
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/onnx/importer.h"
#include "core/onnx/proto.h"

namespace rlgo::onnx_io {
namespace {

std::string label(const onnx::NodeProto& node) {
  return node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
}

}  // namespace

std::string to_text(const Change& change) {
  switch (change.kind) {
    case Change::Kind::folded:
      return fmt::format("computed {} '{}': {}", change.op, change.name, change.detail);
    case Change::Kind::merged:
      return fmt::format("merged {} '{}': the same as '{}'", change.op, change.name, change.detail);
    case Change::Kind::bypassed:
      return fmt::format("bypassed {} '{}': does nothing", change.op, change.name);
    case Change::Kind::moved:
      return fmt::format("moved {} '{}' into the body that reads it", change.op, change.name);
    case Change::Kind::inlined:
      return fmt::format("put the {} of {} '{}' in its place: its condition is known", change.detail, change.op,
                         change.name);
    case Change::Kind::left_out:
      return fmt::format("left out {} '{}': a written model is for inference", change.op, change.name);
    case Change::Kind::respelled:
      return fmt::format("respelled {} '{}': {}", change.op, change.name, change.detail);
    case Change::Kind::unread:
      break;
  }
  return fmt::format("removed {} '{}': no output needs it", change.op, change.name);
}

void Importer::note(Change::Kind kind, const onnx::NodeProto& node, std::string detail) {
  report_.changes.push_back({kind, full_op(node), label(node), std::move(detail)});
}

// A node that stays may still turn out unread: what to report then is kept.
void Importer::note_made(const onnx::NodeProto& node, graph::NodeId id, bool known) {
  made_.push_back({id, known, {Change::Kind::unread, full_op(node), label(node), {}}});
}

// The operator became new nodes, or a node that another operator of the file had become, or nothing.
void Importer::note_known(const onnx::NodeProto& node, const OnnxNode& resolved) {
  const auto read = std::ranges::find_if(resolved.outputs, [](const std::string& name) { return !name.empty(); });
  const graph::Value value = values_.at(*read);
  if (std::ranges::find(resolved.inputs, value) != resolved.inputs.end()) return note(Change::Kind::bypassed, node);
  const auto origin = skeleton_->origins.find(value.node);
  if (origin == skeleton_->origins.end()) return note_made(node, value.node, true);
  note(Change::Kind::merged, node, origin->second.node.empty() ? origin->second.outputs[0] : origin->second.node);
}

void Importer::note_unread(const graph::Graph& graph) {
  for (auto& made : made_) {
    if (graph.contains(made.id)) continue;
    const auto kept = report_.opaque.find(made.unread.op);
    if (made.known) {
      --report_.known;
    } else if (kept != report_.opaque.end() && --kept->second == 0) {
      report_.opaque.erase(kept);
    }
    report_.changes.push_back(std::move(made.unread));
  }
}

}  // namespace rlgo::onnx_io
