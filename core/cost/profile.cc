#include "core/cost/profile.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/base/shipped.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/base/usage.h"
#include "core/cost/profile_fields.h"

namespace rlgo::cost {
namespace {

namespace po = boost::program_options;
using O = AnalyticOptions;

constexpr double kAny = std::numeric_limits<double>::max();

// A quantity above zero, a share in (0, 1], a size of 0 or more.
constexpr ProfileField above_zero(const char* key, double O::*member, const char* help) {
  return {key, member, 0, kAny, true, help};
}
constexpr ProfileField fraction(const char* key, double O::*member, const char* help) {
  return {key, member, 0, 1, true, help};
}
constexpr ProfileField size(const char* key, double O::*member, const char* help) {
  return {key, member, 0, kAny, false, help};
}

constexpr ProfileField kFields[] = {
    above_zero("machine.peak_gflops", &O::peak_gflops, "arithmetic, f32, GFLOP/s"),
    above_zero("machine.memory_gbytes_per_s", &O::memory_gbytes_per_s, "streams beyond the cache, GB/s"),
    above_zero("machine.cache_gbytes_per_s", &O::cache_gbytes_per_s, "the first cache_bytes of an operator, GB/s"),
    size("machine.cache_bytes", &O::cache_bytes, "bytes"),
    size("machine.launch_us", &O::launch_us, "for each operator that runs, us"),
    size("machine.half_outputs", &O::half_outputs,
         "output elements at which arithmetic runs at half speed; 0: always at full speed"),
    size("machine.half_bytes", &O::half_bytes, "bytes at which the bandwidth is half used; 0: always fully"),
    {"machine.least_bandwidth", &O::least_bandwidth, 0, 1, false, "... but never below this share"},
    fraction("arithmetic.conv_1x1", &O::conv_1x1, "fraction of the peak: convolutions with windows of 1x1"),
    fraction("arithmetic.conv_3x3", &O::conv_3x3, "of 3x3"),
    fraction("arithmetic.conv_other", &O::conv_other, "of other sizes"),
    fraction("arithmetic.conv_depthwise", &O::conv_depthwise, "one input channel per group"),
    fraction("arithmetic.conv_transpose", &O::conv_transpose, "transposed convolutions"),
    fraction("arithmetic.matmul", &O::matmul, "matrix products"),
    fraction("arithmetic.elementwise", &O::elementwise, "all operators not named here"),
    fraction("arithmetic.pool", &O::pool, "max_pool, avg_pool, global_avg_pool"),
    fraction("arithmetic.reduce", &O::reduce, "reduce_mean, reduce_sum, reduce_max"),
    fraction("arithmetic.softmax", &O::softmax, "softmax"),
    fraction("arithmetic.layer_norm", &O::layer_norm, "layer_norm"),
    fraction("stream.transpose", &O::stream_transpose, "fraction of the bandwidth: strided on one side"),
    fraction("stream.gather", &O::stream_gather, "gather"),
    fraction("stream.slice", &O::stream_slice, "slice"),
    fraction("stream.pad", &O::stream_pad, "pad"),
    fraction("stream.concat", &O::stream_concat, "concat"),
    fraction("stream.split", &O::stream_split, "split"),
    size("half.sum", &O::half_sum, "terms of one output element of a convolution or matmul"),
    size("half.out_channels", &O::half_out_channels, "output channels of a dense convolution"),
    size("half.group_channels", &O::half_group_channels, "channels of a group, in and out"),
    size("half.pixels", &O::half_pixels, "output pixels of a convolution"),
    size("half.rows", &O::half_rows, "rows of a matrix product"),
    size("half.columns", &O::half_columns, "columns of a matrix product"),
};

void check_value(const ProfileField& field, double value) {
  if (std::isfinite(value) && value >= field.low && value <= field.high && !(field.open_low && value == field.low))
    return;
  const std::string above = fmt::format("{} {}", field.open_low ? "above" : "at least", field.low);
  const std::string below = field.high == kAny ? "" : fmt::format(" and at most {}", field.high);
  fail("{} must be {}{}, not {}", field.key, above, below, value);
}

void assign(AnalyticOptions& options, const std::string& key, const std::string& text) {
  const auto* const field = std::ranges::find(kFields, key, &ProfileField::key);
  if (field == std::end(kFields)) {
    std::vector<std::string> known;
    for (const ProfileField& f : kFields) known.emplace_back(f.key);
    fail("unknown key '{}'{}", key, did_you_mean(key, known));
  }
  const auto value = parse_double(text);
  if (!value) fail("{}: '{}' is not a number", key, text);
  check_value(*field, *value);
  options.*field->member = *value;
}

}  // namespace

std::span<const ProfileField> profile_fields() { return kFields; }

void check(const AnalyticOptions& options) {
  for (const ProfileField& field : kFields) check_value(field, options.*field.member);
}

AnalyticOptions parse_profile(const std::string& text, const std::string& file_name) {
  AnalyticOptions options;
  std::istringstream in(text);
  std::set<std::string> seen;
  try {
    const auto parsed = po::parse_config_file(in, po::options_description(), true);
    for (const auto& item : parsed.options) {
      if (!seen.insert(item.string_key).second) fail("key '{}' is given twice", item.string_key);
      assign(options, item.string_key, join(item.value, ","));
    }
  } catch (const po::error& e) {
    fail("{}: {} (lines are: key = value, [section], # comment)", file_name, e.what());
  } catch (const Error& e) {
    throw e.in(file_name);
  }
  return options;
}

std::string to_text(const AnalyticOptions& options, const std::string& source) {
  std::string out;
  for (const auto& line : split(source, '\n')) out += line.empty() ? "#\n" : "# " + line + "\n";
  std::string section;
  for (const ProfileField& field : kFields) {
    const auto key = split(field.key, '.');
    if (key[0] != section) out += fmt::format("\n[{}]\n", key[0]);
    section = key[0];
    out += fmt::format("{:<32}  # {}\n", fmt::format("{} = {}", key[1], options.*field.member), field.help);
  }
  return out;
}

namespace {

std::filesystem::path profile_file(const std::string& named) {
  if (named.find_first_of("./") != std::string::npos) return named;
  try {
    return shipped_config("costs/" + named + ".cost");
  } catch (const Error& e) {
    fail_usage("--cost.profile: no profile is named '{}': {}; a file is named with its folder (./{})", named, e.what(),
               named);
  }
}

AnalyticOptions read_profile(const std::filesystem::path& file) {
  return parse_profile(read_text(file), file.string());
}

}  // namespace

AnalyticOptions named_profile(const std::string& named) { return read_profile(profile_file(named)); }

std::unique_ptr<CostModel> analytic_cost(const std::string& named) {
  const auto file = profile_file(named);
  return std::make_unique<AnalyticCost>(read_profile(file), file.stem().string());
}

AnalyticOptions fitted_to(const std::string& runtime) {
  const bool fitted = runtime == "onnxruntime" || runtime == "libtorch";
  return fitted ? named_profile("cpu-" + runtime) : AnalyticOptions();
}

}  // namespace rlgo::cost
