#include "core/base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/error.h"

namespace rlgo {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

enum class Colour : uint8_t { red, green };
constexpr Named<Colour> kColours[] = {{"red", Colour::red}, {"light-green", Colour::green}};

struct Paint {
  int coats = 2;
  double gloss = 0.5;
  Colour colour = Colour::red;
  std::vector<std::string> walls = {};
};
void declare(OptionSink& o, Paint& paint) {
  o.integer("paint.coats", paint.coats, 1, kNoLimit, "coats");
  o.number("paint.gloss", paint.gloss, 0, 1, "gloss", true);
  o.choice("paint.colour", paint.colour, kColours, "colour");
  o.texts("paint.walls", paint.walls, "walls");
}

class Kept : public OptionSink {
 public:
  void heading(const std::string&) override {}
  void add(Option option) override {
    const std::string key = option.key;
    options.emplace(key, std::move(option));
  }
  std::map<std::string, Option> options;
};

TEST(OptionSink, OptionsReadAndWriteTheirVariables) {
  Paint paint;
  Kept kept;
  declare(kept, paint);
  kept.options.at("paint.coats").set("3");
  kept.options.at("paint.colour").set("light-green");
  kept.options.at("paint.walls").set("north,south");
  EXPECT_EQ(paint.coats, 3);
  EXPECT_EQ(paint.colour, Colour::green);
  EXPECT_THAT(paint.walls, testing::ElementsAre("north", "south"));
  EXPECT_EQ(kept.options.at("paint.colour").get(), "light-green");
  EXPECT_EQ(kept.options.at("paint.gloss").get(), "0.5");
}

TEST(OptionSink, BoundsAreThoseOfTheTypeToo) {
  Paint paint;
  Kept kept;
  declare(kept, paint);
  EXPECT_EQ(kept.options.at("paint.coats").bounds, "1..2147483647");
  EXPECT_THROW(kept.options.at("paint.coats").set("2147483648"), Error);
  EXPECT_THAT([&] { kept.options.at("paint.gloss").set("0"); }, ThrowsMessage<Error>(HasSubstr("(0, 1]")));
  EXPECT_THAT([&] { kept.options.at("paint.colour").set("gren"); }, ThrowsMessage<Error>(HasSubstr("light-green")));
  EXPECT_EQ(paint.coats, 2);
}

TEST(BoundsCheck, NamesTheOptionThatIsOutOfBounds) {
  EXPECT_NO_THROW(check_bounds(Paint{}));
  EXPECT_THAT([] { check_bounds(Paint{.coats = 0}); }, ThrowsMessage<Error>(HasSubstr("'paint.coats': 0 is out of")));
  EXPECT_THROW(check_bounds(Paint{.gloss = std::numeric_limits<double>::quiet_NaN()}), Error);
}

TEST(NameOf, EnumsHaveNames) {
  EXPECT_STREQ(name_of(Colour::green, kColours), "light-green");
  EXPECT_STREQ(name_of(static_cast<Colour>(7), kColours), "");
}

}  // namespace
}  // namespace rlgo
