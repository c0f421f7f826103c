// A sum of regression trees (gradient boosting: Friedman 2001), as a file shows it.
#pragma once

#include <cstdint>
#include <map>
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
//   model measured:onnxruntime-1.31.1       with `threads 1`: what else they hold for (cost::TableOrigin); may be
//   missing base AMD EPYC                           the device whose trees are among them, and others correct; may be
//   missing features price bytes count:relu         names, in the order of their numbers tree 0 6.5 2 1.25 =0.1 =-0.2
//   =0.03      one tree each: what follows a feature's number and a threshold are the two
//                                           branches, where the feature is at most the threshold, and where it is more;
//                                           =x is a leaf
class BoostedTrees {
 public:
  // Throws Error "FILE:LINE: reason".
  BoostedTrees(const std::string& text, const std::string& file_name);

  // `features` by name: those not named are 0, and names that the trees do not know are ignored. The sum of the leaves.
  double operator()(std::span<const std::pair<std::string, double>> features) const;
  // The names of lines `device`, `model`, `threads`, `base`; "" where the file has none.
  const std::string& device() const { return note("device"); }
  const std::string& note(const std::string& word) const;

 private:
  struct Node {
    double value = 0;      // threshold, or what a leaf adds
    int32_t feature = -1;  // -1: a leaf
    uint32_t more = 0;     // where the branch of what is more begins; the other one is the next node
  };
  std::map<std::string, std::string> notes_;
  std::unordered_map<std::string, size_t> features_;
  std::vector<Node> nodes_;  // all trees, each before its branches
  std::vector<size_t> roots_;
};

}  // namespace rlgo::cost
