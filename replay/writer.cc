#include "replay/writer.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file.h"
#include "replay/parts.h"

namespace rlgo::replay {
namespace fs = std::filesystem;
namespace {

// Only this writer's own, of processes that are gone: other writers, and compaction, may be at work in the same folder.
void remove_own_temporaries(const fs::path& folder, int writer) {
  const std::string prefix = fmt::format("part-{:03}-", writer);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.find(".tmp-") != std::string::npos && !is_temporary_in_use(entry.path()))
      fs::remove(entry.path(), error);
  }
}

}  // namespace

void declare(OptionSink& o, WriterOptions& store) {
  o.integer("store.episodes-per-part", store.episodes_per_part, 1, 1000000, "episodes in a part of the store");
  o.number("store.seconds-per-part", store.seconds_per_part, 0.1, 1e6, "longest time that a part stays open, s");
}

RolloutWriter::RolloutWriter(fs::path folder, StoreHeader header, WriterOptions options)
    : folder_(std::move(folder)), header_(std::move(header)), options_(options) {
  if (options_.episodes_per_part < 1)
    fail("rollout store: {} episodes per part, at least 1 is needed", options_.episodes_per_part);
  if (options_.gzip < 0 || options_.gzip > 9) fail("rollout store: gzip level {} outside [0, 9]", options_.gzip);
  make_writable_folder(folder_);
  remove_own_temporaries(folder_, options_.writer);
  const PartList list = list_parts(folder_);
  for (const auto* names : {&list.parts, &list.covered}) {
    for (const auto& name : *names) {
      if (name.writer == options_.writer) number_ = std::max(number_, name.last + 1);
    }
  }
}

RolloutWriter::~RolloutWriter() {
  try {
    close();
  } catch (const std::exception&) {
    // Nobody is left to inform; parts written earlier are whole.
  }
}

void RolloutWriter::append(const mdp::Trajectory& trajectory) { append_any(trajectory, trajectory); }
void RolloutWriter::append(const mdp::CodedTrajectory& trajectory) { append_any(trajectory, trajectory.facts); }

template <typename Any>
void RolloutWriter::append_any(const Any& trajectory, const mdp::Trajectory& facts) {
  if (closed_) fail("{}: the rollout store is closed", folder_.string());
  if (full_) flush();
  if (!part_) part_ = std::make_unique<PartWriter>("open rollout part", header_, options_.gzip);
  part_->add(trajectory);
  ++episodes_;
  steps_ += static_cast<int64_t>(facts.steps.size());
  if (part_->episodes() >= options_.episodes_per_part || part_->raw_bytes() >= options_.bytes_per_part) flush();
}

void RolloutWriter::tick(double now_seconds) {
  if (!part_ || part_->episodes() == 0 || options_.seconds_per_part <= 0) return;
  if (!opened_seconds_) opened_seconds_ = now_seconds;
  if (now_seconds - *opened_seconds_ >= options_.seconds_per_part) flush();
}

void RolloutWriter::flush() {
  if (!part_ || part_->episodes() == 0) return;
  full_ = true;  // until it is on disk
  // No part is ever replaced: where another process took the number, the next one serves.
  uint64_t bytes = 0;
  for (; bytes == 0; ++number_)
    bytes = part_->create(folder_ / PartName{options_.writer, number_, number_}.file_name());
  bytes_ += bytes;
  part_.reset();
  full_ = false;
  opened_seconds_.reset();
  ++parts_;
}

void RolloutWriter::close() {
  if (closed_) return;
  flush();
  closed_ = true;
}

}  // namespace rlgo::replay
