// rlgo._prove: proofs of rules, with Z3. Loaded when rlgo.rules.verify is called.
#include <algorithm>
#include <atomic>
#include <thread>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/shipped.h"
#include "core/base/usage.h"
#include "core/rulegen/prove/prove.h"
#include "core/rules/parser.h"
#include "launch/python/bindings.h"
#include "launch/python/errors.h"
#include "launch/python/interrupt.h"

namespace rlgo::python {
namespace {

struct Work {
  std::vector<rules::RuleText> rules;
  std::vector<rulegen::Proof> proofs;
};

Work work_of(const std::string& text, const std::string& name, const std::vector<std::string>& only) {
  Work work;
  work.rules = rules::parse_rules(text, name);
  for (const auto& wanted : only) {
    if (std::ranges::find(work.rules, wanted, &rules::RuleText::name) == work.rules.end())
      fail_usage("{}: no rule is named '{}'", name, wanted);
  }
  std::erase_if(work.rules,
                [&](const auto& r) { return !only.empty() && std::ranges::find(only, r.name) == only.end(); });
  work.proofs.resize(work.rules.size());
  return work;
}

// On `threads` threads next to the caller's, which looks for signals meanwhile.
void prove_all(Work& work, const rulegen::AxiomSet& axioms, rulegen::ProveOptions options, int threads,
               Interrupt& interrupt) {
  std::atomic<size_t> next{0};
  std::atomic<int> running{threads};
  std::atomic<bool> ended{false};
  std::mutex mutex;
  std::exception_ptr failure;
  options.stop = [&] { return ended.load(); };
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&] {
      try {
        for (size_t k = next++; k < work.rules.size() && !ended; k = next++)
          work.proofs[k] = rulegen::prove(work.rules[k], axioms, options);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        ended = true;
      }
      --running;
    });
  }
  while (running > 0) {
    if (interrupt.stop()) ended = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  for (auto& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

nb::list verify(const std::string& text, const std::string& name, const std::vector<std::string>& only, int threads,
                int instances, uint64_t seed) {
  Interrupt interrupt;
  Work work;
  {
    const nb::gil_scoped_release release;
    work = work_of(text, name, only);
    const auto axioms = rulegen::AxiomSet::load(shipped_config("rules/axioms.rules"));
    rulegen::ProveOptions options;
    options.check_instances = instances;
    options.seed = seed;
    prove_all(work, *axioms, options, threads, interrupt);
  }
  interrupt.rethrow();
  nb::list all;
  for (size_t k = 0; k < work.rules.size(); ++k) {
    const rulegen::Proof& proof = work.proofs[k];
    nb::dict one;
    one["rule"] = work.rules[k].name;
    one["verdict"] = std::string(rulegen::name(proof.verdict));
    one["scope"] = proof.verdict == rulegen::Proof::Verdict::proved ? rules::to_text(proof.scope) : "";
    one["axioms"] = proof.axioms;
    one["reason"] = proof.reason;
    one["cases"] = proof.cases;
    all.append(one);
  }
  return all;
}

}  // namespace
}  // namespace rlgo::python

NB_MODULE(_prove, m) {
  using namespace rlgo::python;
  take_errors();
  m.def("verify", &verify, nb::arg("text"), nb::arg("file_name"), nb::arg("only"), nb::arg("threads"),
        nb::arg("instances"), nb::arg("seed"));
}
