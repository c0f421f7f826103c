// What a report shows, from either source: `rlgo optimise` or a training run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/cost/cost.h"
#include "core/draw/chart.h"
#include "core/graph/graph.h"
#include "core/report/page.h"
#include "core/rules/rules.h"
#include "core/search/search.h"

namespace rlgo::report {

struct Evidence {
  std::string title, verdict;
  std::vector<Row> figures;  // see Page::figures
  std::vector<Chart> charts;
  std::vector<std::pair<std::string, std::vector<Row>>> tables;  // heading; first row: names of the columns
  graph::Graph before, after;
  std::shared_ptr<const rules::RuleSet> rules;
  rules::Trace trace;           // makes `after` from `before`
  double before_us = 0;         // sum over operators
  std::vector<double> step_us;  // after each rewrite; may be empty
  std::string cost_name;
  std::vector<double> before_op_us, after_op_us;          // cost by node id; empty: not known
  std::vector<Row> equivalence, normalised, environment;  // name and text
  std::vector<std::string> changes;                       // what of the file the import did without, one line each
  std::string log;                                        // what was printed, "" for none
  std::function<bool()> stop;                             // true: no more pictures are drawn; may be empty
};

// cost.op_us of every node, by id. Nothing where an operator has no price.
std::vector<double> prices_of(cost::CostModel& cost, const graph::Graph& graph);

std::string to_html(const Evidence& evidence);  // a tile of the page

}  // namespace rlgo::report
