#include <algorithm>

#include "core/base/error.h"
#include "core/codec/observation_code.h"
#include "replay/part.h"

namespace rlgo::replay {
namespace {

// Each kind of rows must have one length in all its datasets.
void check_shapes(const h5::Reader& file) {
  int64_t lengths[kKindsOfRows] = {-1, -1, -1, -1, -1};
  const auto version = file.attribute_int("version");
  Columns columns;
  for_each_column(columns, [&](auto& values, const ColumnInfo& column) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    if (column.since > version) return;
    const std::string name(column.name);
    const h5::Info about = file.info(name);
    if (about.type != h5::type_of<T>()) {
      fail("{}: '{}': holds {}, not {}", file.path().string(), name, h5::name(about.type), h5::name(h5::type_of<T>()));
    }
    if (about.shape.size() != 1 || about.shape[0] < (column.offsets ? 1u : 0u))
      fail("{}: '{}': its shape does not fit the schema", file.path().string(), name);
    const auto rows = static_cast<int64_t>(about.shape[0]) - (column.offsets ? 1 : 0);
    auto& length = lengths[static_cast<size_t>(column.rows)];
    if (length >= 0 && length != rows)
      fail("{}: '{}': {} rows, {} in other datasets", file.path().string(), name, rows, length);
    length = rows;
  });
  if (lengths[2] != lengths[0] + lengths[1])
    fail("{}: {} observations, not steps + episodes", file.path().string(), lengths[2]);
}

// Makes offsets start at 0; throws where they run backwards or past `rows`.
void rebase(std::vector<int64_t>& offsets, int64_t rows, const std::string& place) {
  const int64_t base = offsets.front();
  if (base < 0 || offsets.back() > rows || !std::is_sorted(offsets.begin(), offsets.end()))
    fail("{}: offsets out of order", place);
  for (auto& offset : offsets) offset -= base;
}

template <typename T>
void read_rows(const h5::Reader& file, const std::string& name, int64_t first, int64_t count, std::vector<T>& out) {
  out.resize(static_cast<uint64_t>(count));
  file.rows(name, h5::type_of<T>(), static_cast<uint64_t>(first), static_cast<uint64_t>(count), out.data());
}

}  // namespace

PartReader::PartReader(const std::filesystem::path& path, bool checked_already)
    : file_(path, kPartKind, checked_already),
      version_(file_.attribute_int("version")),
      header_(read_header(file_)),
      rules_(file_.strings("rule_names")) {
  check_shapes(file_);
  step_offset_ = file_.all<int64_t>("episodes/step_offset");
  const auto steps = static_cast<int64_t>(file_.info("steps/xfer").shape[0]);
  if (step_offset_.front() != 0 || step_offset_.back() != steps) fail("{}: step offsets out of order", path.string());
  rebase(step_offset_, steps, path.string() + ": episodes/step_offset");
  if (version_ < 4) return;
  start_offset_ = file_.all<int64_t>("episodes/start_offset");
  rebase(start_offset_, static_cast<int64_t>(file_.info("starts/xfer").shape[0]),
         path.string() + ": episodes/start_offset");
}

int64_t PartReader::steps(int64_t episode) const {
  if (episode < 0 || episode >= episodes()) fail("{}: episode {} of {}", path().string(), episode, episodes());
  return step_offset_[static_cast<size_t>(episode) + 1] - step_offset_[static_cast<size_t>(episode)];
}

Columns PartReader::slice(int64_t episode, int64_t first, int64_t count) const {
  const int64_t step = step_offset_[static_cast<size_t>(episode)] + first;
  Columns c;
  const auto read = [&](auto& values, const ColumnInfo& column) {
    if (column.offsets || column.since > version_) return;
    const bool of_step = column.rows == Rows::steps;
    read_rows(file_, std::string(column.name), of_step ? step : episode, of_step ? count : 1, values);
  };
  for_each_episode_column(c, read);
  for_each_step_column(c, read);
  if (version_ < 5) {
    c.measured_ratio.assign(static_cast<size_t>(count), 0);
    c.measured_error = c.measured_ratio;
    c.timing.assign(static_cast<size_t>(count), 0);
  }
  if (version_ < 4) {
    c.graph = {0};
    c.place = c.location;
    return c;
  }
  const int64_t start = start_offset_[static_cast<size_t>(episode)];
  for_each_start_column(c, [&](auto& values, const ColumnInfo& column) {
    read_rows(file_, std::string(column.name), start, start_offset_[static_cast<size_t>(episode) + 1] - start, values);
  });
  return c;
}

mdp::Observation PartReader::decode(int64_t row, std::string_view code, const mdp::Observation* base) const {
  try {
    ByteReader in(code);
    auto observation = mdp::decode_observation(base, in);
    if (!in.done()) fail("bytes left over after its code");
    mdp::check(observation, header_.spec);
    return observation;
  } catch (const Error& error) {
    throw error.in(fmt::format("{}: observation {}", path().string(), row));
  }
}

const mdp::Observation& PartReader::first_observation() const {
  if (!first_) first_ = start_observation(0);
  return *first_;
}

mdp::Observation PartReader::start_observation(int64_t row) const {
  std::vector<int64_t> base, offset;
  read_rows(file_, "observations/base", row, 1, base);
  read_rows(file_, "observations/code_offset", row, 2, offset);
  const int64_t origin = offset.front();
  rebase(offset, static_cast<int64_t>(file_.info("observations/code").shape[0]),
         path().string() + ": observations/code_offset");
  if (base[0] != -1 && (base[0] != 0 || row == 0))
    fail("{}: observations/base: {} in row {}", path().string(), base[0], row);
  std::string code(static_cast<size_t>(offset.back()), '\0');
  file_.rows("observations/code", h5::Type::u8, static_cast<uint64_t>(origin), code.size(), code.data());
  return decode(row, code, base[0] == -1 ? nullptr : &first_observation());
}

std::vector<mdp::Observation> PartReader::observations(int64_t episode, int64_t first, int64_t count) const {
  // Rows of the episode, up to the last one that is wanted.
  const int64_t start = step_offset_[static_cast<size_t>(episode)] + episode, end = first + count;
  std::vector<int64_t> base, offset;
  read_rows(file_, "observations/base", start, end, base);
  int64_t from = first;
  while (from > 0 && base[static_cast<size_t>(from)] == start + from - 1) --from;
  read_rows(file_, "observations/code_offset", start + from, end - from + 1, offset);
  const int64_t origin = offset.front();
  rebase(offset, static_cast<int64_t>(file_.info("observations/code").shape[0]),
         path().string() + ": observations/code_offset");
  std::string code(static_cast<size_t>(offset.back()), '\0');
  file_.rows("observations/code", h5::Type::u8, static_cast<uint64_t>(origin), code.size(), code.data());
  std::vector<mdp::Observation> wanted;
  std::optional<mdp::Observation> before, started;  // the one before; the episode's first
  const auto base_of = [&](int64_t row, int64_t of) -> const mdp::Observation* {
    if (of == -1) return nullptr;
    if (of == row - 1 && before) return &*before;
    if (of >= row || (of != 0 && of != start)) fail("{}: observations/base: {} in row {}", path().string(), of, row);
    if (of == 0) return &first_observation();
    if (!started) started = start_observation(start);
    return &*started;
  };
  for (int64_t i = from; i < end; ++i) {
    const int64_t row = start + i;
    const auto at = static_cast<size_t>(offset[static_cast<size_t>(i - from)]),
               next = static_cast<size_t>(offset[static_cast<size_t>(i - from) + 1]);
    auto observation =
        decode(row, std::string_view(code).substr(at, next - at), base_of(row, base[static_cast<size_t>(i)]));
    if (i >= first) wanted.push_back(observation);
    before = std::move(observation);
  }
  return wanted;
}

mdp::Trajectory PartReader::read(int64_t episode) const { return read(episode, 0, steps(episode)); }

mdp::Trajectory PartReader::read(int64_t episode, int64_t first, int64_t count) const {
  const int64_t available = steps(episode);
  if (first < 0 || count < 0 || first > available || count > available - first) {
    fail("{}: steps {} to {} of an episode of {}", path().string(), first, first + count, available);
  }
  mdp::Trajectory t;
  try {
    t = to_trajectory(slice(episode, first, count), rules_);
  } catch (const Error& error) {
    throw error.in(fmt::format("{}: episode {}", path().string(), episode));
  }
  auto seen = observations(episode, first, count + 1);
  for (size_t i = 0; i < t.steps.size(); ++i) t.steps[i].observation = std::move(seen[i]);
  t.last = std::move(seen.back());
  if (first + count < available) {
    t.terminal = false;
    std::vector<float> value;
    read_rows(file_, "steps/value_xfer", step_offset_[static_cast<size_t>(episode)] + first + count, 1, value);
    t.last_value_rule = value[0];
  }
  return t;
}

Columns PartReader::facts() const {
  Columns c;
  const auto read = [&](auto& values, const ColumnInfo& column) {
    if (column.since > version_) return;
    const auto rows = column.rows == Rows::steps ? steps() : episodes() + (column.offsets ? 1 : 0);
    read_rows(file_, std::string(column.name), 0, rows, values);
  };
  for_each_episode_column(c, read);
  for_each_step_column(c, read);
  return c;
}

}  // namespace rlgo::replay
