// The gradients of a network as one vector: summed over the learners, clipped, and applied by Adam in one kernel.
#pragma once

#include <torch/optim/adam.h>

#include <memory>
#include <vector>

#include "learner/distributed/learner_group.h"

namespace rlgo::learner {

// The parameters' gradients lie in a few flat buffers ("buckets"), the last parameters first, as backward fills them.
// On a GPU of its own each learner sends a bucket as soon as backward has filled it and all before it (hooks on the
// parameters, as in LibTorch's DistributedDataParallel); the first ones travel while backward continues. On the host
// the buckets are summed after backward. Every parameter has a gradient, 0 where backward gave none, so that the
// learners agree on what Adam does.
class GradientSum {
 public:
  // Parameters of one type on one device, which keep their gradients in here from now on.
  GradientSum(std::vector<torch::Tensor> parameters, std::shared_ptr<LearnerGroup> group);
  ~GradientSum();
  GradientSum(const GradientSum&) = delete;
  GradientSum& operator=(const GradientSum&) = delete;

  // Zeroes all gradients. Then comes backward() of this learner's part of the loss, or nothing where it has none.
  void begin();
  // Waits until the gradients of all learners are summed, scales them so that their norm is `max_norm` at most (0: no
  // limit). Returns the norm before; not finite: the same on all learners, and nothing was scaled.
  double finish(double max_norm);
  // Whether no host has to see a sum over the learners: this one is alone, or they sum on their GPUs.
  bool decides_there() const;
  // finish() without a wait of the host for the device: the norm as a [] float64 where the parameters lie.
  torch::Tensor finish_there(double max_norm);
  size_t buckets() const { return buckets_.size(); }

 private:
  struct Bucket {
    torch::Tensor flat, staging;  // staging: on the host, where a GPU's gradients are summed there
    std::vector<size_t> members;
    size_t missing = 0;  // gradients that backward has not given yet
    bool sent = false;
  };
  void make_buckets();
  void add_hooks();
  void arrived(size_t bucket);
  void send(Bucket& bucket);
  torch::Tensor summed();

  std::vector<torch::Tensor> parameters_, views_;
  std::shared_ptr<LearnerGroup> group_;
  std::vector<Bucket> buckets_;
  std::vector<std::pair<std::shared_ptr<torch::autograd::Node>, uintptr_t>> hooks_;
};

// torch::optim::Adam::step in one fused kernel per parameter list, with the same state: moments and step counts in the
// optimiser, so that checkpoints are the same. Without weight decay, without amsgrad.
void fused_step(torch::optim::Adam& adam);

// Whether a step is one, where only the device knows it. Numbers are [] float32 there.
struct StepThere {
  torch::Tensor skip;   // 1: weights and moments stay as they are; else 0
  torch::Tensor taken;  // steps up to this one that were not skipped, since count_steps()
};
// The same by the device's word, without a wait of the host. The optimiser counts these steps in count_steps() only.
void fused_step(torch::optim::Adam& adam, const StepThere& step);
void count_steps(torch::optim::Adam& adam, int64_t taken);
// 1 where a [] float64 is a finite number, else 0, as float64.
torch::Tensor finite(const torch::Tensor& number);

}  // namespace rlgo::learner
