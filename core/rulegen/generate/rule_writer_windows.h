// Attributes of convolutions, pools and enlarged kernels of the rule that is written. Inside of rule_writer_text.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/rulegen/generate/rule_writer.h"

namespace rlgo::rulegen {

std::string list_text(std::span<const int> values);  // "[0, 1]"

class WindowText {
 public:
  WindowText(const Family& family, const Candidate& pair, const RuleStyle& style);
  // Conditions that the text needs are added to `conditions`. side: 0 left, 1 right.
  // channels: of the input, where the convolution is depthwise and on the right.
  std::string conv(int side, const OpStep& step, const OpConfig& config, const std::string& channels,
                   std::vector<std::string>& conditions) const;
  std::string pool(const OpConfig& config) const;
  std::string enlarge(int side) const;  // pads

 private:
  bool enlarges() const { return enlarges_left_ || enlarges_right_; }
  std::string window_pads(const OpConfig& config, std::vector<std::string>& conditions) const;

  const Family& family_;
  const RuleStyle& style_;
  int acts_ = 0, groups_ = 0, kernels_ = 0, kernels_left_ = 0;  // bit 0: none, 1, 1x1; bit 1: the other
  bool mixed_ = false;  // windows of one operator and kernel class move or pad differently; or convolutions are pools
  bool enlarges_left_ = false, enlarges_right_ = false;
};

// A constant of the right side. extents: of its axes; but for identities, whose first is asked alone. type: "to=..".
std::string constant_text(int constant, std::span<const std::string> extents, const std::string& type);

// Demands ranks of these variables. ranks: 2: these numbers; 1: equal where they are equal; 0: those of scalars alone.
void add_rank_demands(const Family& family, std::span<const int> free, int ranks, std::vector<std::string>& conditions);

// Demands that of these variables those of one symbolic shape have equal shapes, and, with `extents`, that equal
// symbolic extents of others are equal.
void add_shape_demands(const Family& family, const SymbolicPair& symbols, std::span<const int> free, bool extents,
                       std::vector<std::string>& conditions);

}  // namespace rlgo::rulegen
