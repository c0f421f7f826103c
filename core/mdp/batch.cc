// Real environments stepped one after the other behind the BatchEnv contract.
#include "core/base/error.h"
#include "core/mdp/mdp.h"

namespace rlgo::mdp {
namespace {

class SerialBatch : public BatchEnv {
 public:
  explicit SerialBatch(std::vector<std::unique_ptr<Env>> envs) : envs_(std::move(envs)) {
    if (envs_.empty()) fail("make_batch: no environments");
    for (size_t i = 0; i < envs_.size(); ++i) {
      if (!envs_[i]) fail("make_batch: environment {} is null", i);
      if (envs_[i]->spec() != envs_[0]->spec())
        fail("make_batch: environment {} has another observation spec than environment 0", i);
    }
  }
  const ObservationSpec& spec() const override { return envs_[0]->spec(); }
  int size() const override { return static_cast<int>(envs_.size()); }
  Observation reset(int index, uint64_t key) override { return at(index).reset(key); }
  // An error of one environment is thrown with its index in front; environments before it in `indices` have stepped by
  // then, so a caller that must not lose their results steps one index at a time.
  std::vector<StepResult> step(const std::vector<int>& indices, const std::vector<Action>& actions) override {
    if (indices.size() != actions.size()) fail("batch step: {} indices, {} actions", indices.size(), actions.size());
    std::vector<StepResult> results;
    results.reserve(indices.size());
    for (size_t i = 0; i < indices.size(); ++i) {
      try {
        results.push_back(at(indices[i]).step(actions[i]));
      } catch (const Error& error) {
        throw error.in(fmt::format("environment {}", indices[i]));
      }
    }
    return results;
  }
  double initial_cost_us(int index) const override { return at(index).initial_cost_us(); }
  Beginning beginning(int index) const override { return at(index).beginning(); }

 private:
  Env& at(int index) const {
    if (index < 0 || index >= size()) fail("batch: index {} outside [0, {})", index, size());
    return *envs_[static_cast<size_t>(index)];
  }
  std::vector<std::unique_ptr<Env>> envs_;
};

}  // namespace

std::unique_ptr<BatchEnv> make_batch(std::vector<std::unique_ptr<Env>> envs) {
  return std::make_unique<SerialBatch>(std::move(envs));
}

}  // namespace rlgo::mdp
