// Tests, or a campaign:
//
//   test_fuzz --target onnx --inputs 100000 [--seed 1] [--first 0] [--corpus FOLDER] [--out FOLDER]
//   test_fuzz --target onnx --file INPUT      one input again
//   test_fuzz --list
//
// --corpus: ONNX files of any depth, those of at most 64 KiB, added to the target's own seeds. --out: where inputs that
// are faults are left. Prints one line; status 1 where there is a fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "tests/fuzz/engine.h"

namespace rlgo::fuzz {
namespace {

namespace fs = std::filesystem;

void add_files(const fs::path& folder, Corpus& corpus) {
  constexpr uint64_t kLargest = 64 << 10;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.file_size() <= kLargest && entry.path().extension() == ".onnx")
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) corpus.push_back(read_file(file));
}

int campaign(std::map<std::string, std::string> options) {
  const Target& target = find_target(options["--target"]);
  Tally tally;
  if (options.contains("--file")) {
    tally = run_one(target, read_file(options["--file"]));
  } else {
    Corpus corpus = target.seeds();
    if (options.contains("--corpus") && target.name == "onnx") add_files(options["--corpus"], corpus);
    const auto number = [&](const char* key, int64_t otherwise) {
      return static_cast<uint64_t>(options.contains(key) ? parse_int(options[key]).value() : otherwise);
    };
    tally = fuzz(target, corpus, number("--seed", 1), number("--first", 0), number("--inputs", 10000));
  }
  const auto keep = [&](const std::vector<Fault>& faults, const char* what) {
    for (const Fault& fault : faults) {
      std::cout << fmt::format("{} at input {}: {}\n", what, fault.index, fault.what);
      if (!options.contains("--out")) continue;
      fs::create_directories(options["--out"]);
      atomic_write(fs::path(options["--out"]) / fmt::format("{}-{}-{}", target.name, what, fault.index), fault.input);
    }
  };
  keep(tally.faults, "fault");
  keep(tally.contained, "contained");
  for (const auto& stray : tally.strays) std::cout << "changed outside the given folder: " << stray << "\n";
  std::cout << fmt::format("{}: {} inputs, {} accepted, {} contained, {} faults, {:.0f} inputs/s, peak {}\n",
                           target.name, tally.inputs, tally.accepted, tally.contained.size(), tally.faults.size(),
                           static_cast<double>(tally.inputs) / tally.seconds,
                           human_bytes(static_cast<double>(tally.peak_bytes)));
  return tally.faults.empty() && tally.strays.empty() ? 0 : 1;
}

}  // namespace
}  // namespace rlgo::fuzz

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (!words.empty() && words[0] == "--list") {
      for (const auto& target : rlgo::fuzz::targets()) std::cout << target.name << "\n";
      return 0;
    }
    if (!words.empty() && words[0] == "--target") {
      std::map<std::string, std::string> options;
      for (size_t k = 0; k + 1 < words.size(); k += 2) options[words[k]] = words[k + 1];
      return rlgo::fuzz::campaign(options);
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
