// One self-contained HTML page: no scripts, styles, fonts or pictures from elsewhere. Also well-formed XML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rlgo::report {

using Row = std::vector<std::string>;

class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  // A section with a place in the table of contents.
  void section(std::string_view heading);
  void paragraph(std::string_view text);
  // Large numbers side by side: {"latency", "12.3 ms -> 9.9 ms", "-19.5 %"}; the third part may be left out.
  void figures(const std::vector<Row>& figures);
  // Cells that look like numbers stand to the right.
  void table(const Row& header, const std::vector<Row>& rows);
  // Preformatted text that opens on a click, or (open) stands there at once.
  void folded(std::string_view summary, std::string_view text, bool open = false);
  // Markup of this module's other writers, as it is.
  void raw(std::string_view markup) { body_ += markup; }

  std::string html() const;  // the page, in one file

 private:
  std::string title_, body_, contents_;
  int sections_ = 0;
};

}  // namespace rlgo::report
