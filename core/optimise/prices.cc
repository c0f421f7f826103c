#include "core/optimise/prices.h"

namespace rlgo::optimise {

Prices measured_prices(std::shared_ptr<cost::Runtime> runtime, const std::string& table) {
  Prices prices;
  prices.runtime = std::move(runtime);
  const cost::MeasuredCosts measured = prices.runtime->measure();
  prices.table = measured.table;
  prices.model = measured.model;
  prices.groups = std::dynamic_pointer_cast<measure::GroupCost>(measured.model);
  if (!table.empty()) prices.table->load(table);
  return prices;
}

}  // namespace rlgo::optimise
