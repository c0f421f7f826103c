#include "core/draw/svg.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/draw/layout.h"

namespace rlgo::graph {
namespace {

constexpr double kTitlePx = 12, kLinePx = 10, kPadding = 5;
constexpr size_t kMaxColumns = 44;

// Bytes of the UTF-8 character at text[at], 0 where it is none.
size_t character_bytes(std::string_view text, size_t at) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(at);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xC2 && first < 0xE0 ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0 || at + length > text.size()) return 0;
  uint32_t code = length == 1 ? first : first & (0x7Fu >> length);
  for (size_t k = 1; k < length; ++k) {
    if ((byte(at + k) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(at + k) & 0x3Fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool allowed = code >= 0xA0 || code == '\n' || code == '\t' || (code >= 0x20 && code < 0x7F);
  return overlong || !allowed || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF || (code & 0xFFFEu) == 0xFFFE
             ? 0
             : length;
}

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// At most kMaxColumns characters, the rest as "...".
std::string shortened(std::string_view text) {
  if (columns(text) <= kMaxColumns) return std::string(text);
  size_t end = 0;
  for (size_t count = 0; count < kMaxColumns - 3; ++count) {
    ++end;
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
  }
  return std::string(text.substr(0, end)) + "...";
}

struct Texts {
  std::string title;
  std::vector<std::string> lines;
  Size size;
};

Texts texts_of(const Box& box) {
  Texts texts{shortened(box.title), {}, {}};
  double width = static_cast<double>(columns(texts.title)) * kTitlePx * 0.62;
  for (const auto& line : box.lines) {
    texts.lines.push_back(shortened(line));
    width = std::max(width, static_cast<double>(columns(texts.lines.back())) * kLinePx * 0.58);
  }
  const double height = kTitlePx + static_cast<double>(texts.lines.size()) * (kLinePx + 2);
  texts.size = {std::max(28.0, width + 2 * kPadding), height + 2 * kPadding};
  return texts;
}

std::string draw_box(const Box& box, const Texts& texts, Point centre) {
  const auto [width, height] = texts.size;
  const double top = centre.y - height / 2;
  const bool round = (" " + box.look + " ").find(" leaf ") != std::string::npos;
  std::string out = fmt::format("<g class=\"box {}\"", xml_escaped(box.look));
  if (!box.id.empty()) out += fmt::format(" data-id=\"{}\"", xml_escaped(box.id));
  out += ">";
  if (!box.about.empty()) out += fmt::format("<title>{}</title>", xml_escaped(box.about));
  out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.0f}\"/>",
                     centre.x - width / 2, top, width, height, round ? height / 2 : 3);
  double y = top + kPadding + kTitlePx - 2;
  out += fmt::format("<text class=\"t\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", centre.x, y, xml_escaped(texts.title));
  for (const auto& line : texts.lines) {
    y += kLinePx + 2;
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", centre.x, y, xml_escaped(line));
  }
  return out + "</g>\n";
}

std::string draw_arrow(const Arrow& arrow, std::vector<Point> route, double start_drop, double end_rise, double end_x) {
  route.front().y += start_drop;
  route.back().y -= end_rise;
  route.back().x = end_x;
  std::string path = fmt::format("M{:.1f} {:.1f}", route[0].x, route[0].y);
  for (size_t k = 1; k < route.size(); ++k) {
    const Point a = route[k - 1], b = route[k];
    const double middle = (a.y + b.y) / 2;
    path += std::abs(a.x - b.x) < 0.5
                ? fmt::format("L{:.1f} {:.1f}", b.x, b.y)
                : fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", a.x, middle, b.x, middle, b.x, b.y);
  }
  const Point head = route.back();
  std::string out = fmt::format("<g class=\"arrow {}\"><path class=\"line\" d=\"{}\"/>", xml_escaped(arrow.look), path);
  out += fmt::format("<path class=\"head\" d=\"M{:.1f} {:.1f}l-3 -6h6z\"/>", head.x, head.y);
  if (!arrow.label.empty())
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", head.x + 5, head.y - 6, xml_escaped(arrow.label));
  return out + "</g>\n";
}

// Without doubles; their labels are joined.
std::vector<Arrow> merged(const Picture& picture) {
  std::vector<Arrow> arrows;
  std::map<std::pair<int, int>, size_t> known;
  const int boxes = static_cast<int>(picture.boxes.size());
  for (const Arrow& arrow : picture.arrows) {
    if (arrow.from < 0 || arrow.from >= boxes || arrow.to < 0 || arrow.to >= boxes)
      fail("an arrow from {} to {}, but there are {} boxes", arrow.from, arrow.to, boxes);
    const auto [at, added] = known.emplace(std::pair{arrow.from, arrow.to}, arrows.size());
    if (added) {
      arrows.push_back(arrow);
    } else if (!arrow.label.empty()) {
      auto& label = arrows[at->second].label;
      label += (label.empty() ? "" : ", ") + arrow.label;
    }
  }
  return arrows;
}

// Where each arrow meets the top of its box: spread out, in the order in which they come in.
std::vector<double> head_places(std::span<const Arrow> arrows, const Layout& layout, std::span<const Texts> texts) {
  std::map<int, std::vector<size_t>> into;
  for (size_t k = 0; k < arrows.size(); ++k) into[arrows[k].to].push_back(k);
  std::vector<double> places(arrows.size());
  for (auto& [box, list] : into) {
    std::stable_sort(list.begin(), list.end(), [&](size_t a, size_t b) {
      return layout.routes[a][layout.routes[a].size() - 2].x < layout.routes[b][layout.routes[b].size() - 2].x;
    });
    const double step = std::min(14.0, texts[box].size.width / static_cast<double>(list.size() + 1));
    for (size_t k = 0; k < list.size(); ++k) {
      places[list[k]] =
          layout.centres[box].x + (static_cast<double>(k) - static_cast<double>(list.size() - 1) / 2) * step;
    }
  }
  return places;
}

}  // namespace

std::string_view svg_style() {
  return R"(.rlgo-graph text{font:10px Helvetica,Arial,sans-serif;text-anchor:middle;fill:#222}
.rlgo-graph text.t{font-size:12px;font-weight:bold}
.rlgo-graph .box rect{fill:#fff;stroke:#555;stroke-width:1}
.rlgo-graph .leaf rect{fill:#f2f2f2}
.rlgo-graph .heavy rect{fill:#d6e6f7}
.rlgo-graph .opaque rect{fill:#ddd}
.rlgo-graph .hidden rect{fill:#fafafa;stroke:#999;stroke-dasharray:4 3}
.rlgo-graph .added rect{fill:#c9f0cf;stroke:#14722b;stroke-width:2}
.rlgo-graph .removed rect{fill:#fbd3cf;stroke:#a4221a;stroke-width:2}
.rlgo-graph .touched rect{stroke:#b36b00;stroke-width:2}
.rlgo-graph .arrow path{fill:none;stroke:#777;stroke-width:1}
.rlgo-graph .arrow path.head{fill:#777;stroke:none}
.rlgo-graph .arrow text{font-size:9px;text-anchor:start;fill:#666}
.rlgo-graph .arrow.added path{stroke:#14722b}
.rlgo-graph .arrow.removed path{stroke:#a4221a}
.rlgo-graph .arrow.weak path.line{stroke-dasharray:2 3}
)";
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = character_bytes(text, at);
    const char c = text[at];
    if (length == 0)
      out += '?';
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += text.substr(at, length);
    at += std::max<size_t>(1, length);
  }
  return out;
}

std::string to_svg(const Picture& picture, const SvgOptions& options) {
  std::vector<Texts> texts;
  std::vector<Size> sizes;
  for (const Box& box : picture.boxes) {
    texts.push_back(texts_of(box));
    sizes.push_back(texts.back().size);
  }
  const auto arrows = merged(picture);
  std::vector<std::pair<int, int>> pairs;
  for (const Arrow& arrow : arrows) pairs.emplace_back(arrow.from, arrow.to);
  const Layout layout = layered_layout(sizes, pairs);
  const auto heads = head_places(arrows, layout, texts);

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rlgo-graph\" role=\"img\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n",
      std::ceil(layout.width), std::ceil(layout.height));
  out += fmt::format("<title>{}</title>\n", xml_escaped(picture.name));
  if (options.style) out += fmt::format("<style>{}</style>\n", svg_style());
  for (size_t k = 0; k < arrows.size(); ++k) {
    out += draw_arrow(arrows[k], layout.routes[k], sizes[arrows[k].from].height / 2, sizes[arrows[k].to].height / 2,
                      heads[k]);
  }
  for (size_t k = 0; k < picture.boxes.size(); ++k) out += draw_box(picture.boxes[k], texts[k], layout.centres[k]);
  return out + "</svg>\n";
}

}  // namespace rlgo::graph
