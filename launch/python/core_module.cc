// rlgo._core: everything but proofs.
#include "launch/python/bindings.h"
#include "launch/python/errors.h"
#include "launch/revision.h"

NB_MODULE(_core, m) {
  using namespace rlgo::python;
  m.doc() = "rlgo's engine: graphs, rules, costs, searches, environments, optimise and compare.";
  make_errors(m);
  bind_graph(m);
  bind_rules(m);
  bind_cost(m);
  bind_search(m);
  bind_env(m);
  bind_optimise(m);
  m.attr("version") = rlgo::launch::kVersion;
}
