// Fits the trees that boosted_trees.h reads: gradient boosting (Friedman 2001) of small regression trees.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rlgo::cost {

struct TreeFitOptions {
  int trees = 200;
  int leaves = 7;        // of a tree, at most; the most useful split first
  int least = 5;         // examples of a leaf, at least
  double rate = 0.05;    // what a tree adds of what its leaves found
  double huber = 0.3;    // errors beyond it count as if they were so large (Huber 1964); 0: squares of all
  double ridge = 1;      // examples of error 0 that are added to each leaf
  double rows = 0.8;     // of the examples, drawn for each tree (Friedman 2002), in (0, 1]
  double columns = 0.6;  // of the features, in (0, 1]
  uint64_t seed = 0;     // of what is drawn
};

// Features by name, those that are 0 left out, and the number to predict from them.
struct TreeExample {
  std::vector<std::pair<std::string, double>> features;
  double target = 0;
};

struct FittedTrees {
  std::vector<std::string> features;  // by number
  std::vector<std::string> lines;     // "tree ...", of BoostedTrees; the first is a constant, the targets' median
};
// The same examples in the same order and the same options give the same trees. `known`: names that the first features
// are to have, in this order. Exact splits halfway between neighbouring values. Throws Error where fewer than twice
// `least` examples are given, or a number is not finite.
FittedTrees fit_trees(const std::vector<TreeExample>& examples, const TreeFitOptions& options = {},
                      std::vector<std::string> known = {});

}  // namespace rlgo::cost
