#include "core/report/sections.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/draw/layout.h"
#include "core/draw/svg.h"
#include "core/rules/rules.h"

namespace rlgo::report {
namespace {

constexpr size_t kMostBoxes = 5000;  // of a picture
constexpr size_t kFoldedAbove = 60;  // boxes of either graph: then both begin with their changes alone

bool same_inputs(const graph::Node& a, const graph::Node& b) { return std::ranges::equal(a.inputs, b.inputs); }

// Marks of `graph`'s nodes against `other`: ids live on through rewriting.
std::function<std::string_view(graph::NodeId)> marks(const graph::Graph& graph, const graph::Graph& other,
                                                     std::string_view gone) {
  return [&graph, &other, gone](graph::NodeId id) -> std::string_view {
    if (!other.contains(id)) return gone;
    return same_inputs(graph.node(id), other.node(id)) ? "" : "touched";
  };
}

// Or why there is no picture.
std::string drawn(const graph::Picture& picture, const std::function<bool()>& stop) {
  const auto instead = [](const std::string& why) { return fmt::format("<p>{}</p>\n", graph::xml_escaped(why)); };
  if (stop && stop()) return instead("Not drawn: rlgo was interrupted.");
  if (picture.boxes.size() > kMostBoxes)
    return instead(fmt::format("Not drawn: {} boxes, at most {} are.", picture.boxes.size(), kMostBoxes));
  try {
    return graph::to_svg(picture, {.style = false});
  } catch (const graph::TooLarge& e) {
    return instead(fmt::format("Not drawn: {}.", e.what()));
  }
}

std::string viewer(const graph::Graph& graph, const std::vector<double>& op_us, const graph::Graph& other,
                   std::string_view gone, std::string_view name, bool fold_first, const std::function<bool()>& stop) {
  graph::PictureOptions options;
  options.mark = marks(graph, other, gone);
  options.note = [&](graph::NodeId id) -> std::string {
    return !op_us.empty() && op_us[id] > 0 ? fmt::format("{:.1f} us", op_us[id]) : "";
  };
  const auto full = graph::picture(graph, options);
  options.only_marked = true;
  const auto changed = graph::picture(graph, options);
  std::string out = fmt::format(
      "<div class=\"viewer\"><div class=\"bar\"><b>{} ({} boxes)</b><button data-do=\"toggle\" data-first=\"{}\" "
      "data-other=\"{}\">{}</button>",
      name, full.boxes.size(), fold_first ? "only changes" : "everything", fold_first ? "everything" : "only changes",
      fold_first ? "everything" : "only changes");
  out +=
      "<button data-do=\"in\">+</button><button data-do=\"out\">-</button><button "
      "data-do=\"fit\">fit</button></div>\n<div class=\"canvas\">\n";
  out += drawn(fold_first ? changed : full, stop);
  out += drawn(fold_first ? full : changed, stop);
  return out + "</div></div>\n";
}

struct Sum {
  int before = 0, after = 0;
  double before_us = 0, after_us = 0;
};

void count(const graph::Graph& graph, const std::vector<double>& op_us, int Sum::*number, double Sum::*us,
           std::map<std::string, Sum>& rows) {
  for (const auto id : graph.order()) {
    const auto& node = graph.node(id);
    if (node.constant || node.op() == ops::Op::input) continue;
    Sum& row = rows[node.info->opaque ? node.info->opaque->op_type : std::string(ops::name(node.op()))];
    ++(row.*number);
    if (!op_us.empty()) row.*us += op_us[id];
  }
}

std::string_view proof_text(rules::Proof proof) {
  switch (proof) {
    case rules::Proof::proved:
      return "proved";
    case rules::Proof::tested:
      return "tested numerically on random shapes and inputs";
    default:
      return "not proved";
  }
}

std::string signed_us(double us) { return fmt::format("{:+.1f}", us); }

}  // namespace

void add_graphs(Page& page, const Evidence& evidence) {
  page.section("Graphs before and after");
  page.raw(
      "<p class=\"legend\"><span><i style=\"background:#fbd3cf\"></i>goes away</span><span><i "
      "style=\"background:#c9f0cf\"></i>new</span>"
      "<span><i style=\"border:2px solid #b36b00\"></i>has other inputs</span><span><i "
      "style=\"background:#d6e6f7\"></i>convolution, matrix product</span>"
      "<span><i style=\"background:#ddd\"></i>kept as it is (unknown to rlgo)</span></p>\n"
      "<p>Wheel scrolls, Ctrl + wheel zooms, dragging moves; a click on an operator describes it. Weights are part "
      "of the operators that read them.</p>\n");
  const bool fold = std::max(graph::picture(evidence.before).boxes.size(),
                             graph::picture(evidence.after).boxes.size()) > kFoldedAbove;
  page.raw("<div class=\"pair\">\n" +
           viewer(evidence.before, evidence.before_op_us, evidence.after, "removed", "before", fold, evidence.stop) +
           viewer(evidence.after, evidence.after_op_us, evidence.before, "added", "after", fold, evidence.stop) +
           "</div>\n<pre id=\"picked\"></pre>\n");
}

void add_operators(Page& page, const Evidence& evidence) {
  page.section("Costs by operator");
  std::map<std::string, Sum> sums;
  const bool priced = !evidence.before_op_us.empty() && !evidence.after_op_us.empty();
  count(evidence.before, evidence.before_op_us, &Sum::before, &Sum::before_us, sums);
  count(evidence.after, evidence.after_op_us, &Sum::after, &Sum::after_us, sums);
  std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.before_us > b.second.before_us; });
  std::vector<Row> rows;
  Sum all;
  for (const auto& [name, sum] : order) {
    rows.push_back({name, fmt::format("{}", sum.before), fmt::format("{}", sum.after)});
    if (priced)
      rows.back().insert(rows.back().end(), {fmt::format("{:.1f}", sum.before_us), fmt::format("{:.1f}", sum.after_us),
                                             signed_us(sum.after_us - sum.before_us)});
    all = {all.before + sum.before, all.after + sum.after, all.before_us + sum.before_us, all.after_us + sum.after_us};
  }
  rows.push_back({"sum", fmt::format("{}", all.before), fmt::format("{}", all.after)});
  if (priced)
    rows.back().insert(rows.back().end(), {fmt::format("{:.1f}", all.before_us), fmt::format("{:.1f}", all.after_us),
                                           signed_us(all.after_us - all.before_us)});
  Row header = {"operator", "before", "after"};
  if (priced) header.insert(header.end(), {"us before", "us after", "us change"});
  page.paragraph(priced ? "Costs: " + evidence.cost_name + "." : "How many; their costs are not known here.");
  page.table(header, rows);
}

void add_rewrites(Page& page, const Evidence& evidence) {
  page.section("Rewrites");
  if (evidence.trace.empty()) {
    page.paragraph("None.");
    return;
  }
  std::vector<Row> rows;
  std::map<int32_t, int> used;
  double last_us = evidence.before_us;
  for (size_t k = 0; k < evidence.trace.size(); ++k) {
    const auto& step = evidence.trace[k];
    ++used[step.rule];
    rows.push_back({fmt::format("{}", k + 1), evidence.rules->name(step.rule), fmt::format("{}", step.location)});
    if (k < evidence.step_us.size()) {
      rows.back().insert(rows.back().end(),
                         {fmt::format("{:.1f}", evidence.step_us[k]), signed_us(evidence.step_us[k] - last_us)});
      last_us = evidence.step_us[k];
    }
    rows.back().emplace_back(proof_text(evidence.rules->proof(step.rule)));
  }
  Row header = {"", "rule", "location"};
  if (!evidence.step_us.empty()) header.insert(header.end(), {"cost after, us", "change, us"});
  header.emplace_back("the rule is");
  page.table(header, rows);
  page.paragraph("The rules that were used:");
  for (const auto& [rule, times] : used) {
    const std::string name[] = {evidence.rules->name(rule)};
    page.folded(fmt::format("{} ({} times, {})", name[0], times, proof_text(evidence.rules->proof(rule))),
                evidence.rules->subset(name)->to_text());
  }
}

std::vector<double> prices_of(cost::CostModel& cost, const graph::Graph& graph) {
  std::vector<double> out(static_cast<size_t>(graph.id_bound()), 0.0);
  try {
    for (const auto id : graph.order()) out[id] = cost::node_cost(cost, graph, id).runtime_us;
  } catch (const Error&) {
    out.clear();
  }
  return out;
}

std::string to_html(const Evidence& evidence) {
  Page page(evidence.title);
  page.raw(fmt::format("<p class=\"verdict\">{}</p>\n", graph::xml_escaped(evidence.verdict)));
  page.figures(evidence.figures);
  if (!evidence.charts.empty()) {
    page.section("Curves");
    page.raw(to_svg(evidence.charts));
  }
  for (const auto& [heading, table] : evidence.tables) {
    page.section(heading);
    page.table(table.at(0), {table.begin() + 1, table.end()});
  }
  add_operators(page, evidence);
  add_rewrites(page, evidence);
  add_graphs(page, evidence);
  page.section("Equivalence");
  page.table({"check", "result"}, evidence.equivalence);
  if (!evidence.normalised.empty()) {
    page.section("Normalisations");
    page.table({"what", "how much"}, evidence.normalised);
    if (!evidence.changes.empty()) {
      page.folded(fmt::format("what the import did without, {} in all", evidence.changes.size()),
                  join(evidence.changes, "\n"));
    }
  }
  page.section("Environment");
  page.table({"", ""}, evidence.environment);
  if (!evidence.log.empty()) page.folded("as it was printed", evidence.log);
  return page.html();
}

}  // namespace rlgo::report
