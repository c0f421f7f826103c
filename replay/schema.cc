#include "replay/schema.h"

#include "core/base/error.h"

namespace rlgo::replay {
namespace {

std::string_view symbol(Rows rows) {
  switch (rows) {
    case Rows::episodes:
      return "P";
    case Rows::steps:
      return "S";
    case Rows::observations:
      return "O";
    case Rows::code:
      return "B";
    case Rows::starts:
      return "R";
  }
  fail("no rows {}", static_cast<int>(rows));
}

}  // namespace

uint64_t Columns::size_bytes() const {
  uint64_t sum = 0;
  for_each_column(*this, [&](const auto& values, const ColumnInfo&) { sum += values.size() * sizeof(values[0]); });
  return sum;
}

std::string schema_markdown() {
  std::string text = "| dataset | type | shape | unit | meaning |\n|---|---|---|---|---|\n";
  Columns columns;
  for_each_column(columns, [&](auto& values, const ColumnInfo& column) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    text += fmt::format("| `{}` | {} | [{}{}] | {} | {} |\n", column.name, h5::name(h5::type_of<T>()),
                        symbol(column.rows), column.offsets ? "+1" : "", column.unit, column.meaning);
  });
  return text;
}

void write_header(h5::Writer& file, const StoreHeader& header) {
  const auto& spec = header.spec;
  if (spec.rule_names.size() != static_cast<size_t>(spec.rules)) {
    fail("rollout store: {} names for {} rules", spec.rule_names.size(), spec.rules);
  }
  file.attribute("format", kFormat);
  file.attribute("version", kVersion);
  file.attribute("coding", kCoding);
  file.attribute("seed", header.seed);
  file.attribute("graph", header.graph);
  file.attribute("git_revision", header.git_revision);
  file.attribute("rule_set_hash", header.rule_set_hash);
  file.attribute("reward", header.reward);
  file.attribute("spec_hash", spec.hash());
  file.attribute("ops", int64_t{spec.ops});
  file.attribute("node_features", int64_t{spec.node_features});
  file.attribute("edge_features", int64_t{spec.edge_features});
  file.attribute("global_features", int64_t{spec.global_features});
  file.attribute("xfers", int64_t{spec.rules});
  file.attribute("max_locations", int64_t{spec.max_locations});
  file.attribute("location_features", int64_t{spec.location_features});
  file.put_strings("xfer_names", spec.rule_names);
}

StoreHeader read_header(const h5::Reader& file) {
  const std::string path = file.path().string();
  if (const auto format = file.attribute_text("format"); format != kFormat)
    fail("{}: format '{}', not '{}'", path, format, kFormat);
  const auto version = file.attribute_int("version");
  if (version < kOldest || version > kVersion) {
    fail("{}: version {} of the rollout format; this program reads versions {} to {}{}", path, version, kOldest,
         kVersion, version == 1 ? "; results/rlgo_results reads all" : "");
  }
  if (const auto coding = file.attribute_text("coding"); coding != kCoding) {
    fail("{}: observations are coded as '{}'; this program reads '{}'", path, coding, kCoding);
  }
  StoreHeader header;
  header.seed = file.attribute_uint("seed");
  header.graph = file.attribute_text("graph");
  header.git_revision = file.attribute_text("git_revision");
  header.rule_set_hash = file.attribute_text("rule_set_hash");
  header.reward = file.attribute_text("reward");
  auto& spec = header.spec;
  spec.ops = static_cast<int32_t>(file.attribute_int("ops"));
  spec.node_features = static_cast<int32_t>(file.attribute_int("node_features"));
  spec.edge_features = static_cast<int32_t>(file.attribute_int("edge_features"));
  spec.global_features = static_cast<int32_t>(file.attribute_int("global_features"));
  spec.rules = static_cast<int32_t>(file.attribute_int("xfers"));
  spec.max_locations = static_cast<int32_t>(file.attribute_int("max_locations"));
  if (version >= 3) spec.location_features = static_cast<int32_t>(file.attribute_int("location_features"));
  spec.rule_names = file.strings("xfer_names");
  if (file.attribute_uint("spec_hash") != spec.hash()) fail("{}: the observation spec does not match its hash", path);
  return header;
}

}  // namespace rlgo::replay
