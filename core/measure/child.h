// A child process that is spoken to in lines of text.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rlgo::measure {

// Runs in a process group of its own (Ctrl-C at the terminal does not reach it); the group is ended with the object.
// Its standard input closes when this process ends, however that happens.
class Child {
 public:
  // command[0] is looked for in PATH. Standard error goes to `error_file`. Throws Error where it cannot be started.
  Child(const std::vector<std::string>& command, const std::filesystem::path& error_file);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // False where the child no longer reads.
  bool write_line(std::string_view line, double timeout_s);
  enum class Read { line, timeout, end };
  // The next line without its line break. `end`: the child closed its output.
  Read read_line(std::string& line, double timeout_s);
  // Waits for the end, at most so long; "exit status 3", "signal 9 (Killed)", "still running".
  std::string wait_end(double timeout_s);
  void kill();

 private:
  void close_pipes();
  int pid_ = -1;
  int in_ = -1;   // to its standard input
  int out_ = -1;  // from its standard output
  std::string buffer_;
  std::optional<int> status_;
};

// "; its last output: ..." with the end of what a child wrote to its error file; "" where it wrote nothing.
std::string last_words(const std::filesystem::path& error_file);

}  // namespace rlgo::measure
