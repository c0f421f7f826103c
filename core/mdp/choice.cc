// Several environments, one for each graph of a run, behind the contract of one.
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/mdp/mdp.h"

namespace rlgo::mdp {
namespace {

class Choice : public Env {
 public:
  explicit Choice(std::vector<std::unique_ptr<Env>> envs) : envs_(std::move(envs)) {
    for (size_t i = 0; i < envs_.size(); ++i) {
      if (envs_[i]->spec() != envs_[0]->spec())
        fail("make_choice: environment {} has another observation spec than environment 0", i);
    }
  }
  const ObservationSpec& spec() const override { return envs_[0]->spec(); }
  Observation reset(uint64_t key) override {
    now_ = Rng({key, 0x6A4}).below(envs_.size());
    return envs_[now_]->reset(key);
  }
  StepResult step(Action action) override { return envs_[now_]->step(action); }
  double initial_cost_us() const override { return envs_[now_]->initial_cost_us(); }
  double current_cost_us() const override { return envs_[now_]->current_cost_us(); }
  Beginning beginning() const override {
    Beginning beginning = envs_[now_]->beginning();
    beginning.graph = static_cast<int32_t>(now_);
    return beginning;
  }

 private:
  std::vector<std::unique_ptr<Env>> envs_;
  size_t now_ = 0;
};

}  // namespace

std::unique_ptr<Env> make_choice(std::vector<std::unique_ptr<Env>> envs) {
  if (envs.empty()) fail("make_choice: no environments");
  if (envs.size() == 1) return std::move(envs[0]);
  return std::make_unique<Choice>(std::move(envs));
}

}  // namespace rlgo::mdp
