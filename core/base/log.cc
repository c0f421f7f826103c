#include "core/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <mutex>

#include "core/base/error.h"

namespace rlgo {
namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::silent:
      break;
  }
  return spdlog::level::off;
}

class FunctionSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FunctionSink(std::function<void(LogLevel, std::string_view)> function) : function_(std::move(function)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& line) override {
    const LogLevel level = line.level >= spdlog::level::err    ? LogLevel::error
                           : line.level >= spdlog::level::warn ? LogLevel::warning
                                                               : LogLevel::info;
    function_(level, std::string_view(line.payload.data(), line.payload.size()));
  }
  void flush_() override {}

  const std::function<void(LogLevel, std::string_view)> function_;
};

}  // namespace

Log::Log(const LogOptions& options) {
  std::vector<spdlog::sink_ptr> sinks;
  sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  sinks.back()->set_level(level_of(options.console));
  if (!options.file.empty()) {
    try {
      sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file.string()));
    } catch (const spdlog::spdlog_ex& e) {
      fail("{}: cannot open the log: {}", options.file.string(), e.what());
    }
  }
  logger_ = std::make_shared<spdlog::logger>("rlgo", sinks.begin(), sinks.end());
  logger_->set_pattern(fmt::format("%T.%e [{}] %l: %v", options.rank));
  logger_->set_level(spdlog::level::info);
  logger_->flush_on(spdlog::level::info);  // lines are few, and a killed run must leave them
}

Log::Log(std::function<void(LogLevel level, std::string_view text)> sink) {
  logger_ = std::make_shared<spdlog::logger>("rlgo", std::make_shared<FunctionSink>(std::move(sink)));
}

void Log::write(LogLevel level, std::string_view text) const {
  if (logger_ && level != LogLevel::silent)
    logger_->log(level_of(level), spdlog::string_view_t(text.data(), text.size()));
}

void Log::flush() const {
  if (logger_) logger_->flush();
}

}  // namespace rlgo
