#include "learner/checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "replay/h5.h"

namespace rlgo::learner {
namespace fs = std::filesystem;
namespace h5 = replay::h5;
namespace {

constexpr std::string_view kKind = "checkpoint";
constexpr std::string_view kFormat = "rlgo-checkpoint";
constexpr int64_t kVersion = 2;  // 1: agents that did not know what locations cost

struct DtypeRow {
  std::string_view name;
  h5::Type stored;
};
constexpr std::array<DtypeRow, 10> kDtypes = {{{"float64", h5::Type::f64},
                                               {"float32", h5::Type::f32},
                                               {"float16", h5::Type::u16},
                                               {"bfloat16", h5::Type::u16},
                                               {"int64", h5::Type::i64},
                                               {"int32", h5::Type::i32},
                                               {"int16", h5::Type::i16},
                                               {"int8", h5::Type::i8},
                                               {"uint8", h5::Type::u8},
                                               {"bool", h5::Type::u8}}};

h5::Type stored_type(const std::string& dtype, const std::string& place) {
  for (const auto& row : kDtypes) {
    if (row.name == dtype) return row.stored;
  }
  fail("{}: unknown tensor type '{}'", place, dtype);
}

template <typename Value>
std::vector<std::string> names_of(const std::map<std::string, Value>& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

void put_tensors(h5::Writer& file, const std::map<std::string, TensorData>& tensors) {
  std::vector<std::string> dtypes;
  for (const auto& [name, tensor] : tensors) {
    const h5::Type type = stored_type(tensor.dtype, "checkpoint: tensor " + name);
    uint64_t size = h5::size_bytes(type);
    std::vector<uint64_t> shape;
    for (int64_t dim : tensor.shape) {
      if (dim < 0) fail("checkpoint: tensor '{}': negative dimension {}", name, dim);
      shape.push_back(static_cast<uint64_t>(dim));
      size *= static_cast<uint64_t>(dim);
    }
    if (size != tensor.bytes.size())
      fail("checkpoint: tensor '{}': {} bytes, its shape needs {}", name, tensor.bytes.size(), size);
    file.put("tensors/" + name, type, shape, tensor.bytes.data());
    dtypes.push_back(tensor.dtype);
  }
  file.put_strings("tensor_names", names_of(tensors));
  file.put_strings("tensor_dtypes", dtypes);
}

std::map<std::string, TensorData> get_tensors(const h5::Reader& file) {
  const auto names = file.strings("tensor_names");
  const auto dtypes = file.strings("tensor_dtypes");
  if (names.size() != dtypes.size())
    fail("{}: {} tensors, {} types", file.path().string(), names.size(), dtypes.size());
  std::map<std::string, TensorData> tensors;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string place = "tensors/" + names[i];
    const h5::Info about = file.info(place);
    const h5::Type type = stored_type(dtypes[i], file.path().string() + ": " + place);
    TensorData tensor{dtypes[i], {about.shape.begin(), about.shape.end()}, {}};
    uint64_t size = h5::size_bytes(type);
    for (uint64_t dim : about.shape) size *= dim;
    tensor.bytes.resize(size);
    file.rows(place, type, 0, about.shape.empty() ? 1 : about.shape[0], tensor.bytes.data());
    tensors.emplace(names[i], std::move(tensor));
  }
  return tensors;
}

// A map of plain values as two datasets, group/name and group/value.
template <typename Value>
void put_values(h5::Writer& file, const std::string& group, const std::map<std::string, Value>& map) {
  std::vector<Value> values;
  for (const auto& [name, value] : map) values.push_back(value);
  file.put_strings(group + "/name", names_of(map));
  file.put(group + "/value", std::span<const Value>(values));
}

template <typename Value>
std::map<std::string, Value> get_values(const h5::Reader& file, const std::string& group) {
  const auto names = file.strings(group + "/name");
  const auto values = file.all<Value>(group + "/value");
  if (names.size() != values.size())
    fail("{}: '{}': {} names, {} values", file.path().string(), group, names.size(), values.size());
  std::map<std::string, Value> map;
  for (size_t i = 0; i < names.size(); ++i) map.emplace(names[i], values[i]);
  return map;
}

void put_streams(h5::Writer& file, const std::map<std::string, Rng::State>& streams) {
  std::vector<uint64_t> words;
  for (const auto& [name, state] : streams) words.insert(words.end(), state.begin(), state.end());
  file.put_strings("streams/name", names_of(streams));
  const std::array<uint64_t, 2> shape = {streams.size(), std::tuple_size_v<Rng::State>};
  file.put("streams/value", h5::Type::u64, shape, words.data());
}

std::map<std::string, Rng::State> get_streams(const h5::Reader& file) {
  const auto names = file.strings("streams/name");
  const auto words = file.all<uint64_t>("streams/value");
  constexpr size_t kWords = std::tuple_size_v<Rng::State>;
  if (words.size() != names.size() * kWords)
    fail("{}: {} random streams, {} words", file.path().string(), names.size(), words.size());
  std::map<std::string, Rng::State> streams;
  for (size_t i = 0; i < names.size(); ++i)
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(i * kWords), kWords, streams[names[i]].begin());
  return streams;
}

constexpr std::string_view kStem = "checkpoint-";

fs::path path_of(const fs::path& folder, int64_t number) { return folder / fmt::format("{}{:08}.h5", kStem, number); }

// Numbers of the checkpoints in a folder, highest first.
std::vector<int64_t> numbers_in(const fs::path& folder) {
  std::vector<int64_t> numbers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kStem) || !name.ends_with(".h5")) continue;
    const auto number = parse_int(std::string_view(name).substr(kStem.size(), name.size() - kStem.size() - 3));
    if (number && path_of(folder, *number) == entry.path()) numbers.push_back(*number);
  }
  std::sort(numbers.rbegin(), numbers.rend());
  return numbers;
}

// The score of a checkpoint; nothing where it has none or is broken.
std::optional<double> score_of(const fs::path& path) {
  try {
    const h5::Reader file(path, kKind);
    const auto numbers = get_values<double>(file, "numbers");
    const auto found = numbers.find("score");
    if (found == numbers.end() || std::isnan(found->second)) return {};
    return found->second;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

void declare(OptionSink& o, CheckpointOptions& checkpoint) {
  o.integer("checkpoint.every", checkpoint.every, 1, kNoLimit, "epochs between checkpoints");
  o.integer("checkpoint.keep", checkpoint.keep, 1, 1000, "checkpoints kept");
}

void save(const Checkpoint& checkpoint, const fs::path& path) {
  h5::Writer file("checkpoint");
  file.attribute("format", kFormat);
  file.attribute("version", kVersion);
  put_tensors(file, checkpoint.tensors);
  // An attribute: it is about files, and the state of a run that was stopped is that of one that was not.
  auto texts = checkpoint.texts;
  if (const auto own = texts.extract(kOwnCheckpoints)) file.attribute(kOwnCheckpoints, own.mapped());
  file.put_strings("text_names", names_of(texts));
  for (const auto& [name, text] : texts) {
    const uint64_t size = text.size();
    file.put("texts/" + name, h5::Type::u8, {&size, 1}, text.data());
  }
  put_values(file, "counters", checkpoint.counters);
  put_values(file, "numbers", checkpoint.numbers);
  put_streams(file, checkpoint.streams);
  file.save(path, kKind);
}

Checkpoint load(const fs::path& path) {
  const h5::Reader file(path, kKind);
  if (const auto format = file.attribute_text("format"); format != kFormat)
    fail("{}: format '{}', not '{}'", path.string(), format, kFormat);
  if (const auto version = file.attribute_int("version"); version != kVersion) {
    fail("{}: version {} of the checkpoint format; this program reads version {}", path.string(), version, kVersion);
  }
  Checkpoint checkpoint;
  checkpoint.tensors = get_tensors(file);
  for (const auto& name : file.strings("text_names")) {
    const auto bytes = file.all<uint8_t>("texts/" + name);
    checkpoint.texts.emplace(name, std::string(bytes.begin(), bytes.end()));
  }
  try {
    checkpoint.texts[kOwnCheckpoints] = file.attribute_text(kOwnCheckpoints);
  } catch (const Error&) {
    checkpoint.texts.erase(kOwnCheckpoints);  // of an earlier version, or no run's
  }
  checkpoint.counters = get_values<int64_t>(file, "counters");
  checkpoint.numbers = get_values<double>(file, "numbers");
  checkpoint.streams = get_streams(file);
  return checkpoint;
}

Latest latest(const fs::path& folder) {
  Latest result;
  for (int64_t number : numbers_in(folder)) {
    const fs::path path = path_of(folder, number);
    try {
      result.checkpoint = load(path);
      result.path = path;
      result.number = number;
      return result;
    } catch (const Error& error) {
      result.refused.push_back({path, error.what()});
    }
  }
  return result;
}

CheckpointFolder::CheckpointFolder(fs::path folder, int keep_last, const std::map<std::string, std::string>& before)
    : folder_(std::move(folder)), keep_last_(keep_last) {
  if (keep_last < 1) fail("checkpoints: {} to keep, at least 1 is needed", keep_last);
  make_writable_folder(folder_);
  remove_stale_temporaries(folder_, kStem);
  const auto own = before.find(kOwnCheckpoints);
  if (own == before.end()) return;
  for (const auto& word : split(own->second, ',')) {
    if (const auto number = parse_int(word); number && fs::exists(path_of(folder_, *number))) own_.insert(*number);
  }
}

fs::path CheckpointFolder::save(Checkpoint checkpoint, int64_t number, std::optional<double> score) const {
  if (number < 0) fail("checkpoints: number {}", number);
  if (score) checkpoint.numbers["score"] = *score;
  const fs::path path = path_of(folder_, number);
  own_.insert(number);
  std::string& own = checkpoint.texts[kOwnCheckpoints];
  for (const int64_t one : own_) own += (own.empty() ? "" : ",") + std::to_string(one);
  learner::save(checkpoint, path);
  scores_[number] = score && !std::isnan(*score) ? score : std::nullopt;
  const auto keep = best();
  const std::vector<int64_t> oldest_first(own_.begin(), own_.end());
  for (size_t i = 0; i + static_cast<size_t>(keep_last_) < oldest_first.size(); ++i) {
    const fs::path old = path_of(folder_, oldest_first[i]);
    std::error_code ignored;
    if (old == keep) continue;
    fs::remove(old, ignored);
    own_.erase(oldest_first[i]);
  }
  return path;
}

std::optional<double> CheckpointFolder::score_of(int64_t number) const {
  const auto known = scores_.find(number);
  if (known != scores_.end()) return known->second;
  return scores_[number] = learner::score_of(path_of(folder_, number));
}

namespace {
// The path of the checkpoint with the lowest score, by number -> score or nothing.
template <typename ScoreOf>
std::optional<fs::path> lowest(const fs::path& folder, ScoreOf&& score_of) {
  std::optional<fs::path> found;
  double least = 0;
  for (int64_t number : numbers_in(folder)) {
    const std::optional<double> score = score_of(number);
    if (!score || (found && *score >= least)) continue;
    found = path_of(folder, number);
    least = *score;
  }
  return found;
}
}  // namespace

std::optional<fs::path> CheckpointFolder::best() const {
  return lowest(folder_, [this](int64_t number) { return score_of(number); });
}

std::optional<fs::path> best_checkpoint(const fs::path& folder) {
  return lowest(folder, [&](int64_t number) { return score_of(path_of(folder, number)); });
}

Checkpoint best_or_latest(const std::filesystem::path& folder) {
  if (const auto best = best_checkpoint(folder)) return load(*best);
  auto newest = latest(folder);
  if (!newest.checkpoint) fail("{}: has no valid checkpoint", folder.string());
  return std::move(*newest.checkpoint);
}

}  // namespace rlgo::learner
