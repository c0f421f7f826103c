// Every rank runs every test. Rank 0 prints; the others print their failures.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "tests/mpi/faults.h"
#include "tests/mpi/world.h"

namespace rlgo::test {
namespace {

World* the_world = nullptr;

class FailurePrinter : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s:%d: %s\n", world().rank(), result.file_name() ? result.file_name() : "?",
                 result.line_number(), result.message());
  }
};

}  // namespace

World& world() { return *the_world; }

}  // namespace rlgo::test

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a rank that is ended must not take its last lines along
  testing::InitGoogleTest(&argc, argv);
  const auto comm = rlgo::comm::mpi_comm(&argc, &argv);
  const std::string option = argc > 1 ? argv[1] : "";
  if (option.starts_with("--fault=")) return rlgo::test::play_fault(*comm, option.substr(8));
  rlgo::test::World world(*comm);
  rlgo::test::the_world = &world;
  if (world.rank() > 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new rlgo::test::FailurePrinter);  // GoogleTest owns it
  }
  const int status = RUN_ALL_TESTS();
  if (comm->close(60)) return status;
  std::fprintf(stderr, "[rank %d] not all ranks came to the end\n", world.rank());
  return 1;
}
