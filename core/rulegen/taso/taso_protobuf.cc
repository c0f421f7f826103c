// graph_subst.pb: TASO's rules as it stores them, read from the wire format (varints and length-delimited fields).
#include <array>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/rulegen/taso/taso_to_rule.h"

namespace rlgo::rulegen {
namespace {

// Numbers of TASO's enumerations (its ops.h).
enum Type : int64_t {
  kConv2d = 3,
  kMaxPool = 6,
  kAvgPool = 7,
  kRelu = 8,
  kSigmoid = 9,
  kTanh = 10,
  kConcat = 12,
  kSplit = 13,
  kTranspose = 15,
  kAdd = 16,
  kMul = 17,
  kMatmul = 18,
  kScale = 19,
  kEnlarge = 20,
  kIdentityMatrix = 22,
  kIdentityKernel = 23,
  kOne = 24,
  kPoolKernel = 25,
};
enum Key : int64_t {
  kOutputs = 2,
  kKernelH = 4,
  kKernelW = 5,
  kStrideH = 6,
  kStrideW = 7,
  kPad = 8,
  kAct = 9,
  kRank = 10,
  kAxis = 11,
  kPerm = 12,
};
constexpr int64_t kSame = 0, kNoAct = 0, kReluAct = 2;
constexpr size_t kMostTerms = 10'000;  // of one rule, with shared ones counted as often as they are read

struct Inexpressible {
  std::string why;
};

// The fields of one message, in order.
class Fields {
 public:
  Fields(std::string_view bytes, const std::string& place) : bytes_(bytes), place_(place) {}

  // On to the next field; false at the end.
  bool next() {
    if (at_ == bytes_.size()) return false;
    const uint64_t tag = varint();
    number_ = static_cast<int64_t>(tag >> 3);
    wire_ = static_cast<int>(tag & 7);
    if (number_ == 0) broken("a field with the number 0");
    if (wire_ == 0) {
      value_ = varint();
    } else if (wire_ == 2) {
      inside_ = take(varint());
    } else if (wire_ == 1 || wire_ == 5) {
      take(wire_ == 1 ? 8 : 4);
    } else {
      broken(fmt::format("a field of the unknown kind {}", wire_));
    }
    return true;
  }
  int64_t number() const { return number_; }
  // int32, negative ones as ten bytes.
  int64_t integer() const {
    if (wire_ != 0) broken(fmt::format("field {} is no number", number_));
    return static_cast<int32_t>(static_cast<uint32_t>(value_));
  }
  std::string_view message() const {
    if (wire_ != 2) broken(fmt::format("field {} is no message", number_));
    return inside_;
  }

 private:
  [[noreturn]] void broken(const std::string& why) const {
    fail("{}: {}: no file of TASO's rules (graph_subst.pb), or a damaged one", place_, why);
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ == bytes_.size()) broken("the bytes end within a field");
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    broken("a number of more than ten bytes");
  }
  std::string_view take(uint64_t count) {
    if (count > bytes_.size() - at_) broken("the bytes end within a field");
    const auto part = bytes_.substr(at_, count);
    at_ += count;
    return part;
  }

  std::string_view bytes_;
  const std::string& place_;
  size_t at_ = 0;
  int64_t number_ = 0;
  int wire_ = 0;
  uint64_t value_ = 0;
  std::string_view inside_;
};

// The required numbers 1..N of a message that has nothing else.
template <size_t N>
std::array<int64_t, N> numbers(std::string_view bytes, const std::string& place) {
  std::array<std::optional<int64_t>, N> held;
  for (Fields fields(bytes, place); fields.next();) {
    if (fields.number() <= static_cast<int64_t>(N)) held[static_cast<size_t>(fields.number() - 1)] = fields.integer();
  }
  std::array<int64_t, N> all{};
  for (size_t k = 0; k < N; ++k) {
    if (!held[k]) fail("{}: the required field {} is missing", place, k + 1);
    all[k] = *held[k];
  }
  return all;
}

struct Source {
  int64_t op = 0, port = 0;  // op < 0: tensor number -op
};
struct Operator {
  int64_t type = 0;
  std::vector<Source> inputs;
  std::map<int64_t, int64_t> parameters;
};
struct Output {
  Source left, right;
};

Operator read_operator(std::string_view bytes, const std::string& place) {
  Operator op;
  bool typed = false;
  for (Fields fields(bytes, place); fields.next();) {
    if (fields.number() == 1) op.type = fields.integer(), typed = true;
    if (fields.number() == 2) {
      const auto [from, port] = numbers<2>(fields.message(), place + ", input");
      op.inputs.push_back({from, port});
    }
    if (fields.number() == 3) {
      const auto [key, value] = numbers<2>(fields.message(), place + ", parameter");
      op.parameters[key] = value;
    }
  }
  if (!typed) fail("{}: the required field 1 is missing", place);
  return op;
}

// One side of a rule; terms are written out from its operators.
class Side {
 public:
  Side(std::vector<Operator> ops, std::string place) : ops_(std::move(ops)), place_(std::move(place)) {}

  TasoTerm term(const Source& source) { return term(source, static_cast<int64_t>(ops_.size()), "an output"); }

 private:
  // Operators read earlier ones only.
  TasoTerm term(const Source& source, int64_t before, const std::string& reader) {
    if (source.op < 0) return {fmt::format("i{}", -source.op), {}};
    if (source.op >= before) fail("{}: {} reads operator {}, which is not before it", place_, reader, source.op);
    if (++made_ > kMostTerms) fail("{}: more than {} terms", place_, kMostTerms);
    const Operator& op = ops_[static_cast<size_t>(source.op)];
    const std::string name = fmt::format("operator {}", source.op);
    const int64_t ports = op.type == kSplit ? 2 : 1;
    if (source.port < 0 || source.port >= ports)
      fail("{}: {} reads output {} of {}, which has {}", place_, reader, source.port, name, ports);
    TasoTerm result{word(op, name), {}};
    if (op.type == kSplit) result.op += fmt::format("[{}]", source.port);
    for (const auto& input : op.inputs) result.operands.push_back(term(input, source.op, name));
    return result;
  }

  int64_t get(const Operator& op, const std::string& name, Key key) const {
    const auto held = op.parameters.find(key);
    if (held == op.parameters.end())
      fail("{}: {} (type {}) has no parameter {}", place_, name, op.type, static_cast<int>(key));
    return held->second;
  }
  void inputs(const Operator& op, const std::string& name, size_t count) const {
    if (op.inputs.size() != count)
      fail("{}: {} (type {}) has {} inputs, expected {}", place_, name, op.type, op.inputs.size(), count);
  }

  std::string word(const Operator& op, const std::string& name) const;
  std::string conv(const Operator& op, const std::string& name) const;
  std::string square(const Operator& op, const std::string& name, const char* what) const;
  std::string join(const Operator& op, const std::string& name) const;

  std::vector<Operator> ops_;
  std::string place_;
  size_t made_ = 0;
};

std::string Side::conv(const Operator& op, const std::string& name) const {
  inputs(op, name, 2);
  const int64_t h = get(op, name, kKernelH), w = get(op, name, kKernelW), act = get(op, name, kAct);
  const bool plain = get(op, name, kStrideH) == 1 && get(op, name, kStrideW) == 1 && get(op, name, kPad) == kSame;
  const auto odd = [](int64_t k) { return k > 0 && k < 10 && k % 2 == 1; };
  if (!plain || !odd(h) || !odd(w) || (act != kNoAct && act != kReluAct))
    throw Inexpressible{fmt::format(
        "{}: a convolution other than SAME with stride 1, an odd kernel below 10, and no activation or relu", name)};
  return fmt::format("conv{}x{}_s1same{}", h, w, act == kReluAct ? "_relu" : "");
}

// Pools and constants of one size: 3x3.
std::string Side::square(const Operator& op, const std::string& name, const char* what) const {
  const bool pool = op.type == kMaxPool || op.type == kAvgPool;
  inputs(op, name, pool || op.type == kEnlarge ? 1 : 0);
  bool fits = get(op, name, kKernelH) == 3 && get(op, name, kKernelW) == 3;
  if (pool) fits = fits && get(op, name, kStrideH) == 1 && get(op, name, kStrideW) == 1 && get(op, name, kPad) == kSame;
  if (!fits) throw Inexpressible{fmt::format("{}: {} other than 3x3{}", name, what, pool ? ", SAME, stride 1" : "")};
  return what;
}

// concat, split.
std::string Side::join(const Operator& op, const std::string& name) const {
  const int64_t axis = get(op, name, kAxis);
  const bool split = op.type == kSplit;
  const int64_t rank = split ? 4 : get(op, name, kRank);
  if (split && get(op, name, kOutputs) != 2) throw Inexpressible{name + ": a split into other than two parts"};
  if (!split && op.inputs.size() != 2) throw Inexpressible{name + ": a concat of other than two tensors"};
  inputs(op, name, split ? 1 : 2);
  if (axis < 0 || axis > 1 || (rank != 2 && rank != 4))
    throw Inexpressible{fmt::format("{}: axis {} of {} dimensions", name, axis, rank)};
  return split ? fmt::format("split_ax{}", axis) : fmt::format("concat{}d_ax{}", rank, axis);
}

std::string Side::word(const Operator& op, const std::string& name) const {
  static const std::map<int64_t, std::pair<const char*, size_t>> kPlain{
      {kRelu, {"relu", 1}},        {kSigmoid, {"sigmoid", 1}},
      {kTanh, {"tanh", 1}},        {kAdd, {"ew_add", 2}},
      {kMul, {"ew_mul", 2}},       {kScale, {"mul", 2}},
      {kOne, {"constant_one", 0}}, {kIdentityMatrix, {"constant_imm", 0}}};
  if (const auto held = kPlain.find(op.type); held != kPlain.end()) {
    inputs(op, name, held->second.second);
    return held->second.first;
  }
  switch (op.type) {
    case kConv2d:
      return conv(op, name);
    case kMaxPool:
      return square(op, name, "pool2d_max");
    case kAvgPool:
      return square(op, name, "pool2d_avg");
    case kIdentityKernel:
      return square(op, name, "constant_iconv");
    case kPoolKernel:
      return square(op, name, "constant_pool");
    case kEnlarge:
      if (op.inputs.size() == 2) throw Inexpressible{name + ": a kernel enlarged to the size of another one"};
      return square(op, name, "enlarge");
    case kConcat:
    case kSplit:
      return join(op, name);
    case kMatmul:
      inputs(op, name, 2);
      if (get(op, name, kAct) != kNoAct) throw Inexpressible{name + ": an activation inside a matrix product"};
      return "matmul";
    case kTranspose:
      inputs(op, name, 1);
      if (get(op, name, kRank) != 2 || get(op, name, kPerm) != 2)
        throw Inexpressible{name + ": a transpose of more than two dimensions"};
      return "transpose";
    default:
      throw Inexpressible{fmt::format("{}: TASO's operator of type {}", name, op.type)};
  }
}

void read_rule(std::string_view bytes, int64_t number, const std::string& place, std::vector<TasoRule>& rules) {
  std::vector<Operator> left, right;
  std::vector<Output> outputs;
  for (Fields fields(bytes, place); fields.next();) {
    if (fields.number() == 1 || fields.number() == 2) {
      auto& side = fields.number() == 1 ? left : right;
      const std::string where =
          fmt::format("{}, {} operator {}", place, fields.number() == 1 ? "source" : "target", side.size());
      side.push_back(read_operator(fields.message(), where));
    }
    if (fields.number() == 3) {
      const auto [from, to, from_port, to_port] = numbers<4>(fields.message(), place + ", mapped output");
      outputs.push_back({{from, from_port}, {to, to_port}});
    }
  }
  if (outputs.empty()) fail("{}: no mapped output", place);
  Side source(std::move(left), place + ", source"), target(std::move(right), place + ", target");
  TasoPairs pairs;
  std::string text;
  try {
    for (const auto& output : outputs) {
      TasoTerm from = source.term(output.left);  // first, so that errors come in a fixed order
      pairs.emplace_back(std::move(from), target.term(output.right));
      text += fmt::format("{}{}  =>  {}", text.empty() ? "" : "  ;  ", to_text(pairs.back().first),
                          to_text(pairs.back().second));
    }
  } catch (const Inexpressible& reason) {
    auto& rule = rules.emplace_back();
    rule.name = fmt::format("taso-{:03}", number);
    rule.source = fmt::format("rule {} of the file", number);
    rule.inexpressible = reason.why;
    return;
  }
  add_taso_rules(number, text, pairs, rules);
}

}  // namespace

std::vector<TasoRule> read_taso_protobuf(std::string_view bytes, const std::string& file_name) {
  std::vector<TasoRule> rules;
  int64_t number = 0;
  for (Fields fields(bytes, file_name); fields.next();) {
    if (fields.number() != 1) continue;
    const std::string place = fmt::format("{}: rule {}", file_name, number);
    read_rule(fields.message(), number++, place, rules);
  }
  if (number == 0) fail("{}: holds no rule of TASO (message RuleCollection of graph_subst.pb)", file_name);
  return rules;
}

}  // namespace rlgo::rulegen
