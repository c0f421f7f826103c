#include "core/optimise/kept_tables.h"

#include <string>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/cost/table_file.h"

namespace rlgo::optimise {
namespace fs = std::filesystem;

fs::path load_costs(const fs::path& folder, cost::TableCost& table, const Log& log) {
  if (folder.empty()) return {};
  fs::path file = folder / (cost::file_stem(table.origin()) + ".tsv");
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
