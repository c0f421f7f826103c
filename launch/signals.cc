#include "launch/signals.h"

#include <unistd.h>

#include <initializer_list>

namespace rlgo::launch {
namespace {

volatile std::sig_atomic_t received = 0;

void on_signal(int number) {
  // Batch systems warn by SIGUSR1 some time before their SIGTERM: the first clean end continues.
  const bool warning = received == SIGUSR1 || number == SIGUSR1;
  if (received != 0 && !warning) ::_exit(128 + number);
  if (received == 0 || number != SIGUSR1) received = number;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (int number : {SIGINT, SIGTERM, SIGUSR1}) sigaction(number, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int stop_signal() { return received; }

EndAtInterrupt::EndAtInterrupt() : before_{} {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigemptyset(&standard.sa_mask);
  sigaction(SIGINT, &standard, &before_);
}

EndAtInterrupt::~EndAtInterrupt() { sigaction(SIGINT, &before_, nullptr); }

bool restart_wanted() { return received == SIGTERM || received == SIGUSR1; }

}  // namespace rlgo::launch
