// The part of the importer that keeps open dimensions open.
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/dims.h"
#include "core/onnx/importer.h"

namespace rlgo::onnx_io {
namespace {

// Nothing is static that depends on an open size.
ops::TensorType closed(ops::TensorType type) {
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (type.is_open(d)) type.shape[static_cast<size_t>(d)] = ops::kUnknown;
  }
  type.open = nullptr;
  return type;
}

}  // namespace

void Importer::check_samples(const Sizes& open, const Sizes& wanted) const {
  std::vector<std::string> known;
  for (const auto& [name, size] : open) known.push_back(name);
  for (const auto& [name, size] : wanted) {
    if (open.contains(name)) continue;
    fail("no input has an open dimension '{}'{}; open are: {}", name, did_you_mean(name, known),
         known.empty() ? "none" : join(known, ", "));
  }
}

void Importer::sample_open_dims() {
  if (!options_.sample_open || skeleton_->contradictory) return;
  const Sizes wanted = by_name(model_, options_.samples);
  for (const bool by_axis : {false, true}) {
    auto sizes = sample_sizes(model_, wanted, by_axis);
    check_samples(sizes, wanted);
    if (sizes.empty()) return;
    auto sampled = std::make_unique<SampledShapes>(model_, sizes);
    if (sampled->is_contradictory()) continue;
    sampled_ = std::move(sampled);
    open_ = std::make_unique<OpenShapes>(model_, sizes);
    samples_ = std::move(sizes);
    skeleton_->sampled = report_.sampled = true;
    return;
  }
  report_.notes.emplace_back("the sizes that were tried for the open dimensions do not fit together");
}

// What the operator makes, at the sample sizes and as functions of the open sizes. `resolved` gets the types that hold
// at all sizes, whatever the file declares.
void Importer::follow(const onnx::NodeProto& node, OnnxNode& resolved) {
  if (!sampled_) return;
  const bool is_function = functions_.contains(node.domain() + ":" + node.op_type());
  const bool is_standard = node.domain().empty() && opset_ >= 7 && !is_function;
  const auto found = versions_.find(node.domain());
  const int version = is_function || found == versions_.end() ? 0 : found->second;
  OnnxNode copy = resolved;
  sampled_->step(node, version, is_standard, copy);
  for (int k = 0; k < node.input_size(); ++k) {
    if (!node.input(k).empty()) resolved.input_types[static_cast<size_t>(k)] = sampled_type(node.input(k));
  }
  for (int k = 0; k < node.output_size(); ++k)
    resolved.output_types[static_cast<size_t>(k)] = sampled_->type(node.output(k));
  open_->step(node, version, is_standard, resolved);
  if (is_standard && node.op_type() == "Reshape" && node.input_size() > 1) {
    const auto* shape = resolved.constant(1);
    const bool rest =
        shape != nullptr ? std::ranges::find(shape->ints, -1) != shape->ints.end() : open_->holds(node.input(1), -1);
    if (rest) skeleton_->leaves_rest.insert(node.output(0));
  }
  for (int k = 0; k < node.output_size(); ++k)
    resolved.output_types[static_cast<size_t>(k)] = closed(sampled_type(node.output(k)));
  for (auto& type : resolved.input_types) type = closed(std::move(type));
}

// With open extents where something is sampled.
ops::TensorType Importer::sampled_type(const std::string& name) {
  if (!sampled_) return types_.type(name);
  const auto type = sampled_->type(name);
  if (type.dtype == ops::DType::other && !type.ranked) return ops::TensorType::unranked(types_.type(name).dtype);
  return open_->type(name, type);
}

void Importer::set_sampled(const std::string& name, const ops::TensorType& type) {
  if (!sampled_) return;
  sampled_->set(name, ops::TensorType(type.dtype, type.shape));
  open_->set(name, type);
}

}  // namespace rlgo::onnx_io
