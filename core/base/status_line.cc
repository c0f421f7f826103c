#include "core/base/status_line.h"

#include <cstdio>
#include <utility>

namespace rlgo {

StatusLine::StatusLine(bool enabled, bool terminal, double plain_seconds)
    : enabled_(enabled), terminal_(terminal), plain_seconds_(plain_seconds) {}
StatusLine::StatusLine(std::function<void(const std::string& text)> sink)
    : enabled_(true), terminal_(true), plain_seconds_(0), sink_(std::move(sink)) {}
StatusLine::~StatusLine() {
  if (!sink_) clear();  // a sink may throw
}

void StatusLine::show(const std::string& text, bool force) {
  if (!enabled_) return;
  // Elsewhere the first line comes late too: short jobs leave none.
  const double pause_s = !terminal_ ? plain_seconds_ : force ? 0.0 : 0.2;
  if ((shown_ || !terminal_) && since_.seconds() < pause_s) return;
  since_.restart();
  shown_ = true;
  if (sink_) {
    dirty_ = true;
    sink_(text);
    return;
  }
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    dirty_ = true;
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  std::fflush(stderr);
}

void StatusLine::clear() {
  if (!dirty_) return;
  dirty_ = false;
  if (sink_) {
    sink_("");
    return;
  }
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace rlgo
