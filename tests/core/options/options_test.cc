#include "core/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace rlgo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// One option of each kind.
struct Sample {
  int64_t count = 3;
  double clip = 0.2, limit = 0;
  std::string name = "n", kind = "red";
  std::vector<std::string> files;
  bool fast = true;
  Options options;

  Sample() {
    options.heading("Main");
    options.integer("count", count, 1, 10, "how many");
    options.number("ppo.clip", clip, 0, 1, "range", true);
    options.number("limit", limit, 0, std::numeric_limits<double>::infinity(), "no upper end");
    options.text("name", name, "a name");
    options.heading("More");
    options.choice("kind", kind, {"red", "green"}, "colour");
    options.texts("file", files, "files");
    options.flag("fast", fast, "hurry");
  }
  std::string error(const std::vector<std::string>& arguments) {
    try {
      options.parse_command_line(arguments);
    } catch (const Error& e) {
      return e.what();
    }
    return "none";
  }
  std::string config_error(const std::string& text) {
    try {
      options.parse_config(text, "my.cfg", Source::file);
    } catch (const Error& e) {
      return e.what();
    }
    return "none";
  }
};

TEST(Options, CommandLineSetsEveryKind) {
  Sample s;
  const auto rest = s.options.parse_command_line({"--count", "7", "run", "--ppo.clip=0.5", "--kind=green", "--file",
                                                  "a", "--file", "b,c", "--fast=false", "--name", ""});
  EXPECT_THAT(rest, ElementsAre("run"));
  EXPECT_EQ(s.count, 7);
  EXPECT_EQ(s.clip, 0.5);
  EXPECT_EQ(s.kind, "green");
  EXPECT_THAT(s.files, ElementsAre("a", "b", "c"));
  EXPECT_FALSE(s.fast);
  EXPECT_EQ(s.options.source("count"), Source::command_line);
  EXPECT_EQ(s.options.source("limit"), Source::fallback);
}

TEST(Options, ABareFlagIsTrueAndTakesNothingFromWhatFollows) {
  Sample s;
  s.fast = false;
  EXPECT_THAT(s.options.parse_command_line({"--fast", "--count", "2"}), ElementsAre());
  EXPECT_TRUE(s.fast);
  EXPECT_EQ(s.count, 2);
  EXPECT_THAT(s.options.parse_command_line({"--fast", "run"}), ElementsAre("run"));
  EXPECT_THAT(s.options.parse_command_line({"--fast", "no", "run"}), ElementsAre("run"));
  EXPECT_FALSE(s.fast);
  EXPECT_THAT(s.error({"--fast=maybe"}), HasSubstr("'maybe' is neither true nor false"));
}

TEST(Options, NegativeNumbersAreValuesNotOptions) {
  Sample s;
  EXPECT_THAT(s.error({"--count", "-1"}), HasSubstr("-1 is out of bounds (1..10)"));
}

TEST(Options, BoundsBelongToTheIntervalUnlessOpen) {
  Sample s;
  EXPECT_EQ(s.error({"--count", "10"}), "none");
  EXPECT_EQ(s.error({"--count", "1"}), "none");
  EXPECT_EQ(s.error({"--ppo.clip", "1"}), "none");
  EXPECT_EQ(s.error({"--limit", "1e300"}), "none");
  EXPECT_THAT(s.error({"--count", "11"}), HasSubstr("option 'count': 11 is out of bounds (1..10)"));
  EXPECT_THAT(s.error({"--count", "0"}), HasSubstr("out of bounds"));
  EXPECT_THAT(s.error({"--ppo.clip", "0"}), HasSubstr("(0, 1]"));
  EXPECT_THAT(s.error({"--limit", "-0.1"}), HasSubstr(">= 0"));
  EXPECT_EQ(s.count, 1);  // refused values change nothing
  EXPECT_EQ(s.clip, 1);
}

TEST(Options, TextThatIsNoNumberIsRefused) {
  Sample s;
  for (const char* text : {"x", "3x", "3.5", "", "99999999999999999999"})
    EXPECT_THAT(s.error({std::string("--count=") + text}), HasSubstr("count")) << text;
  for (const char* text : {"nan", "inf", "0.1.2", "-"})
    EXPECT_THAT(s.error({std::string("--ppo.clip=") + text}), HasSubstr("is not a number")) << text;
  EXPECT_EQ(s.count, 3);
  EXPECT_EQ(s.clip, 0.2);
}

TEST(Options, UnknownOptionsAndChoicesNameTheNearest) {
  Sample s;
  EXPECT_THAT(s.error({"--ppo.clop", "1"}), HasSubstr("unknown option 'ppo.clop' (did you mean 'ppo.clip'?)"));
  EXPECT_THAT(s.error({"--cou", "1"}),
              HasSubstr("unknown option 'cou'"));  // abbreviations would change their meaning as options come
  EXPECT_THAT(s.error({"--kind", "gren"}), HasSubstr("not one of red, green (did you mean 'green'?)"));
}

TEST(Options, TwiceIsAnErrorUnlessRepeatable) {
  Sample s;
  EXPECT_THAT(s.error({"--count", "1", "--count", "2"}), HasSubstr("'count' is given 2 times"));
  EXPECT_THAT(s.error({"--count"}), HasSubstr("count"));
}

TEST(Options, ConfigurationFileWithSectionsAndComments) {
  Sample s;
  s.options.parse_config("# a comment\ncount = 5\nname = two words # comment\nkind=green\n\n[ppo]\nclip = 0.75\n",
                         "my.cfg", Source::file);
  EXPECT_EQ(s.count, 5);
  EXPECT_EQ(s.name, "two words");
  EXPECT_EQ(s.clip, 0.75);
  EXPECT_EQ(s.options.source("ppo.clip"), Source::file);
}

TEST(Options, ConfigurationErrorsNameTheFile) {
  Sample s;
  EXPECT_THAT(s.config_error("[ppo]\nclop = 1\n"),
              testing::AllOf(HasSubstr("my.cfg"), HasSubstr("'ppo.clop' (did you mean 'ppo.clip'?)")));
  EXPECT_THAT(s.config_error("count = many\n"),
              testing::AllOf(HasSubstr("my.cfg"), HasSubstr("'count'"), HasSubstr("'many'")));
  EXPECT_THAT(s.config_error("just words\n"), testing::AllOf(HasSubstr("my.cfg"), HasSubstr("just words")));
}

TEST(Options, TheStrongerSourceWinsInAnyOrder) {
  Sample s;
  s.options.parse_command_line({"--count", "7"});
  s.options.parse_config("count = 5\nname = resumed\nlimit = 1\n", "run/config.cfg", Source::resumed);
  s.options.parse_config("count = 6\nname = file\n", "my.cfg", Source::file);
  s.options.parse_config("name = resumed again\n", "run/config.cfg", Source::resumed);
  EXPECT_EQ(s.count, 7);
  EXPECT_EQ(s.name, "file");
  EXPECT_EQ(s.limit, 1);
}

TEST(Options, DumpReadsBack) {
  Sample a;
  a.options.parse_command_line({"--count", "9", "--ppo.clip", "0.1", "--limit", "0.30000000000000004", "--file", "x",
                                "--file", "y z", "--fast=false", "--name", ""});
  Sample b;
  b.options.parse_config(a.options.dump({"kind"}), "dump", Source::file);
  EXPECT_EQ(b.count, 9);
  EXPECT_EQ(b.clip, 0.1);
  EXPECT_EQ(b.limit, 0.30000000000000004);
  EXPECT_THAT(b.files, ElementsAre("x", "y z"));
  EXPECT_FALSE(b.fast);
  EXPECT_EQ(b.name, "");
  EXPECT_EQ(b.options.source("kind"), Source::fallback);  // left out
  EXPECT_EQ(a.options.dump(), b.options.dump());
}

TEST(Options, HelpShowsGroupsDefaultsAndBounds) {
  Sample s;
  const std::string help = s.options.help(false);
  EXPECT_THAT(help, HasSubstr("\nMain:\n"));
  EXPECT_THAT(help, HasSubstr("\nMore:\n"));
  EXPECT_THAT(help, HasSubstr("how many [1..10] (default: 3)"));
  EXPECT_THAT(help, HasSubstr("range (0, 1] (default: 0.2)"));
  EXPECT_THAT(help, HasSubstr("colour [red | green] (default: red)"));
  EXPECT_EQ(help, s.options.help(true));
}

TEST(Options, TheRestIsForHelpAll) {
  Sample s;
  int64_t depth = 1;
  s.options.rest();
  s.options.heading("Deep");
  s.options.integer("deep.depth", depth, 0, 9, "how deep");
  EXPECT_THAT(s.options.help(false), testing::Not(HasSubstr("how deep")));
  EXPECT_THAT(s.options.help(false), HasSubstr("\n1 more with --help-all: Deep\n"));
  EXPECT_THAT(s.options.help(true), HasSubstr("\nDeep:\n  --deep.depth "));
}

// A command with a group of its own, an alias, and an option that had another name.
struct Command {
  int64_t budget = 1, threads = 1;
  std::string table;
  Options options{"search"};
  Command() {
    options.integer("search.budget", budget, 1, kNoLimit, "tries");
    options.integer("cost.threads", threads, 1, 8, "threads");
    options.alias("threads", "cost.threads");
    options.text("cost.table", table, "table");
  }
};

TEST(Options, ACommandsOwnOptionsGoWithoutTheirGroup) {
  Command c;
  c.options.parse_command_line({"--budget", "5", "--threads=3"});
  EXPECT_EQ(c.budget, 5);
  EXPECT_EQ(c.threads, 3);
  c.options.parse_command_line({"--search.budget", "6"});
  EXPECT_EQ(c.budget, 6);
  EXPECT_THROW(c.options.parse_command_line({"--search.budget", "6", "--budget", "7"}), Error);  // twice the same
  EXPECT_THAT(c.options.help(true), HasSubstr("--budget "));
  EXPECT_THAT(c.options.help(true), HasSubstr("--threads, --cost.threads "));
  EXPECT_EQ(c.options.notice(), "");
}

TEST(Options, OldNamesAreReadWithANotice) {
  Command c;
  c.options.parse_command_line({"--costs", "a.tsv"});
  EXPECT_EQ(c.table, "a.tsv");
  c.options.parse_config("costs = b.tsv\n", "old.cfg", Source::file);
  EXPECT_EQ(c.table, "a.tsv");  // the command line wins by any name
  EXPECT_THAT(c.options.notice(), testing::AllOf(HasSubstr("command line: costs is now cost.table"),
                                                 HasSubstr("old.cfg: costs is now cost.table")));
  EXPECT_EQ(c.options.notice(), "");  // reported once
  EXPECT_THAT(
      [&] {
        c.options.parse_command_line({"--wm-data", "x"});
      },
      testing::ThrowsMessage<Error>(HasSubstr("unknown option 'wm-data'")));  // this command has no wm.data
}

// A run of an earlier revision continues where it asked for what rlgo still does.
TEST(Options, RemovedOneIsReadWithTheValueThatStayed) {
  Sample s;
  s.options.parse_config("count = 5\nppo.advantage = gae\n", "run/config.cfg", Source::resumed);
  EXPECT_EQ(s.count, 5);
  try {
    s.options.parse_config("ppo.advantage = vtrace\n", "run/config.cfg", Source::resumed);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("revision 438c83b is the last that has it"));
  }
}

}  // namespace
}  // namespace rlgo
