// One line that shows how a run goes: rewritten in place on a terminal, a plain line now and then elsewhere.
#pragma once

#include <functional>
#include <string>

#include "core/base/stopwatch.h"

namespace rlgo {

class StatusLine {
 public:
  // `terminal`: rewrite in place, at most 5 times a second; else print at most every `plain_seconds`.
  StatusLine(bool enabled, bool terminal, double plain_seconds = 10.0);
  // Hands each text to `sink` instead, at most 5 times a second; `clear` hands on an empty one where one was shown.
  explicit StatusLine(std::function<void(const std::string& text)> sink);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  // `force`: on a terminal also when the last one is too recent.
  void show(const std::string& text, bool force = false);
  // Makes room for ordinary output (ends the line in place).
  void clear();

 private:
  bool enabled_, terminal_, dirty_ = false, shown_ = false;
  double plain_seconds_;
  Stopwatch since_;
  std::function<void(const std::string&)> sink_;
};

}  // namespace rlgo
