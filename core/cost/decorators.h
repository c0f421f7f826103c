// Cost models around cost models, with the same interface.
#pragma once

#include <memory>
#include <unordered_map>

#include "core/cost/cost.h"

namespace rlgo::cost {

// Asks the inner model once per signature; every time where that is not local.
class CachedCost : public CostModel {
 public:
  explicit CachedCost(std::unique_ptr<CostModel> inner) : inner_(std::move(inner)) {}
  std::string name() const override { return inner_->name(); }
  double op_us(const graph::Graph& graph, graph::NodeId id) override;
  bool is_local() const override { return inner_->is_local(); }
  std::vector<graph::NodeId> dependents(const graph::Graph& graph, std::span<const graph::NodeId> changed) const override {
    return inner_->dependents(graph, changed);
  }
  bool postpone() override { return inner_->postpone(); }
  size_t postponed() const override { return inner_->postponed(); }
  bool settle() override { return inner_->settle(); }
  size_t size() const { return us_.size(); }

 private:
  std::unique_ptr<CostModel> inner_;
  std::unordered_map<uint64_t, double> us_;  // by signature hash
};

// Throws Error, with model and operator, where the inner model breaks the contract: an answer that is negative or not
// finite, not zero for a free node, or (where it is local) other than the first answer for the same signature.
class CheckedCost : public CostModel {
 public:
  explicit CheckedCost(std::unique_ptr<CostModel> inner) : inner_(std::move(inner)) {}
  std::string name() const override { return inner_->name(); }
  double op_us(const graph::Graph& graph, graph::NodeId id) override;
  bool is_local() const override { return inner_->is_local(); }
  std::vector<graph::NodeId> dependents(const graph::Graph& graph, std::span<const graph::NodeId> changed) const override {
    return inner_->dependents(graph, changed);
  }
  bool postpone() override { return inner_->postpone(); }
  size_t postponed() const override { return inner_->postponed(); }
  bool settle() override { return inner_->settle(); }

 private:
  std::unique_ptr<CostModel> inner_;
  std::unordered_map<uint64_t, double> us_;  // first answer by signature hash
};

}  // namespace rlgo::cost
