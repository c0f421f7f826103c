#include "core/measure/calibration.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "core/base/quantile.h"
#include "core/graph/editor.h"
#include "core/onnx/onnx.h"

namespace rlgo::measure {
namespace {

using ops::Attr;
using ops::Ints;

std::vector<double> times_of(const nlohmann::json& list) {
  auto times = list.get<std::vector<double>>();
  for (const double us : times) {
    if (!std::isfinite(us) || us <= 0) fail("answers a time of {} us for the reference", us);
  }
  return times;
}

}  // namespace

std::string StandardModels::empty() {
  if (!empty_.empty()) return empty_;
  graph::Editor editor("empty");
  editor.add_output("y", editor.add_input("x", {ops::DType::f32, {1}}));
  onnx_io::export_graph(*editor.finish(), {}, folder_ / "empty.onnx");
  return empty_ = (folder_ / "empty.onnx").string();
}

std::string StandardModels::reference() {
  if (!reference_.empty()) return reference_;
  graph::Editor editor("reference");
  const auto x = editor.add_input("x", {ops::DType::f32, {1, 64, 14, 14}});
  const ops::TensorType weights{ops::DType::f32, {64, 64, 3, 3}};
  const auto w = editor.add_weight("w", graph::Blob::seeded(weights, 1, 1 / std::sqrt(64.0 * 9), 0.0));
  editor.add_output("y", editor.op(ops::Op::conv2d, {x, w}, {{Attr::pads, Ints{1, 1, 1, 1}}}));
  onnx_io::export_graph(*editor.finish(), {}, folder_ / "reference.onnx");
  return reference_ = (folder_ / "reference.onnx").string();
}

void ClockCalibration::scale(nlohmann::json& results) {
  std::vector<double> all;
  for (const auto& result : results) {
    if (!result.contains("reference_us")) continue;
    const auto beside = times_of(result["reference_us"]);
    if (beside.size() != result.at("samples_us").size())
      fail("answers {} times of the reference next to {} samples", beside.size(), result["samples_us"].size());
    all.insert(all.end(), beside.begin(), beside.end());
  }
  if (all.empty()) return;
  if (reference_us_ == 0) reference_us_ = median(all);
  for (auto& result : results) {
    if (!result.contains("reference_us")) continue;
    for (size_t k = 0; k < result["samples_us"].size(); ++k) {
      auto& us = result["samples_us"][k];
      us = us.get<double>() * reference_us_ / result["reference_us"][k].get<double>();
    }
  }
}

}  // namespace rlgo::measure
