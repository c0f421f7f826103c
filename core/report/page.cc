#include "core/report/page.h"

#include "core/base/error.h"
#include "core/draw/svg.h"
#include "core/report/assets.h"

namespace rlgo::report {
namespace {

using graph::xml_escaped;

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_of("0123456789") != std::string_view::npos &&
         text.find_first_not_of("0123456789+-.,e %x") == std::string_view::npos;
}

std::string cell(std::string_view tag, std::string_view text) {
  return fmt::format("<{0}{1}>{2}</{0}>", tag, is_number(text) ? " class=\"n\"" : "", xml_escaped(text));
}

}  // namespace

void Page::section(std::string_view heading) {
  const int number = ++sections_;
  contents_ += fmt::format("<a href=\"#s{}\">{}</a>\n", number, xml_escaped(heading));
  body_ += fmt::format("<h2 id=\"s{}\">{}</h2>\n", number, xml_escaped(heading));
}

void Page::paragraph(std::string_view text) { body_ += fmt::format("<p>{}</p>\n", xml_escaped(text)); }

void Page::figures(const std::vector<Row>& figures) {
  body_ += "<div class=\"figures\">\n";
  for (const Row& figure : figures) {
    body_ += fmt::format("<div class=\"figure\"><span class=\"name\">{}</span><span class=\"value\">{}</span>",
                         xml_escaped(figure.at(0)), xml_escaped(figure.at(1)));
    if (figure.size() > 2) body_ += fmt::format("<span class=\"note\">{}</span>", xml_escaped(figure[2]));
    body_ += "</div>\n";
  }
  body_ += "</div>\n";
}

void Page::table(const Row& header, const std::vector<Row>& rows) {
  body_ += "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const auto& text : header) body_ += fmt::format("<th>{}</th>", xml_escaped(text));
  body_ += "</tr></thead>\n<tbody>\n";
  for (const Row& row : rows) {
    body_ += "<tr>";
    for (const auto& text : row) body_ += cell("td", text);
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void Page::folded(std::string_view summary, std::string_view text, bool open) {
  body_ += fmt::format("<details{}><summary>{}</summary><pre>{}</pre></details>\n", open ? " open=\"open\"" : "",
                       xml_escaped(summary), xml_escaped(text));
}

// The policy forbids every request to elsewhere, whatever the page holds.
std::string Page::html() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\"/>\n<title>{0}</title>\n<style>\n{1}{2}</style>\n</head>\n"
      "<body>\n<header><h1>{0}</h1>\n<nav>{3}</nav></header>\n<main>\n{4}</main>\n<script>//<![CDATA[\n{5}//]]></"
      "script>\n</body>\n</html>\n",
      xml_escaped(title_), page_style(), graph::svg_style(), contents_, body_, page_script());
}

}  // namespace rlgo::report
