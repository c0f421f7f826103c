// rlgo._core: everything that needs neither LibTorch nor MPI.
#include "launch/python/bindings.h"
#include "launch/python/errors.h"
#include "launch/revision.h"

NB_MODULE(_core, m) {
  using namespace rlgo::python;
  m.doc() = "rlgo's engine: graphs, rules, costs, searches, environments.";
  make_errors(m);
  bind_graph(m);
  bind_rules(m);
  bind_cost(m);
  bind_search(m);
  bind_env(m);
  m.attr("version") = rlgo::launch::kVersion;
}
