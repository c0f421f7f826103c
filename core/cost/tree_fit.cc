#include "core/cost/tree_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/quantile.h"
#include "core/base/rng.h"

namespace rlgo::cost {
namespace {

constexpr double kLeastGain = 1e-12;

// Examples as columns, and the order of each column's values.
struct Columns {
  size_t rows = 0;
  std::vector<std::vector<double>> values;    // by feature
  std::vector<std::vector<uint32_t>> sorted;  // examples by their value
};

struct Split {
  double gain = 0, threshold = 0;
  int feature = -1;  // -1: none
};

struct Leaf {
  std::vector<std::vector<uint32_t>> sorted;  // its drawn examples, by value, for each drawn feature
  double sum = 0;                             // of what is left to explain
  size_t count = 0;
  Split split;
  int at = 0;  // number of its node
};

struct Node {
  double value = 0;
  int feature = -1, less = -1, more = -1;
};

class Fitter {
 public:
  Fitter(Columns columns, std::vector<double> targets, const TreeFitOptions& options)
      : x_(std::move(columns)), y_(std::move(targets)), options_(options), rng_({options.seed, x_.rows}) {
    start_ = median(y_);
    guess_.assign(x_.rows, start_);
    left_.resize(x_.rows);
  }

  double start() const { return start_; }

  // The next tree, its root first; what it explains is taken off.
  std::vector<Node> next() {
    for (size_t i = 0; i < x_.rows; ++i) {
      left_[i] = y_[i] - guess_[i];
      if (options_.huber > 0) left_[i] = std::clamp(left_[i], -options_.huber, options_.huber);
    }
    draw();
    std::vector<Node> nodes(1);
    std::vector<Leaf> leaves;
    leaves.push_back(root());
    while (leaves.size() < static_cast<size_t>(options_.leaves)) {
      const auto best = std::ranges::max_element(leaves, {}, [](const Leaf& leaf) { return leaf.split.gain; });
      if (best->split.feature < 0) break;
      grow(nodes, leaves, static_cast<size_t>(best - leaves.begin()));
    }
    for (const Leaf& leaf : leaves)
      nodes[static_cast<size_t>(leaf.at)].value =
          options_.rate * leaf.sum / (static_cast<double>(leaf.count) + options_.ridge);
    for (size_t i = 0; i < x_.rows; ++i) guess_[i] += value(nodes, i);
    return nodes;
  }

 private:
  // Some of `all` numbers, in order.
  std::vector<char> chosen(size_t all, double fraction) {
    const auto wanted =
        std::clamp<size_t>(static_cast<size_t>(std::lround(fraction * static_cast<double>(all))), 1, all);
    std::vector<char> out(all, 0);
    size_t missing = wanted;
    for (size_t k = 0; k < all; ++k) {
      out[k] = rng_.below(all - k) < missing ? 1 : 0;
      missing -= static_cast<size_t>(out[k]);
    }
    return out;
  }

  void draw() {
    row_used_ = chosen(x_.rows, options_.rows);
    const auto used = chosen(x_.values.size(), options_.columns);
    features_.clear();
    for (size_t f = 0; f < used.size(); ++f)
      if (used[f] != 0) features_.push_back(f);
  }

  Leaf root() {
    Leaf leaf;
    leaf.sorted.resize(features_.size());
    for (size_t k = 0; k < features_.size(); ++k)
      std::ranges::copy_if(x_.sorted[features_[k]], std::back_inserter(leaf.sorted[k]),
                           [&](uint32_t i) { return row_used_[i] != 0; });
    finish(leaf);
    return leaf;
  }

  double score(double sum, size_t count) const { return sum * sum / (static_cast<double>(count) + options_.ridge); }

  void finish(Leaf& leaf) {
    const auto& any = leaf.sorted.front();
    leaf.count = any.size();
    // In the order of the examples, so that the sum does not depend on which features were drawn.
    std::vector<uint32_t> examples = any;
    std::ranges::sort(examples);
    for (const uint32_t i : examples) leaf.sum += left_[i];
    const auto least = static_cast<size_t>(options_.least);
    const double whole = score(leaf.sum, leaf.count);
    for (size_t k = 0; k < features_.size(); ++k) {
      const auto& order = leaf.sorted[k];
      const auto& values = x_.values[features_[k]];
      if (order.size() < 2 * least || values[order.front()] == values[order.back()]) continue;
      double sum = 0;
      for (size_t n = 1; n + least <= order.size(); ++n) {
        sum += left_[order[n - 1]];
        const double here = values[order[n - 1]], next = values[order[n]];
        if (n < least || here == next) continue;
        const double gain = score(sum, n) + score(leaf.sum - sum, leaf.count - n) - whole;
        if (gain > std::max(leaf.split.gain, kLeastGain))
          leaf.split = {gain, here + (next - here) / 2, static_cast<int>(features_[k])};
      }
    }
  }

  void grow(std::vector<Node>& nodes, std::vector<Leaf>& leaves, size_t which) {
    const Leaf old = std::move(leaves[which]);
    const auto& values = x_.values[static_cast<size_t>(old.split.feature)];
    Leaf less, more;
    less.sorted.resize(features_.size());
    more.sorted.resize(features_.size());
    for (size_t k = 0; k < features_.size(); ++k)
      for (const uint32_t i : old.sorted[k]) (values[i] <= old.split.threshold ? less : more).sorted[k].push_back(i);
    less.at = static_cast<int>(nodes.size());
    more.at = less.at + 1;
    nodes[static_cast<size_t>(old.at)] = {old.split.threshold, old.split.feature, less.at, more.at};
    nodes.resize(nodes.size() + 2);
    finish(less);
    finish(more);
    leaves[which] = std::move(less);
    leaves.push_back(std::move(more));
  }

  double value(const std::vector<Node>& nodes, size_t example) const {
    const Node* node = nodes.data();
    while (node->feature >= 0) {
      const double x = x_.values[static_cast<size_t>(node->feature)][example];
      node = &nodes[static_cast<size_t>(x <= node->value ? node->less : node->more)];
    }
    return node->value;
  }

  Columns x_;
  std::vector<double> y_, guess_, left_;
  TreeFitOptions options_;
  Rng rng_;
  double start_ = 0;
  std::vector<char> row_used_;
  std::vector<size_t> features_;
};

Columns columns_of(const std::vector<TreeExample>& examples, std::vector<std::string>& names) {
  std::unordered_map<std::string, size_t> number;
  for (const auto& name : names) number.emplace(name, number.size());
  Columns out;
  out.rows = examples.size();
  out.values.assign(names.size(), std::vector<double>(out.rows, 0.0));
  for (size_t i = 0; i < out.rows; ++i) {
    if (!std::isfinite(examples[i].target)) fail("trees cannot be fitted to a target that is not a number");
    for (const auto& [name, value] : examples[i].features) {
      if (!std::isfinite(value)) fail("feature '{}' is not a number", name);
      const auto [at, is_new] = number.emplace(name, names.size());
      if (is_new) {
        names.push_back(name);
        out.values.emplace_back(out.rows, 0.0);
      }
      out.values[at->second][i] = value;
    }
  }
  for (const auto& values : out.values) {
    auto& order = out.sorted.emplace_back(out.rows);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return values[i]; });
  }
  return out;
}

void write(const std::vector<Node>& nodes, int at, std::string& line) {
  const Node& node = nodes[static_cast<size_t>(at)];
  if (node.feature < 0) {
    line += fmt::format(" ={:.6g}", node.value);
    return;
  }
  line += fmt::format(" {} {}", node.feature, node.value);
  write(nodes, node.less, line);
  write(nodes, node.more, line);
}

}  // namespace

FittedTrees fit_trees(const std::vector<TreeExample>& examples, const TreeFitOptions& options,
                      std::vector<std::string> known) {
  if (examples.size() < 2 * static_cast<size_t>(options.least))
    fail("{} examples are too few to fit trees to: {} at least", examples.size(), 2 * options.least);
  FittedTrees out;
  out.features = std::move(known);
  Columns columns = columns_of(examples, out.features);
  std::vector<double> targets;
  for (const auto& example : examples) targets.push_back(example.target);
  const bool constant = columns.values.empty();  // nothing to split by
  Fitter fitter(std::move(columns), std::move(targets), options);
  out.lines.push_back(fmt::format("tree ={:.6g}", fitter.start()));
  for (int k = 0; k < options.trees && !constant; ++k) {
    std::string line = "tree";
    const auto nodes = fitter.next();
    write(nodes, 0, line);
    out.lines.push_back(std::move(line));
  }
  return out;
}

}  // namespace rlgo::cost
