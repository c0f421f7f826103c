#include "core/base/error.h"
#include "core/base/text.h"
#include "replay/part.h"

namespace rlgo::replay {
namespace {

constexpr uint64_t kSpillBytes = 64 << 20;  // bounds the memory of a large part (compaction); ordinary parts stay below

std::string place(const mdp::Trajectory& t) { return fmt::format("episode {} of rank {}", t.episode, t.rank); }

}  // namespace

PartWriter::PartWriter(std::string label, const StoreHeader& header, int gzip)
    : header_(header), spec_hash_(header.spec.hash()), gzip_(gzip), file_(std::move(label)) {
  write_header(file_, header_);
}

void PartWriter::check_spec(const mdp::Trajectory& facts) const {
  if (facts.spec_hash != spec_hash_)
    fail("{}: its observation spec {} is not the store's {}", place(facts), hex(facts.spec_hash), hex(spec_hash_));
}

void PartWriter::add(const mdp::Trajectory& trajectory) {
  check_spec(trajectory);
  const auto check = [&](const mdp::Observation& observation, size_t step) {
    try {
      mdp::check(observation, header_.spec);
    } catch (const Error& error) {
      throw error.in(fmt::format("{}: observation {}", place(trajectory), step));
    }
  };
  for (size_t i = 0; i < trajectory.steps.size(); ++i) check(trajectory.steps[i].observation, i);
  check(trajectory.last, trajectory.steps.size());
  add(trajectory, mdp::code_observations(trajectory));
}

void PartWriter::add(const mdp::CodedTrajectory& trajectory) {
  check_spec(trajectory.facts);
  add(trajectory.facts, trajectory.observations);
}

void PartWriter::add(const mdp::Trajectory& facts, const mdp::ObservationCodes& observations) {
  RLGO_CHECK(!complete_);
  appender_.append(pending_, facts, observations, rules_);
  ++episodes_;
  if (pending_.size_bytes() > kSpillBytes) spill();
}

void PartWriter::spill() {
  const int64_t new_rows[kKindsOfRows] = {
      static_cast<int64_t>(pending_.seed.size()), static_cast<int64_t>(pending_.rule.size()),
      static_cast<int64_t>(pending_.base.size()), static_cast<int64_t>(pending_.code.size()),
      static_cast<int64_t>(pending_.start_rule.size())};
  const auto rebase = [&](std::vector<int64_t>& offsets, Rows into) {
    for (auto& offset : offsets) offset += totals_[static_cast<size_t>(into)];
    if (!first_spill_) offsets.erase(offsets.begin());
  };
  raw_bytes_ += pending_.size_bytes();
  rebase(pending_.step_offset, Rows::steps);
  rebase(pending_.code_offset, Rows::code);
  rebase(pending_.start_offset, Rows::starts);
  for_each_column(pending_, [&](auto& values, const ColumnInfo& column) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    const h5::Filters filters{.gzip = gzip_, .shuffle = column.rows != Rows::code};
    file_.append(std::string(column.name), h5::type_of<T>(), 0, values.size(), values.data(), filters);
  });
  for (size_t i = 0; i < kKindsOfRows; ++i) totals_[i] += new_rows[i];
  pending_ = Columns();
  first_spill_ = false;
}

void PartWriter::complete() {
  if (complete_) return;
  if (first_spill_ || !pending_.seed.empty()) spill();
  file_.put_strings("rule_names", rules_.names());
  complete_ = true;
}

uint64_t PartWriter::save(const std::filesystem::path& path) {
  complete();
  return file_.save(path, kPartKind);
}

uint64_t PartWriter::create(const std::filesystem::path& path) {
  complete();
  return file_.create(path, kPartKind);
}

}  // namespace rlgo::replay
