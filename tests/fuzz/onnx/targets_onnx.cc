#include <google/protobuf/stubs/logging.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/onnx/onnx.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/onnx/model_mutate.h"
#include "tests/fuzz/targets.h"

namespace rlgo::fuzz {
namespace {

namespace fs = std::filesystem;

// Small models that touch the importer's ways; the nightly run adds those of the onnx package.
Corpus onnx_seeds() {
  constexpr const char* kModels[] = {
      "g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,8,8] y) { a = Conv<pads=[1,1,1,1]>(x, w) y = Relu(a) }",
      "g (float[n,6] x) => (float[n,3] y) <float[6,3] w> { a = MatMul(x, w) y = Softmax<axis=-1>(a) }",
      "g (float[2,3,4] x) => (float[6,4] y) <int64[2] s = {6, 4}> { y = Reshape(x, s) }",
      "g (float[n,4] x) => (float[m,2] y) <int64[1] z = {0}, int64[1] o = {-1}, int64[1] t = {2}> "
      "{ s = Shape(x) d = Slice(s, z, z) c = Concat<axis=0>(o, t) y = Reshape(x, c) }",
      "g (uint8[1,1,4,4] x, float s, uint8 z, uint8[2,1,3,3] w) => (uint8[1,2,2,2] y) "
      "{ y = QLinearConv(x, s, z, w, s, z, s, z) }",
      "g (float[1,2,4,4] x, int64[4] sizes) => (float[a,b,c,d] y) <float[0] e> { y = Resize(x, e, e, sizes) }",
      "g (float[4,4] x, int64[2] r) => (float[a,b] y) { y = Tile(x, r) }",
      "g (float[4,6] x) => (float[4,3] p, float[4,3] q) { p, q = Split<axis=1, num_outputs=2>(x) }",
      "g (bool c, float[2] x) => (float[2] y) { y = If(c) <then_branch = t () => (float[2] a) { a = Relu(x) }, "
      "else_branch = e () => (float[2] b) { b = Neg(x) }> }",
      "g (float[5,3,2] x, float[1,16,2] w, float[1,16,4] r) => (float[5,1,3,4] y) { y = LSTM<hidden_size=4>(x, w, r) }",
      "g (float[1,8,4] q, float[1,8,4] k, float[1,8,4] v) => (float[1,8,4] y) { y = Attention<q_num_heads=2, "
      "kv_num_heads=2>(q, k, v) }",
      "g (float[2,3] x) => (float[3,2] y) { a = Transpose<perm=[1,0]>(x) y = Identity(a) }",
      "g (float[2,3] x) => (float[3] y) { y = Einsum<equation=\"ij->j\">(x) }",
      "g (int64[1] n) => (int64[k] y) <int64 z = {0}, int64 o = {1}> { l = Squeeze(n) y = Range(z, l, o) }"};
  Corpus seeds;
  for (const char* text : kModels) {
    onnx::ModelProto model;
    const auto opset = std::string(text).find("Attention") != std::string::npos ? 23 : 18;
    const std::string header = fmt::format("<ir_version: 9, opset_import: [\"\" : {}]> ", opset);
    const auto status = onnx::OnnxParser::Parse(model, (header + text).c_str());
    if (!status.IsOK()) fail("{}: {}", text, status.ErrorMessage());
    seeds.push_back(model.SerializeAsString());
  }
  return seeds;
}

std::string mutate_onnx(const Corpus& corpus, Rng& rng) {
  if (one_in(rng, 12)) return mutate_bytes(corpus, rng);
  const google::protobuf::LogSilencer silence;
  onnx::ModelProto model, other;
  if (!model.ParseFromString(corpus[pick(rng, corpus.size())])) return mutate_bytes(corpus, rng);
  other.ParseFromString(corpus[pick(rng, corpus.size())]);
  for (size_t k = 1 + pick(rng, one_in(rng, 3) ? 8 : 3); k > 0; --k) change_model(model, other, rng);
  return model.SerializeAsString();
}

// A model that is taken must be written, and read again, with nothing of other folders in it.
void read_and_write(const std::string& input, const fs::path& folder, bool isolate) {
  const fs::path in = folder / "m.onnx", out = folder / "out.onnx";
  std::ofstream(in, std::ios::binary) << input;
  for (const bool sample : {false, true}) {
    onnx_io::ImportOptions options;
    options.sample_open = sample;
    options.limits.isolate = isolate;
    onnx_io::ExportOptions export_options;
    export_options.limits.isolate = isolate;
    const auto model = onnx_io::import_model(in, options);
    model.graph.validate();
    onnx_io::export_model(*model.skeleton, model.graph, {}, out, export_options);
    if (read_file(out).find(kSecret) != std::string::npos) throw std::logic_error("bytes from outside the folder");
    onnx_io::import_model(out, options);
  }
}

}  // namespace

std::vector<Target> onnx_targets() {
  return {{"onnx", onnx_seeds, mutate_onnx,
           [](const std::string& input, const fs::path& folder) { read_and_write(input, folder, false); }, 10000,
           [](const std::string& input, const fs::path& folder) { read_and_write(input, folder, true); }}};
}

}  // namespace rlgo::fuzz
