#include "replay/h5.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <limits>
#include <thread>

#include "core/base/file.h"
#include "replay/checksum.h"
#include "tests/replay/store.h"

namespace rlgo::replay {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(H5, AppendedRowsComeBack) {
  const TempFolder folder;
  h5::Writer writer("test");
  const h5::Filters filters{.gzip = 4, .chunk_bytes = 16};  // two rows of the table fill a chunk
  for (int32_t i = 0; i < 3; ++i) {
    const std::array<int32_t, 4> rows = {10 * i, 10 * i + 1, 10 * i + 2, 10 * i + 3};
    writer.append("group/table", h5::Type::i32, 2, 2, rows.data(), filters);
    writer.append("list", std::span<const int32_t>(rows), filters);
  }
  writer.save(folder / "a.h5", "test");
  const h5::Reader reader(folder / "a.h5", "test");
  EXPECT_EQ(reader.info("group/table").shape, (std::vector<uint64_t>{6, 2}));
  std::array<int32_t, 4> middle{};
  reader.rows("group/table", h5::Type::i32, 2, 2, middle.data());
  EXPECT_EQ(middle, (std::array<int32_t, 4>{10, 11, 12, 13}));
  EXPECT_EQ(reader.all<int32_t>("list"), (std::vector<int32_t>{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}));
}

template <typename T>
class H5Types : public testing::Test {};
using Numbers = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(H5Types, Numbers);

TYPED_TEST(H5Types, ExtremesComeBack) {
  using Limits = std::numeric_limits<TypeParam>;
  const std::vector<TypeParam> values = {Limits::lowest(), Limits::max(), Limits::min(), TypeParam(0), TypeParam(1)};
  const TempFolder folder;
  h5::Writer writer("test");
  writer.put("plain", std::span<const TypeParam>(values));
  writer.append("packed", std::span<const TypeParam>(values), {});
  writer.save(folder / "a.h5", "test");
  const h5::Reader reader(folder / "a.h5", "test");
  EXPECT_EQ(reader.all<TypeParam>("plain"), values);
  EXPECT_EQ(reader.all<TypeParam>("packed"), values);
  EXPECT_EQ(reader.info("packed").type, h5::type_of<TypeParam>());
}

TEST(H5, EmptyScalarAndTallArrays) {
  const TempFolder folder;
  h5::Writer writer("test");
  const double scalar = 2.5;
  const std::array<uint64_t, 3> shape = {2, 0, 3};
  const std::array<uint64_t, 3> cube = {2, 1, 2};
  const std::array<float, 4> numbers = {1, 2, 3, 4};
  writer.put("scalar", h5::Type::f64, {}, &scalar);
  writer.put("nothing", h5::Type::f32, shape, nullptr);
  writer.put("cube", h5::Type::f32, cube, numbers.data());
  writer.append("none", h5::Type::i64, 0, 0, nullptr, {});
  writer.put_strings("words", {});
  writer.save(folder / "a.h5", "test");
  const h5::Reader reader(folder / "a.h5", "test");
  EXPECT_EQ(reader.all<double>("scalar"), std::vector<double>{2.5});
  EXPECT_TRUE(reader.info("scalar").shape.empty());
  EXPECT_TRUE(reader.all<float>("nothing").empty());
  EXPECT_EQ(reader.all<float>("cube"), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_TRUE(reader.all<int64_t>("none").empty());
  EXPECT_TRUE(reader.strings("words").empty());
}

TEST(H5, StringsAndAttributes) {
  const TempFolder folder;
  h5::Writer writer("test");
  const std::vector<std::string> words = {"", "größer", "x y"};
  writer.put_strings("words", words);
  writer.attribute("int", int64_t{-3});
  writer.attribute("uint", uint64_t{0xFFFFFFFFFFFFFFFF});
  writer.attribute("double", 0.1);
  writer.attribute("text", std::string_view("two\nlines"));
  writer.attribute("empty", std::string_view(""));
  writer.attribute("long", std::string_view(std::string(100000, 'a')));
  writer.save(folder / "a.h5", "test");
  const h5::Reader reader(folder / "a.h5", "test");
  EXPECT_EQ(reader.strings("words"), words);
  EXPECT_EQ(reader.attribute_int("int"), -3);
  EXPECT_EQ(reader.attribute_uint("uint"), 0xFFFFFFFFFFFFFFFF);
  EXPECT_EQ(reader.attribute_double("double"), 0.1);
  EXPECT_EQ(reader.attribute_text("text"), "two\nlines");
  EXPECT_EQ(reader.attribute_text("empty"), "");
  EXPECT_EQ(reader.attribute_text("long").size(), 100000u);
}

TEST(H5, ErrorsNameFileAndDataset) {
  const TempFolder folder;
  h5::Writer writer("test");
  const std::vector<int32_t> values = {1, 2, 3};
  writer.put("list", std::span<const int32_t>(values));
  EXPECT_NE(error_of([&] { writer.put("list", std::span<const int32_t>(values)); }).find("'list': cannot create"),
            std::string::npos);
  const std::vector<std::string> bad = {std::string("a\0b", 3)};
  EXPECT_NE(error_of([&] { writer.put_strings("s", bad); }).find("zero byte"), std::string::npos);
  const auto path = folder / "a.h5";
  writer.save(path, "test");
  const h5::Reader reader(path, "test");
  EXPECT_TRUE(reader.has("list"));
  EXPECT_FALSE(reader.has("no/such"));
  EXPECT_NE(error_of([&] { reader.info("none"); }).find(path.string() + ": 'none': cannot open"), std::string::npos);
  EXPECT_NE(error_of([&] { reader.all<float>("list"); }).find("'list': holds int32, not float32"), std::string::npos);
  std::array<int32_t, 4> out{};
  EXPECT_NE(error_of([&] { reader.rows("list", h5::Type::i32, 2, 2, out.data()); }).find("rows 2 to 4 of 3"),
            std::string::npos);
  EXPECT_NE(error_of([&] { reader.attribute_int("none"); }).find("no such attribute"), std::string::npos);
}

TEST(H5, FilesDependOnTheirContentsAlone) {
  const TempFolder folder;
  for (const char* name : {"a.h5", "b.h5"}) {
    h5::Writer writer("test");
    writer.append("x", h5::Type::u8, 0, 3, "abc", {});
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5's times are in seconds
    writer.save(folder / name, "test");
  }
  EXPECT_EQ(read_file(folder / "a.h5"), read_file(folder / "b.h5"));
}

TEST(Checksum, TextShowsWhatTheFileIs) {
  std::string file(kChecksumBytes, 'x');
  file += "contents";
  add_checksum(file, "checkpoint");
  EXPECT_EQ(file.substr(0, 47), "rlgo checkpoint\nHDF5 from byte 512\nbytes 520\nha");
  EXPECT_EQ(file.substr(kChecksumBytes), "contents");
}

TEST(Checksum, RefusesWithTheReason) {
  const TempFolder folder;
  const auto path = folder / "f";
  const auto reason = [&] { return error_of([&] { verify_checksum(path, "rollouts"); }); };
  EXPECT_EQ(reason(), path.string() + ": no such file");
  write_bytes(path, "");
  EXPECT_EQ(reason(), path.string() + ": not a file of rlgo rollouts (its checksum is missing)");
  std::string good(3000000, 'y');
  add_checksum(good, "rollouts");
  write_bytes(path, good);
  EXPECT_EQ(reason(), "no error");
  write_bytes(path, good.substr(0, 400));
  EXPECT_EQ(reason(), path.string() + ": truncated: 400 bytes");
  write_bytes(path, good.substr(0, 2999999));
  EXPECT_NE(reason().find("truncated or altered: its size, 2999999 bytes"), std::string::npos);
  std::string bad = good;
  bad[2500000] = 'Y';
  write_bytes(path, bad);
  EXPECT_NE(reason().find("altered: its contents do not match"), std::string::npos);
  bad = good;
  bad[kChecksumBytes - 1] = 1;
  write_bytes(path, bad);
  EXPECT_NE(reason().find("altered"), std::string::npos);
  EXPECT_NE(error_of([&] { verify_checksum(path, "checkpoint"); }).find("not a file of rlgo checkpoint"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { verify_checksum(folder, "rollouts"); }),
            static_cast<const std::filesystem::path&>(folder).string() + ": not a file");
}

}  // namespace
}  // namespace rlgo::replay
