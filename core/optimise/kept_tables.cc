#include "core/optimise/kept_tables.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"

namespace rlgo::optimise {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kWayOfTiming = 2;  // operators: tables of another way are not read (2: large weights are cold)

}  // namespace

fs::path load_costs(const fs::path& folder, cost::TableCost& table, const Log& log) {
  if (folder.empty()) return {};
  const auto& origin = table.origin();
  uint64_t hash = hash_string(origin.device, hash_string(origin.model));
  hash = hash_combine(hash_combine(hash, static_cast<uint64_t>(origin.threads)), kWayOfTiming);
  std::string name = origin.model;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.'; },
      '-');
  fs::path file = folder / fmt::format("{}-{}t-{:08x}.tsv", name, origin.threads, hash >> 32);
  std::error_code error;
  if (!fs::exists(file, error)) return file;
  try {
    table.load(file);
  } catch (const Error& e) {
    log.warn("{}; the table starts again", e.what());
  }
  return file;
}

void save_costs(const fs::path& file, const cost::TableCost& table, const Log& log) {
  if (file.empty()) return;
  try {
    make_writable_folder(file.parent_path());
    table.save(file);
  } catch (const Error& e) {
    log.warn("measured costs are not kept for the next call: {}", e.what());
  }
}

}  // namespace rlgo::optimise
