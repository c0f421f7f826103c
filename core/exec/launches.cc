#include "core/exec/launches.h"

#include <ATen/record_function.h>

namespace rlgo::exec {
namespace {

thread_local int operators = 0;  // LibTorch's callbacks have no object

std::unique_ptr<at::ObserverContext> count(const at::RecordFunction&) {
  ++operators;
  return nullptr;
}

}  // namespace

int count_operators(const std::function<void()>& run) {
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(count).scopes({at::RecordScope::FUNCTION}));
  operators = 0;
  try {
    run();
  } catch (...) {
    at::removeCallback(handle);
    throw;
  }
  at::removeCallback(handle);
  return operators;
}

}  // namespace rlgo::exec
