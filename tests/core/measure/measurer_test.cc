#include "core/measure/measurer.h"

#include <gmock/gmock.h>

#include <map>

#include "core/base/deadline.h"
#include "core/base/error.h"
#include "core/base/temporary_folder.h"
#include "tests/core/measure/fake.h"

namespace rlgo::measure {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::string start_error(const std::vector<std::string>& argv) {
  return message_of([&] { Measurer(argv, quick()); });
}

TEST(Measurer, GreetsAndNamesItsTable) {
  auto options = quick();
  options.threads = 2;
  Measurer measurer(fake(), options);
  EXPECT_EQ(measurer.hello().runtime, "fake");
  EXPECT_FALSE(measurer.hello().pool_context || measurer.hello().reference);
  EXPECT_EQ(measurer.origin(), (cost::TableOrigin{"measured:fake-1.0", "paper", 2}));
}

TEST(Measurer, TakesOffTheTimeOfAnEmptyRun) {
  Measurer measurer(fake(), quick());
  const std::vector<fs::path> models = {file_of(measurer, "a", 5000), file_of(measurer, "b", 7000)};
  const auto times = measurer.measure(models);
  ASSERT_EQ(times.size(), 2u);
  ASSERT_TRUE(times[0].ok() && times[1].ok());
  EXPECT_EQ(times[1].median_us - times[0].median_us, 2000);
  EXPECT_LT(times[0].median_us, 5000);
  EXPECT_GT(times[0].median_us, 4000);
  EXPECT_EQ(times[0].samples, 5);
  EXPECT_EQ(times[0].spread_us, 2);  // 0 1 2 3 4
}

TEST(Measurer, ReportsTimesAtOneClockOfTheMachine) {
  Measurer measurer(fake({"clocks=1,3,0.5"}), quick());
  const std::vector<fs::path> models = {file_of(measurer, "a", 5000), file_of(measurer, "b", 7000)};
  EXPECT_EQ(measurer.calibration().reference_us(), 0);
  const auto first = measurer.measure(models);
  EXPECT_EQ(measurer.calibration().reference_us(), 100);
  for (const char* later : {"three times as slow", "twice as fast"}) {
    const auto times = measurer.measure(models);
    for (size_t k = 0; k < models.size(); ++k) EXPECT_NEAR(times[k].median_us, first[k].median_us, 1e-6) << later;
  }
  measurer.calibration().set_reference_us(200);  // of a table that was made at half that clock
  EXPECT_NEAR(measurer.measure(models)[1].median_us, 2 * first[1].median_us, 1e-6);
}

TEST(Measurer, ReadsTheFractionOfLayoutsUnderBothNames) {
  for (const auto& [given, read] : std::map<std::string, double>{
           {"layout=layout_fraction", 0.25}, {"layout=layout_share", 0.25}, {"layout=other", 0}}) {  // old name
    Measurer measurer(fake({given}), quick());
    const std::vector<fs::path> models = {file_of(measurer, "a", 5000)};
    EXPECT_EQ(measurer.measure(models)[0].layout_fraction, read) << given;
  }
}

TEST(Measurer, TimesOfTheReferenceMustFit) {
  auto options = quick();
  options.max_restarts = 0;
  Measurer measurer(fake({"clocks=1", "short"}), options);
  const std::vector<fs::path> models = {file_of(measurer, "a", 5000)};
  EXPECT_THAT(measurer.measure(models)[0].error, HasSubstr("4 times of the reference next to 5 samples"));
}

TEST(Measurer, ComparesWithTheFirstAndWithItself) {
  Measurer measurer(fake(), quick());
  const std::vector<fs::path> models = {file_of(measurer, "a", 1000), file_of(measurer, "b", 2000)};
  const auto result = measurer.compare(models, {.repeats = 9});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.models[0].median_us, 1004);
  EXPECT_EQ(result.models[1].samples, 9);
  EXPECT_EQ(result.ratio[0], 1);
  EXPECT_NEAR(result.ratio[1], 2, 0.01);
  EXPECT_EQ(result.noise, 0);
}

TEST(Measurer, ComparisonsEndInTime) {
  Measurer measurer(fake({"late"}), quick());
  const std::vector<fs::path> models = {file_of(measurer, "a", 1000), file_of(measurer, "b", 2000)};
  EXPECT_EQ(measurer.compare(models, {.repeats = 9}).models[1].samples, 9);
  EXPECT_EQ(measurer.compare(models, {.repeats = 9, .seconds = 0.5, .least = 4}).models[1].samples, 4);
  EXPECT_EQ(measurer.compare(models, {.repeats = 3, .seconds = 0.5, .least = 4}).models[1].samples, 3);
}

TEST(Measurer, RefusedModelIsThatModelsResult) {
  Measurer measurer(fake({"fail=bad"}), quick());
  const std::vector<fs::path> models = {file_of(measurer, "a", 900), file_of(measurer, "bad", 900)};
  const auto times = measurer.measure(models);
  EXPECT_TRUE(times[0].ok());
  EXPECT_EQ(times[1].error, "unsupported operator");
  EXPECT_EQ(measurer.failures(), 0);
}

TEST(Measurer, CrashCostsOneModelOnly) {
  for (const bool blame : {true, false}) {
    Measurer measurer(blame ? fake({"crash=bad", "blame"}) : fake({"crash=bad"}), quick());
    const std::vector<fs::path> models = {file_of(measurer, "a", 900), file_of(measurer, "bad", 900),
                                          file_of(measurer, "c", 900)};
    const auto times = measurer.measure(models);
    EXPECT_TRUE(times[0].ok() && times[2].ok());
    EXPECT_THAT(times[1].error, HasSubstr("exit status 3"));
    EXPECT_THAT(times[1].error, HasSubstr("too much for me"));
    EXPECT_EQ(measurer.failures(), blame ? 1 : 2);
    EXPECT_TRUE(measurer.usable());
  }
}

TEST(Measurer, HangIsEnded) {
  auto options = quick();
  options.silence_s = 0.5;
  Measurer measurer(fake({"hang=bad", "blame"}), options);
  const std::vector<fs::path> models = {file_of(measurer, "bad", 900), file_of(measurer, "b", 900)};
  const auto times = measurer.measure(models);
  EXPECT_THAT(times[0].error, HasSubstr("no answer for"));
  EXPECT_TRUE(times[1].ok());
}

TEST(Measurer, GarbageIsAFailureAndForgiven) {
  Measurer measurer(fake({"garbage=2"}), quick());
  const std::vector<fs::path> models = {file_of(measurer, "a", 900), file_of(measurer, "b", 900)};
  auto times = measurer.measure(models);  // each child's second answer is garbage: halves, then single ones
  EXPECT_THAT(times[0].error, HasSubstr("Segmentation fault in my head"));
  EXPECT_EQ(measurer.failures(), 3);
  EXPECT_TRUE(measurer.usable());
}

TEST(Measurer, GivesUpAfterTooManyRestarts) {
  auto options = quick();
  options.max_restarts = 1;
  Measurer measurer(fake({"crash=bad", "blame"}), options);
  const std::vector<fs::path> models = {file_of(measurer, "bad", 9), file_of(measurer, "bad", 9),
                                        file_of(measurer, "c", 900)};
  EXPECT_THAT(measurer.measure(models)[2].error, HasSubstr("too often"));
  EXPECT_FALSE(measurer.usable());
  EXPECT_THAT(measurer.compare(models, {.repeats = 3}).error, HasSubstr("too often"));
}

TEST(Measurer, CompareLosesTheCrashingCandidateOnly) {
  Measurer measurer(fake({"crash=bad", "blame"}), quick());
  const std::vector<fs::path> models = {file_of(measurer, "a", 900), file_of(measurer, "bad", 90),
                                        file_of(measurer, "c", 1800)};
  const auto result = measurer.compare(models, {.repeats = 5});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.ratio[1], 0);
  EXPECT_FALSE(result.models[1].ok());
  EXPECT_NEAR(result.ratio[2], 2, 0.01);
}

TEST(Measurer, ProtocolErrorsAreReported) {
  Measurer few(fake({"few"}), quick());
  const std::vector<fs::path> models = {file_of(few, "a", 900), file_of(few, "b", 900)};
  EXPECT_THAT(few.compare(models, {.repeats = 5}).error, HasSubstr("different numbers of samples"));
  Measurer nan(fake({"nan"}), quick());
  EXPECT_THAT(nan.measure(models)[0].error, HasSubstr("a time of -1 us"));
}

TEST(Measurer, RestartIsAFreshProcessThatKnowsWhatWasSet) {
  const TemporaryFolder folder("rlgo-test");
  const std::string log = (folder.path() / "log").string();
  Measurer measurer(fake({"log=" + log, "once", "starts=" + log + ".starts"}), quick());
  measurer.set_input_values({{"sr", {8000}}});
  EXPECT_GT(measurer.start_s(), 0);
  measurer.restart();
  measurer.compare(std::vector{file_of(measurer, "a", 5000)}, {.repeats = 2});
  EXPECT_EQ(read_file(log), "hello 0\nhello 0\ncompare 2 {\"sr\": [8000.0]}\n");
  EXPECT_THAT(message_of([&] { measurer.restart(); }), HasSubstr("greets without runtime"));
  EXPECT_EQ(measurer.failures(), 0);
}

TEST(Measurer, StartErrorsNameTheRemedy) {
  EXPECT_THAT(start_error(fake({"missing"})), HasSubstr("install the PyPI package fake"));
  EXPECT_THAT(start_error(fake({"rude"})), HasSubstr("greets without runtime"));
  EXPECT_THAT(start_error(fake({"deaf"})), HasSubstr("exit status 4"));
  EXPECT_THAT(start_error({"rlgo-no-such-program"}), HasSubstr("cannot start 'rlgo-no-such-program'"));
  EXPECT_THAT(start_error({"cat"}), HasSubstr("greets without"));
}

TEST(Measurer, StopsWhenAsked) {
  auto options = quick();
  options.silence_s = 30;
  bool stop = false;
  options.should_stop = [&] { return stop; };
  Measurer measurer(fake({"hang=bad"}), options);
  const std::vector<fs::path> models = {file_of(measurer, "bad", 9)};
  stop = true;
  EXPECT_THAT(message_of([&] { measurer.measure(models); }), HasSubstr("stopped while measuring"));
  EXPECT_THROW(measurer.compare(models, {}), Stopped);
  EXPECT_EQ(measurer.failures(), 0);
}

TEST(Measurer, RemovesItsFolder) {
  fs::path left;
  {
    Measurer measurer(fake(), quick());
    left = file_of(measurer, "a", 9);
    EXPECT_TRUE(fs::exists(left));
  }
  EXPECT_FALSE(fs::exists(left.parent_path()));
}

}  // namespace
}  // namespace rlgo::measure
