// From a pair of graphs at fixed sizes to a rule of the language, as general as a test of it allows.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/rulegen/generate/candidate_dims.h"

namespace rlgo::rulegen {

// How much of the enumerated sizes the text demands. 0 is the most general of each.
struct RuleStyle {
  int axes = 2;     // 0: any axis (two names are two axes); 1: this axis, counted from the last; 2: this number
  int ranks = 2;    // 0: any; 1: equal where they were equal; 2: these numbers
  int windows = 3;  // of conv2d, pools, matmul: 0: all attributes alike, whatever they are; 1: no fused activation;
                    // 2: also one group, kernels of 1x1 plain; 3: the enumerated attributes
  int shapes = 2;   // 0: what types demand; 1: variables of one shape; 2: also equal extents of different variables
  int bias = 0;     // 1: convolutions and products may have biases
  int among = 0;    // 1: a concat on the left may have more operands around the two
  bool operator==(const RuleStyle&) const = default;
};

// The rule that turns the source into the target. Nothing where the language cannot express it (an extent that the left
// side does not bind), or where the source cannot be found. activation: the word written for gelu, which stands for any
// function of one number.
std::optional<std::string> rule_text(const Family& family, const Candidate& pair, const SymbolicPair& symbols,
                                     const RuleStyle& style, const std::string& name, const std::string& activation);

// "relu-concat-to-concat-relu": operators of both sides from the results down.
std::string rule_name(const Family& family, const Candidate& pair, const std::string& activation);
// Words for --rules: the set of operators it was made from, operators' families.
std::vector<std::string> rule_tags(const Family& family, const Candidate& pair);
// Whether any operator of the pair is the one that stands for every activation.
bool any_activation(const Family& family, const Candidate& pair);

// Asks `holds` about texts, from the most special on, each time one demand is given up. Nothing where not even the
// first holds.
std::optional<std::string> most_general(const Family& family, const Candidate& pair, const SymbolicPair& symbols,
                                        const std::string& name, const std::string& activation,
                                        const std::function<bool(const std::string&)>& holds);

}  // namespace rlgo::rulegen
