#include "core/optimise/constant_evaluator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/shipped.h"
#include "core/base/temporary_folder.h"
#include "core/measure/measurer.h"
#include "core/onnx/constant.h"

namespace rlgo::optimise {
namespace {

using Answer = std::vector<std::pair<ops::TensorType, std::string>>;

// "float32" is f32.
std::optional<ops::DType> dtype_of(const std::string& numpy) {
  const auto digits = numpy.find_first_of("0123456789");
  return ops::dtype_from_name(digits == std::string::npos ? numpy : numpy.substr(0, 1) + numpy.substr(digits));
}

std::optional<std::pair<ops::TensorType, std::string>> tensor_of(const cost::Output& output) {
  constexpr double kWholeNumbers = 0x1p53;  // up to here a double, as which values come, is an integer exactly
  const auto dtype = dtype_of(output.dtype);
  if (!dtype) return std::nullopt;
  onnx_io::Constant constant{{*dtype, ops::Shape(std::span<const int64_t>(output.shape))}, {}, {}};
  if (constant.is_float()) {
    constant.floats = output.values;
  } else {
    for (const double value : output.values) {
      if (!(std::fabs(value) < kWholeNumbers)) return std::nullopt;
      constant.ints.push_back(static_cast<int64_t>(value));
    }
  }
  return std::pair(constant.type, onnx_io::to_bytes(constant));
}

class Evaluator {
 public:
  Evaluator(std::string python, std::function<bool()> should_stop)
      : python_(std::move(python)), should_stop_(std::move(should_stop)), folder_("rlgo-constants") {}

  Answer ask(const std::string& model) {
    if (failed_) return {};
    try {
      if (!measurer_) start();
      const auto file = folder_.path() / "model.onnx";
      atomic_write(file, model);
      const std::filesystem::path twice[] = {file, file};
      return answer_of(measurer_->outputs(twice, 0, true));
    } catch (const Error&) {  // ONNX Runtime is not installed, or hangs
      failed_ = true;
      return {};
    }
  }

 private:
  void start() {
    const std::string file = "onnxruntime_measurer.py";
    measure::MeasurerOptions options;
    options.should_stop = should_stop_;
    measurer_ = std::make_unique<measure::Measurer>(
        std::vector{python_, shipped_file({"launch/measurers/" + file, "share/rlgo/measurers/" + file}).string()},
        options);
  }

  static Answer answer_of(const std::vector<cost::Outputs>& runs) {
    Answer answer;
    if (!runs[0].ok() || !runs[1].ok()) return {};
    for (size_t k = 0; k < runs[0].outputs.size(); ++k) {
      const auto one = tensor_of(runs[0].outputs[k]), two = tensor_of(runs[1].outputs.at(k));
      if (!one || one != two) return {};
      answer.push_back(*one);
    }
    return answer;
  }

  std::string python_;
  std::function<bool()> should_stop_;
  TemporaryFolder folder_;
  std::unique_ptr<measure::Measurer> measurer_;
  bool failed_ = false;
};

}  // namespace

onnx_io::Evaluate constant_evaluator(std::string python, std::function<bool()> should_stop) {
  // Made at the first question: most models ask none.
  return [python = std::move(python), should_stop = std::move(should_stop),
          evaluator = std::shared_ptr<Evaluator>()](const std::string& model) mutable {
    if (!evaluator) evaluator = std::make_shared<Evaluator>(python, should_stop);
    return evaluator->ask(model);
  };
}

}  // namespace rlgo::optimise
