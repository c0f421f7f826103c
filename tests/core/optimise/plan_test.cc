// Deadlines of rlgo optimise, by a clock that tests turn.
#include "core/optimise/plan.h"

#include <gtest/gtest.h>

#include "core/optimise/clock.h"

namespace rlgo::optimise {
namespace {

TEST(TimePlan, FractionsOfAQuietMachine) {
  const TimePlan plan = make_plan(100, 0, 5, 2);
  EXPECT_DOUBLE_EQ(plan.choose_s, 85);
  EXPECT_DOUBLE_EQ(plan.search_s, 60);
  EXPECT_DOUBLE_EQ(plan.timing_s, 21);
  EXPECT_DOUBLE_EQ(plan.sweep_s, 30);
  EXPECT_DOUBLE_EQ(plan.sweeps_s, 39);
  EXPECT_DOUBLE_EQ(plan.late_s, plan.search_s);
}

TEST(TimePlan, WhatMustFollowIsTakenFromSearchingAndComparisons) {
  const TimePlan plan = make_plan(15, 3, 6, 2);
  EXPECT_DOUBLE_EQ(plan.choose_s, 9);
  EXPECT_DOUBLE_EQ(plan.search_s, 7);
  EXPECT_DOUBLE_EQ(plan.timing_s, 3 + 0.35 * 4);
}

// What is found late makes the command longer than it was given; nothing at all would help nobody.
TEST(TimePlan, WhereChecksCutSearchingItGoesOnUntilSomethingIsFound) {
  EXPECT_DOUBLE_EQ(make_plan(10, 2, 7, 1).late_s, 8.5);
  EXPECT_DOUBLE_EQ(make_plan(10, 2, 7, 4).late_s, 6);
  const TimePlan over = make_plan(10, 12, 7, 1);
  EXPECT_DOUBLE_EQ(over.late_s, over.search_s);
}

// A busy machine's first runs predict checks that fill all the time; with costs known a search takes milliseconds.
TEST(TimePlan, SearchingAndComparingKeepAShareOnAStarvedMachine) {
  const TimePlan plan = make_plan(15, 9, 20, 8);
  EXPECT_DOUBLE_EQ(plan.search_s, 9 + 0.25 * 6);
  EXPECT_DOUBLE_EQ(plan.choose_s, plan.search_s + 0.15 * 6);
  EXPECT_GT(plan.sweep_s, 9);
}

TEST(TimePlan, AShortSearchIsMadeWhereAllTimeIsOver) {
  EXPECT_DOUBLE_EQ(make_plan(8, 10, 20, 8).search_s, 11.5);
  EXPECT_DOUBLE_EQ(make_plan(1, 10, 20, 8).search_s, 10.2);
}

TEST(TimingEstimate, TheLatestComparisonShowsWhatTheNextWillTake) {
  TimingEstimate timing;
  EXPECT_EQ(timing.compare_s(3, 7), 0);
  EXPECT_EQ(timing.rounds(1, 3, 7, 31), 31);
  timing.note(2, 5, 2.0);  // 2 models, as long as 10 runs each: 0.1 s a run
  EXPECT_DOUBLE_EQ(timing.compare_s(3, 7), 3.6);
  EXPECT_EQ(timing.models(3.5, 5), 3u);
  EXPECT_EQ(timing.rounds(6.1, 3, 7, 31), 15);
  EXPECT_EQ(timing.rounds(0.5, 3, 7, 31), 7);
  timing.note(2, 5, 20.0);
  EXPECT_EQ(timing.models(3.5, 5), 0u);
  timing.note(0, 0, 0);  // states nothing
  EXPECT_DOUBLE_EQ(timing.compare_s(1, 5), 10);
}

TEST(TimingEstimate, ASlowModelIsLoadedInAboutARun) {
  TimingEstimate timing;
  timing.note(2, 1, 8.0);  // 2 models, loaded and run once each: 2 s a run
  EXPECT_DOUBLE_EQ(timing.compare_s(2, 4), 20);
  EXPECT_EQ(timing.rounds(20, 2, 1, 31), 4);
  timing.note(2, 1, 8.0, 0.6);  // warmed up by several runs, as the runtime does not call it slow: 4 s are 6 runs
  EXPECT_DOUBLE_EQ(timing.run_s(), 4.0 / 6);
}

TEST(OptimiseClock, BooksTimeByKind) {
  double now = 100;
  StatusLine line(false, false);
  bool stop = false;
  const std::function<bool()> interrupted = [&] { return stop; };
  OptimiseClock clock(line, 10, interrupted, [&] { return now; });
  clock.phase("reading", "reading x");
  now += 2;
  clock.phase("searching", "search (sweep)");
  now += 3;
  clock.timing(0, 8);
  now += 1;
  clock.timing(8, 8);  // back to searching
  now += 0.5;
  clock.phase("reading", "reading again");
  now += 0.25;
  const auto phases = clock.phases();
  ASSERT_EQ(phases.size(), 4u);  // the first is "start"
  EXPECT_EQ(phases[1].name, "reading");
  EXPECT_DOUBLE_EQ(phases[1].seconds, 2.25);
  EXPECT_EQ(phases[2].name, "searching");
  EXPECT_DOUBLE_EQ(phases[2].seconds, 3.5);
  EXPECT_EQ(phases[3].name, "timing operators");
  EXPECT_DOUBLE_EQ(phases[3].seconds, 1);
  EXPECT_DOUBLE_EQ(clock.passed(), 6.75);
  EXPECT_TRUE(clock.over(6.75));
  EXPECT_FALSE(clock.over(6.76));
  stop = true;
  EXPECT_TRUE(clock.over(100));
}

TEST(OptimiseClock, CutsShortAtItsEndAndSoonAfterASignal) {
  double now = 100;
  StatusLine line(false, false);
  bool stop = false;
  const std::function<bool()> interrupted = [&] { return stop; };
  OptimiseClock clock(line, 10, interrupted, [&] { return now; });
  const Deadline deadline = clock.deadline();
  EXPECT_TRUE(deadline.left() > 1e9);
  clock.end_by(8, 0.5);
  EXPECT_DOUBLE_EQ(deadline.left(), 8);
  now += 3;
  stop = true;
  EXPECT_DOUBLE_EQ(deadline.left(), 0.5);
  now += 0.5;
  EXPECT_TRUE(deadline.over());
  clock.end_by(12, 2);  // what follows has two seconds from the signal on
  EXPECT_DOUBLE_EQ(deadline.left(), 1.5);
  clock.end_by(4, 2);
  EXPECT_DOUBLE_EQ(deadline.left(), 0.5);
}

TEST(Bound, AThirdMoreAndAFewRunsOfTheModel) {
  const Bound bound = make_bound(6, 0.2, 0.5);
  EXPECT_LT(bound.end_s, 1.5 * 6 + 25 * 0.2 + 0.5);
  EXPECT_DOUBLE_EQ(bound.end_s, 1.4 * 6 + 22 * 0.2 + 0.5);
  // Comparisons that are late leave three quarters of what is left; none where nothing is.
  EXPECT_DOUBLE_EQ(bound.choose_s(5.3), 5.3 + 0.25 * 8);
  EXPECT_DOUBLE_EQ(bound.choose_s(20), 20);
  // The final measurement has what it takes, but no more than 40 % of what is left.
  EXPECT_DOUBLE_EQ(bound.checks_s(5.3, 2), 11.3);
  EXPECT_DOUBLE_EQ(bound.checks_s(5.3, 60), 5.3 + 0.6 * 8);
  EXPECT_DOUBLE_EQ(bound.checks_s(20, 2), 20);
}

TEST(Plan, ReportsWhenChecksAloneTakeLonger) {
  EXPECT_EQ(overrun_text(8, 1, 7, 12), "");
  const std::string text = overrun_text(8, 3, 8.5, 13.2);
  EXPECT_NE(text.find("take 12 s here or more"), std::string::npos) << text;
  EXPECT_NE(text.find("--seconds 8 may become 14 s"), std::string::npos) << text;
  EXPECT_EQ(text.find("synthetic"), std::string::npos) << text;
  EXPECT_TRUE(overrun_text(8, 3, 8.5, 13.2, "--size h=320").ends_with("smaller than --size h=320"));
}

}  // namespace
}  // namespace rlgo::optimise
