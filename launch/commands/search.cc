// rlgo search: rewrites graphs by search methods, side by side under one cost table.
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/status_line.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/optimise/json.h"
#include "core/optimise/judge.h"
#include "core/rules/rule_choice.h"
#include "core/rules/trace.h"
#include "core/search/clock.h"
#include "core/search/search.h"
#include "core/search/table.h"
#include "core/zoo/zoo.h"
#include "launch/commands/command.h"
#include "launch/model.h"
#include "launch/output.h"
#include "launch/problem.h"
#include "launch/signals.h"
#include "launch/target.h"

namespace rlgo::launch {
namespace fs = std::filesystem;
namespace {

constexpr const char* kUsage =
    "usage: rlgo search --graph G [--method M] [options]\n"
    "       rlgo search --graph G,H,... --methods taso,greedy,beam,... --csv out.csv [options]\n"
    "Graphs are zoo graphs, .onnx files, 'zoo' for resnet18, resnet50, inception_v3, squeezenet1_1 and bert, or\n"
    "'all' for every model of the zoo. Every method gets the same costs and the same limits (--budget, --seconds);\n"
    "Ctrl-C ends it with the best graph so far.\n";

struct SearchConfig {
  Problem run;  // what is rewritten, by which rules, at which costs
  search::Options search;
  std::vector<std::string> method, methods;
  double seconds = 0;  // of one search; 0: no limit
  std::string csv, curve, out;
  bool price_first = true;
  OutputOptions output;
};

void declare(Options& o, SearchConfig& c) {
  o.heading("Search");
  o.texts("method", c.method, fmt::format("one of {}; taso where none is given", join(search::names(), ", ")));
  o.texts("methods", c.methods, "several methods, separated by commas");
  o.number("seconds", c.seconds, 0, kInfinity,
           "end each search after this long, s, and then the shortening of its trace; 0: no limit");
  declare(o, c.search);
  o.flag("price-first", c.price_first,
         "with several methods and measured costs: run all once before the runs that count, "
         "so that no method spends its time on timing operators");
  o.text("csv", c.csv, "file for the table");
  o.text("curve", c.curve, "CSV file for the best cost against seconds and candidates");
  o.text("out", c.out, "folder for best.onnx and best.trace of each graph's best method, checked");
  declare(o, c.output);
  declare_problem(o, c.run);
  o.rest();
  declare_details(o, c.run);
  optimise::declare(o, c.run.check);
}

std::vector<std::string> methods_of(const SearchConfig& config) {
  if (!config.method.empty() && !config.methods.empty()) fail_usage("--method and --methods exclude one another");
  std::vector<std::string> methods = config.methods.empty() ? config.method : config.methods;
  if (methods.empty()) methods.push_back("taso");
  for (const auto& method : methods) {
    as_usage([&] { return search::gives_trace(method); });  // fails on an unknown one
  }
  return methods;
}

LoadedModel load_interruptibly(const ModelOptions& wanted) {
  const EndAtInterrupt interrupt;
  return load_model(wanted, true);
}

// The searches of one graph.
class GraphSearch {
 public:
  GraphSearch(SearchConfig config, std::shared_ptr<const rules::RuleSet> rules,
              std::shared_ptr<optimise::MeteredCost> cost)
      : config_(std::move(config)),
        rules_(std::move(rules)),
        cost_(std::move(cost)),
        model_(load_interruptibly(config_.run.model)),
        output_(config_.output),
        status_(output_.status_line()) {
    check_rewritable(model_, config_.run.model.graph);
  }

  void price(std::span<const std::string> methods) {
    if (!cost_->prices().table || methods.size() < 2 || !config_.price_first) return;
    const size_t known = cost_->prices().table->priced();
    const auto groups = cost_->prices().groups;
    if (groups) groups->defer();  // one request for all of them
    for (const auto& method : methods) search_by(method, "pricing, ");
    if (groups) {
      groups->measure_deferred([&](size_t done, size_t of) {
        status_.show(fmt::format("pricing, {}: {} of {} groups of operators timed", config_.run.model.graph, done, of));
        return 1e9;
      });
    }
    status_.clear();
    output_.note(fmt::format("{}: {} operators were timed before the methods are compared", config_.run.model.graph,
                             cost_->prices().table->priced() - known));
  }

  search::SearchRow compare(const std::string& method) {
    const double measured_s = cost_->measuring_s();
    search::Result found = search_by(method, "");
    status_.clear();
    auto row = search::row_of({model_.graph, rules_, *cost_}, found);
    row.graph = config_.run.model.graph;
    row.method = method;
    row.seed = config_.run.seed;
    row.threads = config_.search.threads;
    row.cpu_time = config_.search.cpu_time;
    row.measuring_s = cost_->measuring_s() - measured_s;
    if (best_method_.empty() || found.after_us < best_.after_us) {
      best_ = std::move(found);
      best_method_ = method;
    }
    return row;
  }

  // Writes the best of all methods; returns a member of "written" of the document.
  Json write(const fs::path& folder) {
    make_writable_folder(folder);
    // Without a trace only the outputs can be compared, not each value that a rewrite replaced.
    const auto after =
        best_.traced ? optimise::replayed(model_, rules_, best_.trace) : rules::Replayed{best_.graph, {}, {}, {}};
    optimise::CheckOptions checks = config_.run.check;
    checks.seed = config_.run.seed;
    const auto runtime = cost_->prices().runtime ? cost_->prices().runtime : start_runtime(config_.run);
    const auto verdict = optimise::judge(model_, after, *runtime, checks, signalled);
    if (best_.traced)
      atomic_write(folder / "best.trace", to_text(optimise::trace_file(model_, rules_, best_.trace, *cost_), *rules_));
    export_model(model_, best_.graph, folder / "best.onnx");
    output_.print(fmt::format("{}: best by {}, written to {}{}\n{}", config_.run.model.graph, best_method_,
                              folder.string(), best_.traced ? "" : " (it has no trace)", optimise::to_text(verdict)));
    Json written = {{"graph", config_.run.model.graph},
                    {"method", best_method_},
                    {"model", report::file_json(folder / "best.onnx")},
                    {"trace", best_.traced ? report::file_json(folder / "best.trace") : Json()}};
    written.update(optimise::to_json(verdict));
    return written;
  }

 private:
  search::Result search_by(const std::string& method, const std::string& phase) {
    search::Options options = config_.search;
    const search::SearchClock clock(options.cpu_time);
    double ended_s = -1;  // the search; then its trace is minimised
    options.seed = config_.run.seed;
    options.minimal = options.together = true;
    if (config_.seconds > 0) options.egraph_seconds = config_.seconds;
    const auto is_over = [&](double since_s) {
      return signalled() || (config_.seconds > 0 && clock.seconds() - since_s >= config_.seconds);
    };
    options.stop = [&] { return is_over(0); };
    options.stop_minimising = [&] {
      if (ended_s < 0) ended_s = clock.seconds();
      return is_over(ended_s);
    };
    const double before_us = cost::graph_cost(*cost_, model_.graph).runtime_us;
    options.progress = [&](const search::Counters& done, double best_us) {
      status_.show(fmt::format("{}{} {}: {} graphs in {}, best {:.3f} ms ({:+.2f} %)", phase, config_.run.model.graph,
                               method, done.candidates, human_seconds(clock.seconds()), best_us / 1e3,
                               before_us > 0 ? 100 * (best_us / before_us - 1) : 0.0));
    };
    return search::run(method, {model_.graph, rules_, *cost_}, options);
  }

  SearchConfig config_;
  std::shared_ptr<const rules::RuleSet> rules_;
  std::shared_ptr<optimise::MeteredCost> cost_;
  LoadedModel model_;
  Output output_;
  StatusLine status_;
  search::Result best_;
  std::string best_method_;
};

void write_tables(const SearchConfig& config, std::span<const search::SearchRow> rows) {
  if (!config.csv.empty()) atomic_write(config.csv, search::to_csv(rows));
  if (!config.curve.empty()) atomic_write(config.curve, search::curves_to_csv(rows));
}

// Members of the document "rlgo.search/1".
Json run_all(SearchConfig config) {
  const Output output(config.output);
  Json written = Json::array();
  const auto graphs = zoo::graphs_of(config.run.model.graph);
  const auto methods = methods_of(config);
  const auto rules = rules::choose_rules(config.run.rules);
  if (!rules->remark().empty()) output.note(rules->remark());
  const auto cost = std::make_shared<optimise::MeteredCost>(make_prices(config.run));
  std::vector<search::SearchRow> rows;
  std::vector<std::string> labels;
  for (const auto& graph : graphs) {
    if (signalled()) break;
    config.run.model.graph = graph;
    config.run.model.python = measurer_python(config.run);
    GraphSearch search(config, rules, cost);
    search.price(methods);
    for (const auto& method : methods) {
      if (signalled() && !rows.empty()) break;
      rows.push_back(search.compare(method));
      write_tables(config, rows);
    }
    if (!config.out.empty())
      written.push_back(search.write(graphs.size() == 1 ? fs::path(config.out)
                                                        : fs::path(config.out) / zoo::label_of(graph, labels)));
  }
  output.print(to_text(rows));
  return {{"searches", report::searches_json(rows, *rules)},
          {"written", std::move(written)},
          {"rules", report::rules_json(*rules)}};
}

}  // namespace

int run_search(Context& context) {
  SearchConfig config;
  Options options("search");
  declare(options, config);
  const auto words = read_command_line(options, context.arguments, kUsage, 1);
  if (!words) return 0;
  if (!words->empty()) fail_usage("search: unexpected '{}'; graphs are named with --graph", words->front());
  const Output output(config.output);
  output.document("search", 0, options, run_all(config));
  return 0;
}

}  // namespace rlgo::launch
