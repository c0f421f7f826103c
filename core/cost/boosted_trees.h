// A sum of regression trees (gradient boosting: Friedman 2001), as a file shows it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rlgo::cost {

// Read from text:
//
//   # comment
//   device AMD EPYC                         what the times were taken on that the trees learned from; may be missing
//   features price bytes count:relu         names, in the order of their numbers
//   tree 0 6.5 2 1.25 =0.1 =-0.2 =0.03      one tree each: what follows a feature's number and a threshold are the two
//                                           branches, where the feature is at most the threshold, and where it is more;
//                                           =x is a leaf
class BoostedTrees {
 public:
  // Throws Error "FILE:LINE: reason".
  BoostedTrees(const std::string& text, const std::string& file_name);

  // `features` by name: those not named are 0, and names that the trees do not know are ignored. The sum of the leaves.
  double operator()(std::span<const std::pair<std::string, double>> features) const;
  const std::string& device() const { return device_; }

 private:
  struct Node {
    double value = 0;      // threshold, or what a leaf adds
    int32_t feature = -1;  // -1: a leaf
    uint32_t more = 0;     // where the branch of what is more begins; the other one is the next node
  };
  std::string device_;
  std::unordered_map<std::string, size_t> features_;
  std::vector<Node> nodes_;  // all trees, each before its branches
  std::vector<size_t> roots_;
};

}  // namespace rlgo::cost
