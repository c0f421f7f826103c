// What files of measured costs share: a header that states what their numbers hold for, then lines of columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/cost/table.h"

namespace rlgo::cost {

struct TableFormat {
  std::string kind;     // for people: "cost table"
  std::string title;    // first line
  std::string columns;  // last line of the header: names, separated by tabs
};
// The header's lines: title, "# key value" for model, device and threads, columns.
std::string header(const TableFormat& format, const TableOrigin& origin);
// "model 'measured:cpu', device 'AMD EPYC', 1 thread".
std::string describe(const TableOrigin& origin);
// "measured-onnxruntime-1.31.1-1t-a968cfcb": what files of what holds for this origin alone are called, without ending.
std::string file_stem(const TableOrigin& origin);
// The same origin with blanks in place of tabs and line breaks, so that a header reads back.
TableOrigin on_one_line(TableOrigin origin);

// Lines of such a file, one at a time, with errors "FILE:LINE: reason".
class TableReader {
 public:
  TableReader(TableFormat format, std::string file, std::string_view text);

  // Throws Error about the line that was just read.
  template <typename... Args>
  [[noreturn]] void fail_here(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}:{}: {}", file_, next_, fmt::format(format, std::forward<Args>(args)...));
  }
  // Reads the header. Throws Error where it is not one of this format, or shows another origin than `wanted`.
  void expect_header(const TableOrigin& wanted);
  // Columns of the next line; nothing behind the last one. Throws Error where their number is not the header's.
  std::optional<std::vector<std::string>> row();

 private:
  std::optional<std::string> line();
  void expect(std::string_view wanted);
  std::string header_field(std::string_view key);

  TableFormat format_;
  std::string file_;
  std::vector<std::string> lines_;
  size_t next_ = 0;  // also the number of the line just read, counted from 1
};

}  // namespace rlgo::cost
