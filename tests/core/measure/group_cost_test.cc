#include "core/measure/group_cost.h"

#include <gmock/gmock.h>

#include <chrono>
#include <numeric>
#include <set>
#include <thread>

#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/graph/editor.h"
#include "core/measure/group.h"
#include "core/measure/partition.h"
#include "core/rules/rules.h"
#include "core/zoo/zoo.h"
#include "tests/core/measure/fake.h"

namespace rlgo::measure {
namespace {

using graph::Graph;
using graph::NodeId;
using ::testing::HasSubstr;

const cost::TableOrigin kPaper{"measured:fake-1.0", "paper", 1};

// A price for every group, drawn from its name.
size_t sum(const std::vector<size_t>& numbers) { return std::accumulate(numbers.begin(), numbers.end(), size_t{0}); }

struct Made {
  std::shared_ptr<cost::TableCost> table = std::make_shared<cost::TableCost>(kPaper);
  std::vector<size_t> requests = {};
  GroupCost cost{
      table, [this](std::span<const Group> groups) {
        requests.push_back(groups.size());
        std::vector<GroupResult> out;
        for (const auto& g : groups)
          out.push_back(
              {cost::Measured{static_cast<double>(hash_string(g.signature) % 100'000'000) / 1000.0, 0, 1}, ""});
        return out;
      }};
};

Graph rewritten(const rules::RuleSet& rules, const rules::MatchIndex& index, const Graph& graph, Rng& rng,
                graph::Delta& delta) {
  std::vector<const rules::Match*> all;
  for (int r = 0; r < rules.size(); ++r) {
    for (const auto& m : index.matches(r)) all.push_back(&m);
  }
  if (all.empty()) return graph;
  auto next = rules::apply(rules, *all[rng.below(all.size())], graph);
  if (!next) return graph;
  delta = next->delta;
  return next->graph;
}

TEST(GroupCost, DeltaIsExactlyTheDifferenceOfCosts) {
  const std::vector<std::filesystem::path> files = {"configs/rules/base.rules"};
  const auto rules = rules::RuleSet::load(files);
  Made made;
  int steps = 0;
  for (const auto& name : zoo::names()) {
    Rng rng({7, hash_string(name)});
    Graph graph = zoo::make(name);
    rules::MatchIndex index(rules, graph);
    double full = cost::graph_cost(made.cost, graph).runtime_us;
    std::vector<double> prices(static_cast<size_t>(graph.id_bound()));
    for (const NodeId id : graph.order()) prices[id] = made.cost.op_us(graph, id);
    for (int step = 0; step < 25; ++step) {
      graph::Delta delta;
      const Graph after = rewritten(*rules, index, graph, rng, delta);
      const double change = cost::delta_us(made.cost, graph, after, delta);
      const double sum = cost::graph_cost(made.cost, after).runtime_us;
      ASSERT_EQ(full + change, sum) << name << " step " << step;
      // Prices of nodes that are no dependents of the change are still right.
      prices.resize(static_cast<size_t>(after.id_bound()));
      std::vector<NodeId> changed = delta.added;
      changed.insert(changed.end(), delta.touched.begin(), delta.touched.end());
      for (const NodeId id : made.cost.dependents(after, changed)) prices[id] = made.cost.op_us(after, id);
      for (const NodeId id : after.order())
        ASSERT_EQ(prices[id], made.cost.op_us(after, id)) << name << " step " << step;
      index.update(after, delta);
      graph = after;
      full = sum;
      steps += delta.added.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(steps, 100);
}

TEST(GroupCost, HeadPaysForItsGroup) {
  Made made;
  const Graph graph = zoo::make("resnet18");
  double sum = 0;
  std::set<std::string> signatures;
  for (const NodeId id : graph.order()) {
    const double us = made.cost.op_us(graph, id);
    if (cost::is_free(graph.node(id)) || leader(graph, id) != graph::kNoNode) {
      EXPECT_EQ(us, 0);
    } else {
      const auto* row = made.table->find(group_signature(graph, members(graph, id)));
      ASSERT_NE(row, nullptr);
      EXPECT_NEAR(us, row->us, 1e-3);
      signatures.insert(group_signature(graph, members(graph, id)));
    }
    sum += us;
  }
  EXPECT_EQ(cost::graph_cost(made.cost, graph).runtime_us, sum);
  EXPECT_EQ(made.table->size(), signatures.size());
}

TEST(GroupCost, MeasuresAllGroupsOfAGraphTogether) {
  Made made;
  const Graph graph = zoo::make("resnet50");
  const Graph* one[] = {&graph};
  const size_t groups = made.cost.prepare(one);
  EXPECT_EQ(groups, made.table->size());
  EXPECT_EQ(made.requests.at(0), 8u);  // to see how long they take
  EXPECT_EQ(sum(made.requests), groups);
  EXPECT_LE(made.requests.size(), groups / 4);
  const double us = cost::graph_cost(made.cost, graph).runtime_us;
  EXPECT_EQ(sum(made.requests), groups);  // nothing was left to measure
  EXPECT_EQ(made.cost.prepare(one), 0u);
  EXPECT_GT(us, 0);
}

TEST(GroupCost, DefersUntilFlushed) {
  Made made;
  const Graph graph = zoo::make("squeezenet1_1");
  EXPECT_TRUE(made.cost.defer());
  EXPECT_FALSE(made.cost.defer());  // somebody does already
  cost::graph_cost(made.cost, graph);
  const size_t estimates = made.cost.deferred();
  EXPECT_GT(estimates, 20u);
  cost::graph_cost(made.cost, graph);
  EXPECT_EQ(made.cost.deferred(), 2 * estimates);
  EXPECT_TRUE(made.requests.empty());
  EXPECT_TRUE(made.cost.flush());
  EXPECT_EQ(made.cost.deferred(), 0u);
  EXPECT_EQ(sum(made.requests), made.table->size());
  EXPECT_TRUE(made.cost.flush());  // nothing more
}

// Writing, reading and packing hundreds of MB takes seconds: the first request, made before anything is known of that,
// does not take several such groups.
TEST(GroupCost, FirstRequestHasFewLargeWeights) {
  graph::Editor editor("wide");
  graph::Value x = editor.add_input("x", {ops::DType::f32, {1, 4000}});
  for (const int64_t columns : {5000, 6000, 7000, 10, 11, 12}) {
    const auto w = graph::Blob::seeded({ops::DType::f32, {editor.type(x).shape[1], columns}}, 1, 0.1);
    x = editor.op(ops::Op::matmul, {x, editor.add_weight(fmt::format("w{}", columns), w)});
  }
  editor.add_output("y", x);
  Made made;
  const Graph graph = *editor.finish();
  const Graph* one[] = {&graph};
  EXPECT_EQ(made.cost.prepare(one, [](size_t, size_t) { return 1e9; }), 6u);
  ASSERT_FALSE(made.requests.empty());
  EXPECT_EQ(made.requests[0], 1u) << "168 MB";
  EXPECT_LE(made.requests.size(), 3u) << "the others are timed together";
}

// What takes a tenth of a second runs a dozen times: in short time, few of them.
TEST(GroupCost, FirstRequestHasFewSlowGroups) {
  Made some, all;
  const Graph graph = zoo::make("inception_v3");
  const Graph* one[] = {&graph};
  cost::AnalyticCost formula;
  const double dozen_s = 12 * cost::graph_cost(formula, graph).runtime_us / 1e6;
  some.cost.prepare(one, [&](size_t done, size_t) { return done == 0 ? dozen_s / 4 : 0.0; });
  all.cost.prepare(one, [&](size_t done, size_t) { return done == 0 ? 10 * dozen_s : 0.0; });
  ASSERT_EQ(some.requests.size(), 1u);
  EXPECT_LT(some.requests[0], all.requests[0]);
  EXPECT_GE(some.requests[0], 1u);
}

TEST(GroupCost, EstimatesAreMadeFromTheGivenConstants) {
  cost::AnalyticOptions slow;
  slow.peak_gflops /= 7;
  auto table = std::make_shared<cost::TableCost>(kPaper);
  GroupCost usual(table, {}), slower(table, {}, GroupPredictor(slow));
  const Graph graph = zoo::make("resnet18");
  usual.defer();
  slower.defer();
  EXPECT_GT(cost::graph_cost(slower, graph).runtime_us, 3 * cost::graph_cost(usual, graph).runtime_us);
}

TEST(GroupCost, RequestsAreAsLongAsTheyAreQuick) {
  auto table = std::make_shared<cost::TableCost>(kPaper);
  std::vector<size_t> requests;
  GroupCost cost(table, [&](std::span<const Group> groups) {
    requests.push_back(groups.size());
    std::this_thread::sleep_for(std::chrono::milliseconds(100 * groups.size()));
    return std::vector<GroupResult>(groups.size(), {cost::Measured{1.0, 0, 1}, ""});
  });
  cost.set_watch([](size_t done, size_t) { return done < 9 ? 1e9 : 0.0; });
  cost.defer();
  cost::graph_cost(cost, zoo::make("inception_v3"));
  EXPECT_FALSE(cost.flush());
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0], 8u);
  EXPECT_LE(requests[1], 20u);  // in two seconds; no fewer than four, however long they take
  EXPECT_GE(requests[1], 4u);
}

TEST(GroupCost, WatchEndsMeasuring) {
  Made made;
  const Graph graph = zoo::make("inception_v3");
  made.cost.set_watch([](size_t done, size_t) { return done == 0 ? 1e9 : 0.0; });
  made.cost.defer();
  cost::graph_cost(made.cost, graph);
  EXPECT_FALSE(made.cost.flush());
  EXPECT_EQ(made.requests, std::vector<size_t>{8});
  EXPECT_EQ(made.table->size(), 8u);
}

TEST(GroupCost, TableSurvivesTheProcess) {
  const auto path = std::filesystem::temp_directory_path() / "rlgo-group-table.tsv";
  const Graph graph = zoo::make("toy_conv");
  Made first;
  const double us = cost::graph_cost(first.cost, graph).runtime_us;
  first.table->save(path);
  Made second;
  EXPECT_EQ(second.table->load(path), first.table->size());
  EXPECT_EQ(cost::graph_cost(second.cost, graph).runtime_us, us);
  EXPECT_TRUE(second.requests.empty());
  std::filesystem::remove(path);
}

TEST(GroupCost, GroupThatCannotBeMeasuredGetsAnEstimateOnce) {
  auto table = std::make_shared<cost::TableCost>(kPaper);
  int asked = 0;
  GroupCost cost(table, [&](std::span<const Group> groups) {
    std::vector<GroupResult> out;
    for (const auto& g : groups) {
      ++asked;
      const bool bad = g.signature.starts_with("softmax");
      out.push_back(bad ? GroupResult{std::nullopt, "no softmax here\nreally"}
                        : GroupResult{cost::Measured{50, 1, 9}, ""});
    }
    return out;
  });
  const Graph graph = zoo::make("bert", {.layers = 2});
  const double us = cost::graph_cost(cost, graph).runtime_us;
  const int once = asked;
  EXPECT_EQ(cost::graph_cost(cost, graph).runtime_us, us);
  EXPECT_EQ(asked, once);
  EXPECT_EQ(cost.estimated(), 1u);
  EXPECT_THAT(cost.summary(), HasSubstr("1 estimated (1 x no softmax here)"));
}

// An estimate from before the first measurement is on the formula's scale, and others on the measured one.
TEST(GroupCost, EstimatesAreOfOneTimeAfterARefresh) {
  auto table = std::make_shared<cost::TableCost>(kPaper);
  const auto measure = [](std::span<const Group> groups) {
    std::vector<GroupResult> out;
    for (const auto& g : groups)
      out.push_back(g.signature.starts_with("softmax") ? GroupResult{std::nullopt, "no softmax here"}
                                                       : GroupResult{cost::Measured{5000, 1, 9}, ""});
    return out;
  };
  GroupCost cost(table, measure);
  const Graph graph = zoo::make("bert", {.layers = 2});
  const auto softmax_us = [&](GroupCost& asked) {
    double us = 0;
    for (const NodeId id : graph.order()) {
      if (graph.node(id).op() == ops::Op::softmax) us += asked.op_us(graph, id);
    }
    return us;
  };
  const double by_formula = softmax_us(cost);  // nothing is measured yet
  cost::graph_cost(cost, graph);
  EXPECT_EQ(softmax_us(cost), by_formula);  // for the life of a search
  cost.refresh();
  EXPECT_NE(softmax_us(cost), by_formula);
  GroupCost later(table, measure);  // knows the times of an earlier call: ratios come from them
  cost::graph_cost(later, graph);
  EXPECT_NE(softmax_us(later), by_formula);
  later.refresh();
  EXPECT_EQ(softmax_us(later), softmax_us(cost));
}

TEST(GroupCost, ThroughAMeasurerThatCrashes) {
  auto measurer = std::make_shared<Measurer>(fake({"crash=MaxPool", "blame"}), quick());
  auto table = std::make_shared<cost::TableCost>(measurer->origin());
  GroupCost cost(table, measure_groups(measurer, table));
  const Graph graph = zoo::make("squeezenet1_1");
  const Graph* one[] = {&graph};
  const size_t groups = cost.prepare(one);
  EXPECT_EQ(cost.estimated(), 3u);  // its three pools
  EXPECT_EQ(table->size() + 3, groups);
  EXPECT_EQ(measurer->failures(), 3);
  EXPECT_THAT(cost.summary(), HasSubstr("exit status 3"));
  EXPECT_GT(cost::graph_cost(cost, graph).runtime_us, 0);
}

// Whatever the pace of the machine in the call that timed a group.
TEST(GroupCost, TablesHoldTimesAtOneClock) {
  const auto priced = [](const std::shared_ptr<cost::TableCost>& table, const char* clocks, const Graph& graph) {
    auto measurer = std::make_shared<Measurer>(fake({clocks}), quick());
    GroupCost cost(table, measure_groups(measurer, table));
    return cost::graph_cost(cost, graph).runtime_us;
  };
  const cost::TableOrigin origin{"measured:fake-1.0", "paper", 1};
  const Graph first = zoo::make("squeezenet1_1"), second = zoo::make("resnet18");
  const auto alone = std::make_shared<cost::TableCost>(origin), both = std::make_shared<cost::TableCost>(origin);
  priced(both, "clocks=1", first);
  EXPECT_NEAR(priced(both, "clocks=4", second), priced(alone, "clocks=1", second), 1);
  EXPECT_NE(both->find(kReferenceSignature), nullptr);
  EXPECT_EQ(both->priced(), both->size() - 1);  // the reference is no group's price
}

}  // namespace
}  // namespace rlgo::measure
