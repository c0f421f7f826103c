#include "core/base/status_line.h"

#include <cstdio>

namespace rlgo {

StatusLine::StatusLine(bool enabled, bool terminal, double plain_seconds)
    : enabled_(enabled), terminal_(terminal), plain_seconds_(plain_seconds) {}
StatusLine::~StatusLine() { clear(); }

void StatusLine::show(const std::string& text, bool force) {
  if (!enabled_) return;
  if (shown_ && !force && since_.seconds() < (terminal_ ? 0.2 : plain_seconds_)) return;
  since_.restart();
  shown_ = true;
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
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  dirty_ = false;
}

}  // namespace rlgo
