#include <algorithm>

#include "core/base/error.h"
#include "replay/part.h"

namespace rlgo::replay {
namespace {

// Each kind of rows must have one length in all its datasets.
void check_shapes(const h5::Reader& file, const mdp::ObservationSpec& spec) {
  int64_t lengths[6] = {-1, -1, -1, -1, -1, -1};
  Columns columns;
  for_each_column(columns, [&](auto& values, const ColumnInfo& column) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    const std::string name(column.name);
    const uint64_t width = width_of(column.width, spec);
    if (column.width != Width::none && width == 0) return;
    const h5::Info about = file.info(name);
    if (about.type != h5::type_of<T>()) {
      fail("{}: '{}': holds {}, not {}", file.path().string(), name, h5::name(about.type), h5::name(h5::type_of<T>()));
    }
    const bool fits = about.shape.size() == (width == 0 ? 1u : 2u) && (width == 0 || about.shape[1] == width) &&
                      about.shape[0] >= (column.offsets ? 1u : 0u);
    if (!fits) fail("{}: '{}': its shape does not fit the schema", file.path().string(), name);
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
void read_rows(const h5::Reader& file, const std::string& name, uint64_t width, int64_t first, int64_t count,
               std::vector<T>& out) {
  out.resize(static_cast<uint64_t>(count) * std::max<uint64_t>(width, 1));
  file.rows(name, h5::type_of<T>(), static_cast<uint64_t>(first), static_cast<uint64_t>(count), out.data());
}

}  // namespace

PartReader::PartReader(const std::filesystem::path& path, bool sealed_already)
    : file_(path, kPartKind, sealed_already), header_(read_header(file_)), rules_(file_.strings("rule_names")) {
  check_shapes(file_, header_.spec);
  step_offset_ = file_.all<int64_t>("episodes/step_offset");
  const auto steps = static_cast<int64_t>(file_.info("steps/xfer").shape[0]);
  if (step_offset_.front() != 0 || step_offset_.back() != steps) fail("{}: step offsets out of order", path.string());
  rebase(step_offset_, steps, path.string() + ": episodes/step_offset");
}

int64_t PartReader::steps(int64_t episode) const {
  if (episode < 0 || episode >= episodes()) fail("{}: episode {} of {}", path().string(), episode, episodes());
  return step_offset_[static_cast<size_t>(episode) + 1] - step_offset_[static_cast<size_t>(episode)];
}

Columns PartReader::slice(int64_t episode, int64_t first, int64_t count) const {
  const int64_t step = step_offset_[static_cast<size_t>(episode)] + first;
  int64_t start[6] = {episode, step, step + episode, 0, 0, 0};
  int64_t length[6] = {1, count, count + 1, 0, 0, 0};
  Columns c;
  const auto offsets = [&](std::vector<int64_t>& values, const std::string& name, const std::string& data, Rows into) {
    read_rows(file_, name, 0, start[2], length[2] + 1, values);
    const auto rows = static_cast<int64_t>(file_.info(data).shape[0]);
    start[static_cast<size_t>(into)] = values.front();
    length[static_cast<size_t>(into)] = values.back() - values.front();
    rebase(values, rows, path().string() + ": " + name);
  };
  offsets(c.node_offset, "observations/node_offset", "nodes/op", Rows::nodes);
  offsets(c.edge_offset, "observations/edge_offset", "edges/src", Rows::edges);
  offsets(c.location_offset, "observations/location_offset", "locations/node", Rows::locations);
  c.step_offset = {0, count};
  for_each_column(c, [&](auto& values, const ColumnInfo& column) {
    const uint64_t width = width_of(column.width, header_.spec);
    if (column.offsets || (column.width != Width::none && width == 0)) return;
    const auto rows = static_cast<size_t>(column.rows);
    read_rows(file_, std::string(column.name), width, start[rows], length[rows], values);
  });
  return c;
}

mdp::Trajectory PartReader::read(int64_t episode) const { return read(episode, 0, steps(episode)); }

mdp::Trajectory PartReader::read(int64_t episode, int64_t first, int64_t count) const {
  const int64_t available = steps(episode);
  if (first < 0 || count < 0 || first > available || count > available - first) {
    fail("{}: steps {} to {} of an episode of {}", path().string(), first, first + count, available);
  }
  const Columns columns = slice(episode, first, count);
  mdp::Trajectory t;
  try {
    t = to_trajectory(columns, rules_, header_.spec);
  } catch (const Error& error) {
    throw error.in(fmt::format("{}: episode {}", path().string(), episode));
  }
  if (first + count < available) {
    t.terminal = false;
    std::vector<float> value;
    read_rows(file_, "steps/value_xfer", 0, step_offset_[static_cast<size_t>(episode)] + first + count, 1, value);
    t.last_value_xfer = value[0];
  }
  return t;
}

Columns PartReader::facts() const {
  Columns c;
  const auto read = [&](auto& values, const ColumnInfo& column) {
    const auto rows = column.rows == Rows::steps ? steps() : episodes() + (column.offsets ? 1 : 0);
    read_rows(file_, std::string(column.name), 0, 0, rows, values);
  };
  for_each_episode_column(c, read);
  for_each_step_column(c, read);
  return c;
}

}  // namespace rlgo::replay
