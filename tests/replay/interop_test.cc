// Writes the store that rollouts_test.py reads with h5py, and what must be found in it; and all observations of a store
// as this reader sees them. Skipped unless that asks for it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <numeric>

#include "replay/compact.h"
#include "replay/reader.h"
#include "replay/writer.h"
#include "tests/replay/store.h"

namespace rlgo::replay {
namespace {

template <typename T>
double sum(const std::vector<T>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// A line per observation: episode, step, and sums over its arrays.
void expect(std::ostream& out, int64_t episode, size_t step, const mdp::Observation& o) {
  out << fmt::format("observation\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", episode, step, o.node_op.size(),
                     sum(o.node_op), sum(o.node_feat), sum(o.edge_src) + 1000 * sum(o.edge_dst), sum(o.edge_feat),
                     sum(o.globals), sum(o.counts), sum(o.loc_node));
}

TEST(Interop, WritesStore) {
  const char* folder = std::getenv("RLGO_INTEROP_FOLDER");
  if (folder == nullptr) GTEST_SKIP() << "run by rollouts_test.py";
  const auto spec = make_spec();
  const std::filesystem::path root(folder);
  std::ofstream out(root / "expected.tsv");
  RolloutWriter writer(root / "rollouts", make_header(), {.episodes_per_part = 2});
  for (int64_t e = 0; e < 7; ++e) {
    const auto t = make_trajectory(spec, e, static_cast<int>(e));
    writer.append(t);
    double total = 0;
    for (size_t i = 0; i < t.steps.size(); ++i) {
      const auto& s = t.steps[i];
      total += static_cast<double>(s.reward);
      expect(out, e, i, s.observation);
      out << fmt::format("step\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", e, i, s.action.rule, s.action.location, s.log_prob_rule,
                         s.info.step_us, s.info.rule);
    }
    expect(out, e, t.steps.size(), t.last);
    out << fmt::format("episode\t{}\t{}\t{}\t{}\t{}\t{}\n", e, t.rank, t.weights_version, t.terminal ? 1 : 0,
                       t.best_cost_us, total);
  }
  writer.close();
  compact(root / "rollouts", 4);  // parts of 2, 2, 2, 1 episodes become two
  ASSERT_TRUE(out.good());
}

template <typename T>
void dump(std::ostream& out, const std::vector<T>& values) {
  const int64_t count = static_cast<int64_t>(values.size());
  out.write(reinterpret_cast<const char*>(&count), sizeof count);
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

// Each observation of each episode: its arrays, as a 64-bit count and the items.
TEST(Interop, DumpsObservations) {
  const char* store = std::getenv("RLGO_INTEROP_STORE");
  if (store == nullptr) GTEST_SKIP() << "run by rollouts_test.py";
  std::ofstream out(std::filesystem::path(store) / "observations.bin", std::ios::binary);
  const auto write = [&](const mdp::Observation& o) {
    dump(out, o.node_op);
    dump(out, o.node_feat);
    dump(out, o.edge_src);
    dump(out, o.edge_dst);
    dump(out, o.edge_feat);
    dump(out, o.globals);
    dump(out, o.counts);
    dump(out, o.loc_node);
    dump(out, o.loc_feat);
    dump(out, o.loc_rest_end);
    dump(out, o.loc_rest);
  };
  RolloutReader reader(store);
  while (const auto trajectory = reader.next()) {
    for (const auto& step : trajectory->steps) write(step.observation);
    write(trajectory->last);
  }
  ASSERT_TRUE(out.good());
}

}  // namespace
}  // namespace rlgo::replay
