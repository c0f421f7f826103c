#include "core/optimise/other_sizes.h"

#include <gtest/gtest.h>

#include <limits>

namespace rlgo::optimise {
namespace {

SizeLatency timed(const std::string& sizes, double ratio, bool slower) {
  SizeLatency out{sizes, {}};
  out.latency.error.clear();
  out.latency.ratio = ratio;
  out.latency.lower = ratio - 0.05;
  out.latency.upper = ratio + 0.05;
  out.latency.slower = slower;
  return out;
}

TEST(AtSizes, ReportsWhatIsFasterAndWhatIsSlower) {
  EXPECT_EQ(at_sizes_text({}), "");
  EXPECT_EQ(at_sizes_text({timed("N=1", 0.76, false), timed("N=7", 1.1, true)}),
            "at N=1 0.76 (0.71 to 0.81) of the latency, at N=7 slower: 1.10 (1.05 to 1.15)");
  EXPECT_EQ(at_sizes_text({{"N=1", {}}}), "");  // not measured
  SizeLatency once = timed("N=1", 0.4, false);
  once.latency.upper = std::numeric_limits<double>::infinity();
  EXPECT_EQ(at_sizes_text({once}), "at N=1 0.40 (one process, no interval) of the latency");
}

}  // namespace
}  // namespace rlgo::optimise
