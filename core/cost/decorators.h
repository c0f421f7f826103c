// Cost models around cost models, with the same interface.
#pragma once

#include <memory>
#include <unordered_map>

#include "core/cost/cost.h"

namespace rlgo::cost {

// Answers as the inner model does; what a decorator changes it overrides.
class ForwardingCost : public CostModel {
 public:
  std::string name() const override { return inner_->name(); }
  bool is_local() const override { return inner_->is_local(); }
  std::vector<graph::NodeId> dependents(const graph::Graph& graph,
                                        std::span<const graph::NodeId> changed) const override {
    return inner_->dependents(graph, changed);
  }
  bool defer() override { return inner_->defer(); }
  size_t deferred() const override { return inner_->deferred(); }
  bool flush() override { return inner_->flush(); }
  void forget_deferred() override { inner_->forget_deferred(); }

 protected:
  explicit ForwardingCost(std::unique_ptr<CostModel> inner) : inner_(std::move(inner)) {}

  const std::unique_ptr<CostModel> inner_;
};

// Asks the inner model once per signature; every time where that is not local.
class CachedCost : public ForwardingCost {
 public:
  explicit CachedCost(std::unique_ptr<CostModel> inner) : ForwardingCost(std::move(inner)) {}
  double op_us(const graph::Graph& graph, graph::NodeId id) override;
  size_t size() const { return us_.size(); }

 private:
  std::unordered_map<uint64_t, double> us_;  // by signature hash
};

// Throws Error, with model and operator, where the inner model breaks the contract: an answer that is negative or not
// finite, not zero for a free node, or (where it is local) other than the first answer for the same signature.
class CheckedCost : public ForwardingCost {
 public:
  explicit CheckedCost(std::unique_ptr<CostModel> inner) : ForwardingCost(std::move(inner)) {}
  double op_us(const graph::Graph& graph, graph::NodeId id) override;

 private:
  std::unordered_map<uint64_t, double> us_;  // first answer by signature hash
};

}  // namespace rlgo::cost
