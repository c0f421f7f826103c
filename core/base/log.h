// Log lines of one process: "12:03:41.250 [2] warning: text", to standard error and, where asked for, to a file.
#pragma once

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace spdlog {
class logger;
}

namespace rlgo {

enum class LogLevel : uint8_t { info, warning, error, silent };

struct LogOptions {
  int rank = 0;                       // in front of each line
  LogLevel console = LogLevel::info;  // the least that goes to standard error
  std::filesystem::path file;         // appended to; "" for none. Gets everything.
};

// Made by `launch` and handed down; there is no global one. Lines of several threads are kept whole.
class Log {
 public:
  // Drops every line: for tests and for parts that run on their own.
  Log() = default;
  // Throws Error where the file cannot be opened. A file that cannot be written later (disk full) is reported on
  // standard error, and the run continues.
  explicit Log(const LogOptions& options);
  // Hands each line, as it was written, to `sink`: one at a time, from any thread.
  explicit Log(std::function<void(LogLevel level, std::string_view text)> sink);

  template <typename... Args>  // what every run shows
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    if (logger_) write(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>  // what a user should look at
  void warn(fmt::format_string<Args...> format, Args&&... args) const {
    if (logger_) write(LogLevel::warning, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>  // what made something fail
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    if (logger_) write(LogLevel::error, fmt::format(format, std::forward<Args>(args)...));
  }
  void write(LogLevel level, std::string_view text) const;  // one line, as it stands
  // Everything written so far is in the file.
  void flush() const;

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace rlgo
