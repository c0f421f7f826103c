// Runs the tests, or, for the scripts next to it, one import and export:
//   test_core_onnx --roundtrip IN.onnx OUT.onnx [--sample-open] [NAME=SIZE | @NAME=SAMPLE ...]     prints the import
//   report test_core_onnx --roundtrip-list < "IN OUT" lines                prints "ok IN known opaque folded
//   same|changed" (the graph's
//                                                                    hash after another import) or "error IN ..."
//   test_core_onnx --requantise IN.onnx OUT.onnx REWRITE...             import with these rewrites of quantised models,
//                                                                    and export; prints their names and counts
//   test_core_onnx --open-pairs FOLDER SEED FIRST COUNT RULES...       see open_pairs.h
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/onnx.h"
#include "tests/core/onnx/open_pairs.h"

namespace {

using namespace rlgo;

onnx_io::Model round_trip(const std::string& in, const std::string& out, const onnx_io::ImportOptions& options = {}) {
  auto model = onnx_io::import_model(in, options);
  model.graph.validate();
  onnx_io::export_model(*model.skeleton, model.graph, {}, out);
  return model;
}

int run_one(int argc, char** argv) {
  onnx_io::ImportOptions options;
  for (int k = 4; k < argc; ++k) {
    if (std::string_view(argv[k]) == "--sample-open") options.sample_open = true;
    const auto parts = split(argv[k], '=');
    if (parts.size() != 2) continue;
    const bool is_sample = parts[0].starts_with("@");
    (is_sample ? options.samples : options.dims)[parts[0].substr(is_sample ? 1 : 0)] = parse_int(parts[1]).value();
  }
  try {
    std::cout << round_trip(argv[2], argv[3], options).report.summary() << "\n";
    return 0;
  } catch (const Error& error) {
    std::cout << "error " << error.what() << "\n";
    return 1;
  }
}

int run_list() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string in, out;
    words >> in >> out;
    try {
      const auto model = round_trip(in, out);
      const auto& report = model.report;
      const bool is_same = onnx_io::import_model(out).graph.hash() == model.graph.hash();
      int opaque = 0;
      for (const auto& [op, count] : report.opaque) opaque += count;
      std::cout << fmt::format("ok {} {} {} {} {}\n", in, report.known, opaque, report.folded,
                               is_same ? "same" : "changed")
                << std::flush;
    } catch (const Error& error) {
      std::cout << fmt::format("error {} {}\n", in, error.what()) << std::flush;
    }
  }
  return 0;
}

int requantise(int argc, char** argv) {
  onnx_io::ImportOptions options;
  for (int k = 4; k < argc; ++k) options.quantised.insert(argv[k]);
  for (const auto& [name, count] : round_trip(argv[2], argv[3], options).report.quantised.matches)
    std::cout << name << " " << count << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 4 && std::string_view(argv[1]) == "--roundtrip") return run_one(argc, argv);
  if (argc >= 4 && std::string_view(argv[1]) == "--requantise") return requantise(argc, argv);
  if (argc == 2 && std::string_view(argv[1]) == "--roundtrip-list") return run_list();
  if (argc >= 7 && std::string_view(argv[1]) == "--open-pairs") return onnx_io::test::write_open_pairs(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
