// Environments: single ones, and many stepped by threads.
#include <nanobind/ndarray.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/base/stopwatch.h"
#include "core/base/usage.h"
#include "core/env/features.h"
#include "core/ops/op.h"
#include "core/rules/trace.h"
#include "launch/python/bindings.h"
#include "launch/python/interrupt.h"
#include "launch/python/padded_env.h"

namespace rlgo::python {
namespace {

template <typename T, int Dimensions>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

// NumPy arrays of a batch, allocated by Python: the first axis is the environment.
struct PyArrays {
  Array<int32_t, 2> node_op;
  Array<float, 3> node_feat;
  Array<int32_t, 3> edges;
  Array<float, 3> edge_feat;
  Array<float, 2> globals;
  Array<int32_t, 3> candidates;
  Array<float, 2> change;
  Array<int8_t, 2> mask;

  Arrays row(size_t k) const {
    const auto at = [k](const auto& array) {
      size_t stride = 1;
      for (size_t d = 1; d < array.ndim(); ++d) stride *= array.shape(d);
      return array.data() + k * stride;
    };
    return {at(node_op), at(node_feat), at(edges), at(edge_feat), at(globals), at(candidates), at(change), at(mask)};
  }

  // Python must not hand over arrays that are too small.
  void check(size_t rows, const Room& room, const mdp::ObservationSpec& spec) const {
    const auto expect = [rows](const char* name, const auto& array, std::initializer_list<int> sizes) {
      bool same = array.shape(0) == rows;
      size_t d = 1;
      for (const int size : sizes) same = same && array.shape(d++) == static_cast<size_t>(size);
      if (!same) fail("array '{}' has another shape than the observation space", name);
    };
    expect("node_op", node_op, {room.nodes});
    expect("node_feat", node_feat, {room.nodes, spec.node_features});
    expect("edges", edges, {room.edges, 2});
    expect("edge_feat", edge_feat, {room.edges, spec.edge_features});
    expect("globals", globals, {spec.global_features});
    expect("candidates", candidates, {room.candidates, 3});
    expect("change", change, {room.candidates});
    expect("mask", mask, {room.candidates + 1});
  }
};

PyArrays arrays_of(const nb::dict& d) {
  return {nb::cast<Array<int32_t, 2>>(d["node_op"]),        nb::cast<Array<float, 3>>(d["node_feat"]),
          nb::cast<Array<int32_t, 3>>(d["edges"]),          nb::cast<Array<float, 3>>(d["edge_feat"]),
          nb::cast<Array<float, 2>>(d["globals"]),          nb::cast<Array<int32_t, 3>>(d["candidates"]),
          nb::cast<Array<float, 2>>(d["candidate_change"]), nb::cast<Array<int8_t, 2>>(d["action_mask"])};
}

struct PyEnv {
  std::shared_ptr<PaddedEnv> env;
  std::shared_ptr<const rules::RuleSet> rules;
  std::shared_ptr<const optimise::LoadedModel> source;
};

PyEnv make(const PyGraph& graph, const PyRules& rules, const PyCost& cost, const std::string& reward, int max_steps,
           int max_locations, const std::vector<double>& weights, std::vector<int> room) {
  env::EnvOptions options;
  const auto* found = std::ranges::find(env::kRewards, reward, [](const auto& r) { return std::string(r.name); });
  if (found == std::end(env::kRewards)) fail_usage("reward '{}': expected R1 to R5, or latency", reward);
  options.reward = found->value;
  options.max_steps = max_steps;
  options.max_locations = max_locations;
  if (weights.size() == 4) {
    options.weight_flops = weights[0];
    options.weight_bytes = weights[1];
    options.weight_peak = weights[2];
    options.weight_launches = weights[3];
  }
  as_usage([&] { check_bounds(options); });
  cost::WholeTimer timer;
  if (env::times_whole(options.reward)) {
    if (!cost.timer_of)
      fail_usage("reward {} times whole graphs; it goes with a cost that names a runtime, as cost='onnxruntime'",
                 reward);
    timer = cost.timer_of(*graph.source, options.reward == env::Reward::latency);
  }
  auto env = std::make_unique<env::RewriteEnv>(graph.graph, rules.set, cost.model, options, timer);
  return {std::make_shared<PaddedEnv>(std::move(env), options, Room{room.at(0), room.at(1), room.at(2)}), rules.set,
          graph.source};
}

// A trace from the unmodified graph, applied again rewrite by rewrite, leads to this graph at this cost.
nb::dict validate(const PyEnv& e) {
  const env::RewriteEnv& env = e.env->env();
  nb::dict out;
  std::string error;
  bool same = false;
  {
    const nb::gil_scoped_release release;
    try {
      const graph::Graph again = rules::replay(env.initial_graph(), e.rules, env.trace(), e.env->spec().max_locations);
      again.validate();
      same = again.hash() == env.graph().hash();
      if (!same) error = "the trace leads to another graph";
    } catch (const Error& problem) {
      error = problem.what();
    }
  }
  out["valid"] = same;
  out["error"] = error;
  out["steps"] = env.trace().size();
  return out;
}

// Seconds that the environment below takes for these actions, observations included: what tests/bench/gym_env.py
// compares with. Episodes start again where they end.
double time_steps(const PyEnv& e, const std::vector<std::pair<int32_t, int32_t>>& actions) {
  const auto env = e.env->env().fork();
  env->reset(0);
  const Stopwatch watch;
  for (const auto& [rule, location] : actions) {
    const auto result = env->step({rule, location});
    if (result.terminal || result.truncated) env->reset(0);
  }
  return watch.seconds();
}

std::vector<Outcome> step_batch(BatchStepper& batch, const std::vector<mdp::Action>& actions,
                                const std::vector<Arrays>& rows) {
  const nb::gil_scoped_release release;
  return batch.step(actions, rows);
}

struct PyBatch {
  std::vector<PyEnv> envs;
  std::unique_ptr<BatchStepper> stepper;

  std::vector<Arrays> rows(const nb::dict& arrays) const {
    const PyArrays all = arrays_of(arrays);
    all.check(envs.size(), envs[0].env->room(), envs[0].env->spec());
    std::vector<Arrays> out;
    for (size_t k = 0; k < envs.size(); ++k) out.push_back(all.row(k));
    return out;
  }
};

std::vector<mdp::Action> actions_of(const Array<const int64_t, 2>& actions) {
  std::vector<mdp::Action> out;
  for (size_t k = 0; k < actions.shape(0); ++k) {
    const int64_t* row = actions.data() + k * actions.shape(1);
    out.push_back({static_cast<int32_t>(row[0]),
                   actions.shape(1) == 1 ? PaddedEnv::kChosenByIndex : static_cast<int32_t>(row[1])});
  }
  return out;
}

void bind_outcome(nb::module_& m) {
  nb::class_<Outcome>(m, "Outcome")
      .def_ro("reward", &Outcome::reward)
      .def_ro("terminal", &Outcome::terminal)
      .def_ro("truncated", &Outcome::truncated)
      .def_ro("illegal", &Outcome::illegal)
      .def_ro("outgrown", &Outcome::outgrown)
      .def_ro("reset", &Outcome::reset)
      .def_ro("cost_us", &Outcome::cost_us)
      .def_ro("dropped", &Outcome::dropped)
      .def_ro("rule", &Outcome::rule);
}

// What is read of an environment.
void bind_state(nb::class_<PyEnv>& env) {
  env.def_prop_ro("room",
                  [](const PyEnv& e) {
                    const Room& r = e.env->room();
                    return nb::make_tuple(r.nodes, r.edges, r.candidates);
                  })
      .def_prop_ro("spec",
                   [](const PyEnv& e) {
                     const auto& s = e.env->spec();
                     return std::map<std::string, int>{{"ops", s.ops},
                                                       {"node_features", s.node_features},
                                                       {"edge_features", s.edge_features},
                                                       {"global_features", s.global_features},
                                                       {"rules", s.rules},
                                                       {"max_locations", s.max_locations}};
                   })
      .def_prop_ro("rule_names", [](const PyEnv& e) { return e.env->spec().rule_names; })
      .def_prop_ro("running", [](const PyEnv& e) { return e.env->running(); })
      .def_prop_ro("initial_cost_us", [](const PyEnv& e) { return e.env->env().initial_cost_us(); })
      .def_prop_ro("cost_us", [](const PyEnv& e) { return e.env->env().current_cost_us(); })
      .def_prop_ro("graph",
                   [](const PyEnv& e) {
                     return PyGraph{e.env->env().graph(), e.source};
                   })
      .def_prop_ro("initial_graph",
                   [](const PyEnv& e) {
                     return PyGraph{e.env->env().initial_graph(), e.source};
                   })
      .def_prop_ro("counts", [](const PyEnv& e) { return e.env->observation().counts; })
      .def_prop_ro("candidates",
                   [](const PyEnv& e) {
                     std::vector<std::pair<int32_t, int32_t>> out;
                     for (const auto& a : e.env->candidates()) out.emplace_back(a.rule, a.location);
                     return out;
                   })
      .def_prop_ro("changes", [](const PyEnv& e) { return e.env->changes(); })
      .def_prop_ro("trace", [](const PyEnv& e) {
        std::vector<std::pair<int32_t, int32_t>> out;
        for (const auto& a : e.env->env().trace()) out.emplace_back(a.rule, a.location);
        return out;
      });
}

void bind_single(nb::module_& m) {
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<PyEnv> env(m, "Env");
  env.def(
         "reset", [](PyEnv& e, uint64_t key) { return e.env->reset(key); }, nb::arg("key"), released)
      .def(
          "step_index", [](PyEnv& e, int64_t index) { return e.env->step_index(index); }, nb::arg("index"), released)
      .def(
          "step",
          [](PyEnv& e, int32_t rule, int32_t location) {
            return e.env->step({rule, location});
          },
          nb::arg("rule"), nb::arg("location"), released)
      .def(
          "fork",
          [](const PyEnv& e) {
            return PyEnv{e.env->fork(), e.rules, e.source};
          },
          released)
      .def("write",
           [](const PyEnv& e, const nb::dict& arrays) {
             const PyArrays all = arrays_of(arrays);
             all.check(1, e.env->room(), e.env->spec());
             e.env->write(all.row(0));
           })
      .def("validate", &validate);
  bind_state(env);
  m.def("time_steps", &time_steps, nb::arg("env"), nb::arg("actions"), released);
  m.def("make_env", &make, nb::arg("graph"), nb::arg("rules"), nb::arg("cost"), nb::arg("reward"), nb::arg("max_steps"),
        nb::arg("max_locations"), nb::arg("weights"), nb::arg("room"), released);
}

void bind_batch(nb::module_& m) {
  nb::class_<PyBatch>(m, "Batch")
      .def(
          "step",
          [](PyBatch& b, const Array<const int64_t, 2>& actions, const nb::dict& arrays) {
            if (actions.shape(0) != b.envs.size() || actions.shape(1) < 1 || actions.shape(1) > 2)
              fail_usage("actions: expected one row of 1 or 2 numbers for each of {} environments", b.envs.size());
            return step_batch(*b.stepper, actions_of(actions), b.rows(arrays));
          },
          nb::arg("actions"), nb::arg("arrays"))
      .def(
          "reset",
          [](PyBatch& b, const std::vector<uint8_t>& which, const std::vector<uint64_t>& keys, const nb::dict& arrays) {
            const auto rows = b.rows(arrays);
            const nb::gil_scoped_release release;
            return b.stepper->reset(which, keys, rows);
          },
          nb::arg("which"), nb::arg("keys"), nb::arg("arrays"));
  m.def(
      "make_batch",
      [](const std::vector<PyEnv*>& envs, int threads) {
        auto batch = std::make_unique<PyBatch>();
        std::vector<std::shared_ptr<PaddedEnv>> padded;
        if (envs.empty()) fail_usage("no environment is given");
        for (const PyEnv* e : envs) {
          const Room &a = e->env->room(), &b = envs[0]->env->room();
          if (a.nodes != b.nodes || a.edges != b.edges || a.candidates != b.candidates)
            fail_usage("environments of a batch need arrays of the same sizes");
          batch->envs.push_back(*e);
          padded.push_back(e->env);
        }
        batch->stepper = std::make_unique<BatchStepper>(std::move(padded), threads);
        return batch;
      },
      nb::arg("envs"), nb::arg("threads"));
}

}  // namespace

void bind_env(nb::module_& m) {
  bind_outcome(m);
  bind_single(m);
  bind_batch(m);
  m.def("rewards", [] {
    std::vector<std::string> all;
    for (const auto& reward : env::kRewards) all.emplace_back(reward.name);
    return all;
  });
  const auto names = [](std::span<const std::string_view> all) {
    return std::vector<std::string>(all.begin(), all.end());
  };
  m.def("node_feature_names", [names] { return names(env::node_feature_names()); });
  m.def("edge_feature_names", [names] { return names(env::edge_feature_names()); });
  m.def("global_feature_names", [names] { return names(env::global_feature_names()); });
  m.def("operator_names", [] {
    std::map<int, std::string> out;
    for (const auto op : ops::all_ops()) out[static_cast<int>(op)] = ops::name(op);
    return out;
  });
}

}  // namespace rlgo::python
