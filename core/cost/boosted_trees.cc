#include "core/cost/boosted_trees.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::cost {
namespace {

constexpr int kDeepest = 64;
const std::vector<std::string> kNotes = {"device", "model", "threads", "base"};

}  // namespace

BoostedTrees::BoostedTrees(const std::string& text, const std::string& file_name) {
  int line_number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++line_number;
    if (trim(line).empty()) continue;
    try {
      const auto words = split(std::string(trim(line)), ' ');
      size_t at = 1;
      const auto branch = [&](const auto& self, int depth) -> void {
        if (depth > kDeepest) fail("a tree is deeper than {} branches", kDeepest);
        if (at >= words.size()) fail("a tree ends before its last leaf");
        const std::string& word = words[at++];
        const size_t here = nodes_.size();
        nodes_.emplace_back();
        if (word.starts_with('=')) {
          nodes_[here].value = finite_number(word.substr(1));
          return;
        }
        const double feature = finite_number(word);
        if (feature < 0 || feature != std::floor(feature) || feature >= static_cast<double>(features_.size()))
          fail("'{}' is not the number of a feature: there are {}", word, features_.size());
        if (at >= words.size()) fail("a tree ends before its last leaf");
        nodes_[here].feature = static_cast<int32_t>(feature);
        nodes_[here].value = finite_number(words[at++]);
        self(self, depth + 1);
        nodes_[here].more = static_cast<uint32_t>(nodes_.size());
        self(self, depth + 1);
      };
      if (words[0] == "#") continue;
      if (std::ranges::find(kNotes, words[0]) != kNotes.end()) {
        const std::string name = join(std::span(words).subspan(1), " ");
        if (!notes_.emplace(words[0], name).second) fail("a second line of {}", words[0]);
        if (name.empty()) fail("a {} without a name", words[0]);
      } else if (words[0] == "features") {
        if (!features_.empty()) fail("a second line of features");
        for (size_t k = 1; k < words.size(); ++k)
          if (!features_.emplace(words[k], k - 1).second) fail("feature '{}' is named twice", words[k]);
      } else if (words[0] == "tree") {
        roots_.push_back(nodes_.size());
        branch(branch, 0);
        if (at != words.size()) fail("'{}' after the last leaf", words[at]);
      } else {
        fail("'{}' begins no line of trees: #, {}, features, tree", words[0], join(kNotes, ", "));
      }
    } catch (const Error& e) {
      throw e.in(fmt::format("{}:{}", file_name, line_number));
    }
  }
  if (roots_.empty()) fail("{}: has no trees", file_name);
}

const std::string& BoostedTrees::note(const std::string& word) const {
  static const std::string kNone;
  const auto found = notes_.find(word);
  return found == notes_.end() ? kNone : found->second;
}

double BoostedTrees::operator()(std::span<const std::pair<std::string, double>> features) const {
  std::vector<double> x(features_.size(), 0.0);
  for (const auto& [name, value] : features) {
    if (const auto known = features_.find(name); known != features_.end()) x[known->second] = value;
  }
  double sum = 0;
  for (size_t at : roots_) {
    while (nodes_[at].feature >= 0)
      at = x[static_cast<size_t>(nodes_[at].feature)] <= nodes_[at].value ? at + 1 : nodes_[at].more;
    sum += nodes_[at].value;
  }
  return sum;
}

}  // namespace rlgo::cost
