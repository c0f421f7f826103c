#include "core/base/error.h"
#include "replay/part.h"

namespace rlgo::replay {
namespace {

constexpr uint64_t kSpillBytes = 64 << 20;  // bounds the memory of a large part (compaction); ordinary parts stay below

}  // namespace

PartWriter::PartWriter(std::string label, const StoreHeader& header, int gzip)
    : header_(header), spec_hash_(header.spec.hash()), gzip_(gzip), file_(std::move(label)) {
  write_header(file_, header_);
}

void PartWriter::add(const mdp::Trajectory& trajectory) {
  RLGO_CHECK(!complete_);
  const auto& t = trajectory;
  const std::string place = fmt::format("episode {} of rank {}", t.episode, t.rank);
  if (t.spec_hash != spec_hash_) {
    fail("{}: its observation spec {:016x} is not the store's {:016x}", place, t.spec_hash, spec_hash_);
  }
  const auto check = [&](const mdp::Observation& observation, size_t step) {
    try {
      mdp::check(observation, header_.spec);
    } catch (const Error& error) {
      throw error.in(fmt::format("{}: observation {}", place, step));
    }
  };
  for (size_t i = 0; i < t.steps.size(); ++i) check(t.steps[i].observation, i);
  check(t.last, t.steps.size());
  append(pending_, t, rules_, coder_);
  ++episodes_;
  if (pending_.size_bytes() > kSpillBytes) spill();
}

void PartWriter::spill() {
  const int64_t new_rows[kKindsOfRows] = {
      static_cast<int64_t>(pending_.seed.size()), static_cast<int64_t>(pending_.xfer.size()),
      static_cast<int64_t>(pending_.base.size()), static_cast<int64_t>(pending_.code.size())};
  const auto rebase = [&](std::vector<int64_t>& offsets, Rows into) {
    for (auto& offset : offsets) offset += totals_[static_cast<size_t>(into)];
    if (!first_spill_) offsets.erase(offsets.begin());
  };
  raw_bytes_ += pending_.size_bytes();
  rebase(pending_.step_offset, Rows::steps);
  rebase(pending_.code_offset, Rows::code);
  for_each_column(pending_, [&](auto& values, const ColumnInfo& column) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    const h5::Filters filters{.gzip = gzip_, .shuffle = column.rows != Rows::code};
    file_.append(std::string(column.name), h5::type_of<T>(), 0, values.size(), values.data(), filters);
  });
  for (size_t i = 0; i < kKindsOfRows; ++i) totals_[i] += new_rows[i];
  pending_ = Columns();
  first_spill_ = false;
}

uint64_t PartWriter::save(const std::filesystem::path& path) {
  if (!complete_) {
    if (first_spill_ || !pending_.seed.empty()) spill();
    file_.put_strings("rule_names", rules_.names());
    complete_ = true;
  }
  return file_.save(path, kPartKind);
}

}  // namespace rlgo::replay
