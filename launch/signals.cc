#include "launch/signals.h"

#include <csignal>
#include <initializer_list>
#include <unistd.h>

namespace rlgo::launch {
namespace {

volatile std::sig_atomic_t received = 0;

void on_signal(int number) {
  if (received != 0) ::_exit(128 + number);
  received = number;
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

}  // namespace rlgo::launch
