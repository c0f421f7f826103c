#include <fstream>

#include "core/base/error.h"
#include "core/measure/measurer.h"
#include "core/measure/outputs.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

namespace rlgo::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHello =
    R"({"id": 1, "runtime": "r", "version": "1", "device": "d", "threads": 1, "outputs": true})"
    "\n";

std::vector<std::string_view> words() {
  return {"\"id\"",
          ":",
          "{}",
          "[]",
          "null",
          "true",
          "-1",
          "1e999",
          "\"results\"",
          "\"samples_us\"",
          "\"error\"",
          "\"at\"",
          "\"round\"",
          "\"\"",
          "[1.5, 2.5]",
          "{\"samples_us\": [1]}",
          "\"layout_fraction\"",
          "\"assumed\"",
          "\"shape\""};
}

// What a child process answers, line by line.
Target session_target() {
  static const auto known = words();
  return {
      "measurer",
      [] {
        const std::string hello = kHello;
        return Corpus{hello + "{\"id\": 2, \"results\": [{\"samples_us\": [1.5, 2.5]}, {\"samples_us\": [0.5]}]}\n"};
      },
      [](const Corpus& corpus, Rng& rng) { return mutate_text(corpus, known, rng); },
      [](const std::string& input, const fs::path& folder) {
        std::ofstream(folder / "answers", std::ios::binary) << input;
        measure::MeasurerOptions options;
        options.start_timeout_s = options.silence_s = 2;
        options.max_restarts = 0;
        // Reports it all at once, then reads what it is asked.
        measure::Measurer measurer({"sh", "-c", "cat \"$0\"; exec >&-; cat >/dev/null", (folder / "answers").string()},
                                   options);
        const fs::path model = measurer.temporary("m");
        const auto times = measurer.measure({&model, 1});
        RLGO_CHECK_EQ(times.size(), 1u);
        if (!times[0].ok()) fail("{}", times[0].error);
        RLGO_CHECK(times[0].median_us >= 0);
      },
      60};
}

// Answers to requests for outputs, and of assumed inputs.
Target outputs_target() {
  static const auto known = words();
  return {"measurer-outputs",
          [] {
            return Corpus{
                R"({"results": [{"outputs": [{"name": "y", "dtype": "float32", "shape": [2, 1], "file": "y.bin"}]}]})",
                R"({"results": [{"error": "no"}]})", R"({"assumed": {"x": [1, 2, 3]}})"};
          },
          [](const Corpus& corpus, Rng& rng) { return mutate_text(corpus, known, rng); },
          [](const std::string& input, const fs::path& folder) {
            fs::current_path(folder);
            std::ofstream(folder / "y.bin", std::ios::binary) << std::string(16, '\0');
            struct Back {
              ~Back() { fs::current_path("../cwd"); }
            } back;
            measure::read_assumed(input);
            for (const auto& outputs : measure::read_outputs(input, 1)) measure::compare(outputs, outputs);
          },
          20000};
}

}  // namespace

std::vector<Target> measurer_targets() { return {session_target(), outputs_target()}; }

}  // namespace rlgo::fuzz
