// Pictures as SVG: boxes and arrows in layers from top to bottom, laid out here (no Graphviz).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::graph {

// One box. Texts may hold any bytes.
struct Box {
  std::string title;               // first line, bold
  std::vector<std::string> lines;  // below it, small
  std::string look;                // classes of the style sheet, separated by spaces: see svg_style()
  std::string about;               // tooltip
  std::string id;                  // attribute data-id, "" for none
};

// From one box (index) down to another.
struct Arrow {
  int from = 0;
  int to = 0;
  std::string label;  // next to the head: a port, an operand's number
  std::string look;
};

struct Picture {
  std::string name;  // for readers that do not see it
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
};

struct SvgOptions {
  // The style sheet inside the picture. Off where the page around it has svg_style() already.
  bool style = true;
};

// A whole <svg> element. Arrows between the same boxes become one. Deterministic. Throws Error where the arrows have a
// cycle or name a box that is not there.
std::string to_svg(const Picture& picture, const SvgOptions& options = {});

// The style sheet of all pictures (for light and dark backgrounds). Looks of boxes: "leaf" (inputs, outputs, variables
// of rules), "heavy" (matmul, conv), "opaque", "hidden" (stands for several), and next to one of these "added",
// "removed", "touched". Looks of arrows: "added", "removed", "weak".
std::string_view svg_style();

// Text that may stand in XML and HTML, in elements and quoted attributes. What is no UTF-8 and control characters
// become '?'.
std::string xml_escaped(std::string_view text);

struct PictureOptions {
  // Added to a node's look: "added", "removed", "touched" or "". May be empty.
  std::function<std::string_view(NodeId)> mark = {};
  // A further line of a node's box ("12.3 us"), "" for none. May be empty.
  std::function<std::string(NodeId)> note = {};
  // Folds runs of unmarked nodes away, each into one box, except those next to a marked one.
  bool only_marked = false;
};

// What of a graph is drawn: all but constant parts, which are the weights of the operators that read them; an output in
// any case. Data ids are node ids.
Picture picture(const Graph& graph, const PictureOptions& options = {});
bool is_drawn(const Graph& graph, NodeId id);

}  // namespace rlgo::graph
