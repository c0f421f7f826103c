#include "learner/tensorboard.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file.h"

namespace rlgo::learner {
namespace {

// Protobuf's wire format. Field numbers are those of TensorFlow's event.proto, summary.proto, and of the plug-in
// hparams.
class Message {
 public:
  Message& varint(int field, uint64_t value) {
    key(field, 0);
    number(value);
    return *this;
  }
  Message& fixed64(int field, double value) {
    key(field, 1);
    raw(&value, sizeof value);
    return *this;
  }
  Message& fixed32(int field, float value) {
    key(field, 5);
    raw(&value, sizeof value);
    return *this;
  }
  Message& bytes(int field, std::string_view value) {
    key(field, 2);
    number(value.size());
    text_ += value;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void key(int field, int type) { number(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type)); }
  void number(uint64_t value) {
    for (; value >= 128; value >>= 7) text_ += static_cast<char>(value | 128);
    text_ += static_cast<char>(value);
  }
  void raw(const void* value, size_t size) {
    static_assert(std::endian::native == std::endian::little);
    text_.append(static_cast<const char*>(value), size);
  }
  std::string text_;
};

std::string hyper_parameters(const std::vector<HyperParameter>& options, double wall_s) {
  Message start;
  for (const auto& [name, value] : options) {
    Message number;
    if (const auto* flag = std::get_if<bool>(&value))
      number.varint(4, *flag ? 1 : 0);
    else if (const auto* real = std::get_if<double>(&value))
      number.fixed64(2, *real);
    else
      number.bytes(3, std::get<std::string>(value));
    start.bytes(1, Message().bytes(1, name).bytes(2, number.text()).text());
  }
  start.fixed64(5, wall_s);
  const Message content = Message().bytes(3, start.text());
  const Message plugin = Message().bytes(1, "hparams").bytes(2, content.text());
  const Message metadata = Message().bytes(1, plugin.text());
  const Message value = Message().bytes(1, "_hparams_/session_start_info").bytes(9, metadata.text());
  return Message().bytes(5, Message().bytes(1, value.text()).text()).text();
}

void append_fixed(std::string& out, uint64_t value, int size) {
  for (int k = 0; k < size; ++k) out += static_cast<char>(value >> (8 * k) & 0xff);
}

uint32_t masked(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t k = 0; k < 256; ++k) {
      uint32_t value = k;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0u);
      table[k] = value;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

TensorBoardFile::TensorBoardFile(const std::filesystem::path& folder, double wall_s, int64_t from_step,
                                 const std::vector<HyperParameter>& options) {
  make_writable_folder(folder);
  const auto path = folder / fmt::format("events.out.tfevents.{:.0f}.{}", 1e3 * wall_s, host_name());
  out_.open(path, std::ios::binary | std::ios::trunc);
  if (!out_) fail("{}: cannot be written", path.string());
  event(wall_s, 0, Message().bytes(3, "brain.Event:2").text());
  if (from_step > 0) event(wall_s, from_step, Message().bytes(7, Message().varint(1, 1).text()).text());  // START
  event(wall_s, 0, hyper_parameters(options, wall_s));
  out_.flush();
}

void TensorBoardFile::write(const MetricRow& row, int64_t step, double wall_s) {
  Message summary;
  for (const auto& [name, value] : row) {
    if (std::holds_alternative<std::string>(value)) continue;
    const auto* whole = std::get_if<int64_t>(&value);
    const double number = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
    if (!std::isfinite(number)) continue;
    summary.bytes(1, Message().bytes(1, name).fixed32(2, static_cast<float>(number)).text());
  }
  event(wall_s, step, Message().bytes(5, summary.text()).text());
  out_.flush();
}

void TensorBoardFile::event(double wall_s, int64_t step, std::string_view what) {
  Message head;
  head.fixed64(1, wall_s);
  if (step != 0) head.varint(2, static_cast<uint64_t>(step));
  const std::string text = head.text() + std::string(what);
  std::string record;
  append_fixed(record, text.size(), 8);
  append_fixed(record, masked(crc32c(record)), 4);
  record += text;
  append_fixed(record, masked(crc32c(text)), 4);
  out_.write(record.data(), static_cast<std::streamsize>(record.size()));
}

}  // namespace rlgo::learner
