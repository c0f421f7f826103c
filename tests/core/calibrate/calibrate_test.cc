#include "core/calibrate/calibrate.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/base/usage.h"
#include "core/optimise/report.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::calibrate {
namespace {

using optimise::FormulaRuntime;
using optimise::offer_to_calibrate;
using optimise::Result;
using testing::HasSubstr;
using testing::IsEmpty;

Result of(const std::string& target, const std::string& estimates, const std::string& learned_on) {
  Result result;
  result.target = target;
  result.device = "AMD EPYC 7B13";
  result.threads = 1;
  result.estimates = estimates;
  result.learned_on = learned_on;
  return result;
}

TEST(OfferToCalibrate, StatesTheCommandWhereThePricesAreOfOthers) {
  EXPECT_EQ(
      offer_to_calibrate(of("openvino 2026.4.1", "a formula", "")),
      "  no prices were learned under openvino: `rlgo calibrate --target openvino` learns them in about a minute\n");
  Result two = of("onnxruntime 1.31.1", "learned prices", "Intel(R) Xeon(R) Processor");
  two.threads = 2;
  EXPECT_THAT(offer_to_calibrate(two), HasSubstr("no prices were learned on AMD EPYC 7B13: `rlgo calibrate --target "
                                                 "onnxruntime --threads 2` learns"));
}

TEST(OfferToCalibrate, IsSilentWhereItWouldNotHelp) {
  EXPECT_THAT(offer_to_calibrate(of("onnxruntime 1.31.1", "learned prices", "AMD EPYC")), IsEmpty());
  EXPECT_THAT(offer_to_calibrate(of("openvino 2026.4.1", "learned prices", "AMD EPYC 7B13, calibrated here")),
              IsEmpty());
  EXPECT_THAT(offer_to_calibrate(of("onnxruntime 1.31.1", "", "")), IsEmpty()) << "--cost analytic";
  EXPECT_THAT(offer_to_calibrate(of("LibTorch", "a formula", "")), IsEmpty()) << "it has no groups";
}

TEST(Calibrate, RefusesARuntimeWithoutGroups) {
  FormulaRuntime runtime({});
  CalibrateOptions options;
  options.out = "/dev/null";
  EXPECT_THROW(calibrate(
                   options, runtime, [] { return false; }, [](const std::string&) {}),
               UsageError);
}

}  // namespace
}  // namespace rlgo::calibrate
