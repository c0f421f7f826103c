// Reads the text form of a graph (text.h). The text may come from anywhere: every number is checked, nothing recurses.
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/graph/editor.h"
#include "core/graph/infinities.h"
#include "core/graph/text.h"

namespace rlgo::graph {
namespace {

// Two hexadecimal digits.
char hex_byte(std::string_view digits) {
  int value = digits.size() == 2 ? 0 : -1;
  for (const char c : digits) {
    const auto place = std::string_view("0123456789abcdef").find(c);
    value = value < 0 || place == std::string_view::npos ? -1 : value * 16 + static_cast<int>(place);
  }
  if (value < 0) fail("'{}' is not a pair of hexadecimal digits", digits);
  return static_cast<char>(value);
}

// A place in one line. Each method takes what it names, with the spaces before it, or throws Error.
class Cursor {
 public:
  explicit Cursor(std::string_view line) : rest_(line) {}

  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }
  bool at(std::string_view token) {
    skip_spaces();
    return rest_.starts_with(token);
  }
  // Takes `token` where it stands here.
  bool take(std::string_view token) {
    if (!at(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail("expected '{}' before '{}'", token, excerpt());
  }
  // Letters, digits and the characters of numbers and names: up to a space or a bracket.
  std::string_view word() {
    skip_spaces();
    const auto length = std::min(rest_.find_first_of(" \t()[]\",=:%"), rest_.size());
    if (length == 0) fail("expected a word before '{}'", excerpt());
    return cut(length);
  }
  int64_t integer() {
    const auto text = word();
    const auto value = parse_int(text);
    if (!value) fail("'{}' is not an integer", text);
    return *value;
  }
  double number() {
    const auto text = word();
    const auto value = parse_double(text);
    if (!value) fail("'{}' is not a number", text);
    return *value;
  }
  std::string quoted() {
    expect("\"");
    std::string text;
    for (;;) {
      if (rest_.empty()) fail("a string is not closed");
      const char c = cut(1)[0];
      if (c == '"') return text;
      text += c == '\\' ? escape() : c;
    }
  }
  std::vector<std::string> quoted_list() {
    std::vector<std::string> list;
    expect("[");
    if (take("]")) return list;
    do {
      list.push_back(quoted());
    } while (take(","));
    expect("]");
    return list;
  }
  ops::TensorType type() {
    skip_spaces();
    const auto close = rest_.find(']');
    const auto text = close == std::string_view::npos ? rest_ : rest_.substr(0, close + 1);
    const auto type = ops::type_from_string(text);
    if (!type) fail("'{}' is not a tensor type", text.substr(0, kExcerpt));
    cut(text.size());
    return *type;
  }
  ops::AttrValue attr_value() {
    if (!take("[")) {
      const auto text = word();
      if (const auto integer = parse_int(text)) return *integer;
      if (const auto number = parse_double(text)) return *number;
      return std::string(text);
    }
    ops::Ints ints;
    if (take("]")) return ints;
    do {
      ints.push_back(integer());
    } while (take(","));
    expect("]");
    return ints;
  }

 private:
  static constexpr size_t kExcerpt = 40;

  void skip_spaces() {
    const auto at = rest_.find_first_not_of(" \t");
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
  }
  std::string_view cut(size_t length) {
    const auto part = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return part;
  }
  std::string excerpt() const { return rest_.empty() ? "end of line" : std::string(rest_.substr(0, kExcerpt)); }
  char escape() {
    if (rest_.empty()) fail("a string is not closed");
    const char c = cut(1)[0];
    if (c == 'n') return '\n';
    if (c == 't') return '\t';
    if (c == '"' || c == '\\') return c;
    if (c != 'x') fail("unknown escape '\\{}' in a string", c);
    return hex_byte(cut(2));
  }

  std::string_view rest_;
};

std::string from_hex(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) bytes += hex_byte(text.substr(i, 2));
  return bytes;
}

bool flag(Cursor& line) {
  const int64_t value = line.integer();
  if (value != 0 && value != 1) fail("a flag is 0 or 1, not {}", value);
  return value == 1;
}

// " infinities=3", where it is not 0.
uint8_t infinities(Cursor& line) {
  if (!line.take("infinities=")) return kFinite;
  const int64_t bits = line.integer();
  if (bits < 0 || bits > kAllNumberBits) fail("infinities are 0 to {}, not {}", kAllNumberBits, bits);
  return static_cast<uint8_t>(bits);
}

// seed=S scale=X shift=Y positive=P, or hash=H; then the type.
std::shared_ptr<const Blob> parse_blob(Cursor& line) {
  if (line.take("hash=")) {
    uint64_t hash = 0;
    const auto digits = line.word();
    if (digits.size() != 16) fail("a hash has 16 digits");
    for (const char c : from_hex(digits)) hash = hash << 8 | static_cast<unsigned char>(c);
    const uint8_t bits = infinities(line);
    line.expect(":");
    return Blob::absent(line.type(), hash, bits);
  }
  line.expect("seed=");
  const auto seed_text = line.word();
  uint64_t seed = 0;
  for (const char c : seed_text) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(seed, uint64_t{10}, &seed) ||
        __builtin_add_overflow(seed, static_cast<uint64_t>(c - '0'), &seed)) {
      fail("'{}' is not a seed", seed_text);
    }
  }
  line.expect("scale=");
  const double scale = line.number();
  line.expect("shift=");
  const double shift = line.number();
  line.expect("positive=");
  const bool positive = flag(line);
  line.expect(":");
  return Blob::seeded(line.type(), seed, scale, shift, positive);
}

std::shared_ptr<const Opaque> parse_opaque(Cursor& line) {
  auto opaque = std::make_shared<Opaque>();
  line.expect("type=");
  opaque->op_type = line.quoted();
  line.expect("domain=");
  opaque->domain = line.quoted();
  line.expect("formal=");
  for (const char c : line.quoted()) {
    if (c != '0' && c != '1') fail("formal inputs are 0 or 1");
    opaque->formal_inputs.push_back(c == '1');
  }
  line.expect("captured=");
  opaque->captured = line.quoted_list();
  line.expect("outputs=");
  opaque->outputs = line.quoted_list();
  line.expect("deterministic=");
  opaque->deterministic = flag(line);
  line.expect("payload=");
  opaque->payload = from_hex(line.quoted());
  opaque->infinities = infinities(line);
  return opaque;
}

class Parser {
 public:
  Graph parse(std::string_view text) {
    size_t number = 0;
    for (const auto& line : split(text, '\n')) {
      ++number;
      const auto content = trim(line);
      if (content.empty() || content.starts_with('#')) continue;
      try {
        parse_line(Cursor(content));
      } catch (const Error& e) {
        throw e.in(fmt::format("line {}", number));
      }
    }
    if (!editor_) fail("line {}: the text has no 'graph' line", number);
    auto graph = editor_->finish();
    RLGO_CHECK(graph.has_value());  // nodes read earlier nodes only
    return std::move(*graph);
  }

 private:
  void parse_line(Cursor line) {
    if (!editor_) {
      line.expect("graph");
      editor_.emplace(line.quoted());
    } else if (line.take("output")) {
      std::string name = line.quoted();
      if (!output_names_.insert(name).second) fail("two outputs are named '{}'", name);
      line.expect("=");
      editor_->add_output(std::move(name), reference(line));
    } else {
      parse_node(line);
    }
    if (!line.at_end()) fail("something is left over at the end of the line");
  }

  void parse_node(Cursor& line) {
    line.expect("%");
    const int64_t number = line.integer();
    if (numbers_.contains(number)) fail("%{} is defined twice", number);
    line.expect("=");
    auto op_name = line.word();
    const bool fixed = op_name == "fixed";
    if (fixed) op_name = line.word();
    const auto op = ops::op_from_name(op_name);
    if (!op) fail("'{}' is no operator", op_name);
    if (fixed && (*op == ops::Op::input || *op == ops::Op::weight || *op == ops::Op::opaque))
      fail("'fixed' before {}: no rewrite replaces these anyway", op_name);
    editor_->fix(fixed);
    numbers_.emplace(number, parse_operator(*op, line));
    editor_->fix(false);
  }

  NodeId parse_operator(ops::Op op, Cursor& line) {
    if (op == ops::Op::input) {
      std::string name = line.quoted();
      if (!input_names_.insert(name).second) fail("two inputs are named '{}'", name);
      line.expect(":");
      return editor_->add_input(std::move(name), line.type()).node;
    }
    if (op == ops::Op::weight) {
      std::string name = line.quoted();
      return editor_->add_weight(std::move(name), parse_blob(line)).node;
    }
    const auto inputs = arguments(line);
    if (op == ops::Op::opaque) return add_opaque(inputs, line);
    const NodeId id = editor_->add(op, inputs, attributes(line));
    if (line.take(":")) {
      const auto stated = types(line);
      if (stated != editor_->node(id).info->outputs)
        fail("the stated type is not the one that {} infers", ops::name(op));
    }
    return id;
  }

  NodeId add_opaque(const std::vector<Value>& inputs, Cursor& line) {
    const auto opaque = parse_opaque(line);
    size_t expected = opaque->captured.size();
    for (const bool present : opaque->formal_inputs) expected += present ? 1 : 0;
    if (inputs.size() != expected) fail("{} inputs where 'formal' and 'captured' ask for {}", inputs.size(), expected);
    size_t ports = 0;
    for (const auto& name : opaque->outputs) ports += name.empty() ? 0 : 1;
    ops::Types outputs;
    if (line.take(":")) outputs = types(line);
    if (outputs.size() != ports) fail("{} types for {} outputs", outputs.size(), ports);
    return editor_->add_opaque("", opaque, inputs, std::move(outputs));
  }

  Value reference(Cursor& line) {
    line.expect("%");
    const auto parts = split(line.word(), '.');
    const auto number = parse_int(parts[0]);
    const auto port = parts.size() == 2 ? parse_int(parts[1]) : std::optional<int64_t>(0);
    if (!number || !port || parts.size() > 2) fail("'%{}' is not a value", join(parts, "."));
    const auto known = numbers_.find(*number);
    if (known == numbers_.end()) fail("%{} is not defined above", *number);
    const auto ports = static_cast<int64_t>(editor_->node(known->second).info->outputs.size());
    if (*port < 0 || *port >= ports) fail("%{} has {} outputs: there is no output {}", *number, ports, *port);
    return {known->second, static_cast<int32_t>(*port)};
  }

  std::vector<Value> arguments(Cursor& line) {
    std::vector<Value> values;
    line.expect("(");
    if (line.take(")")) return values;
    do {
      values.push_back(reference(line));
    } while (line.take(","));
    line.expect(")");
    return values;
  }

  static ops::Attrs attributes(Cursor& line) {
    ops::Attrs attrs;
    while (!line.at_end() && !line.at(":")) {
      const auto name = line.word();
      const auto key = ops::attr_from_name(name);
      if (!key) fail("'{}' is no attribute", name);
      if (attrs.find(*key) != nullptr) fail("attribute '{}' is given twice", name);
      line.expect("=");
      attrs.set(*key, line.attr_value());
    }
    return attrs;
  }

  static ops::Types types(Cursor& line) {
    ops::Types list;
    do {
      list.push_back(line.type());
    } while (line.take(","));
    return list;
  }

  std::optional<Editor> editor_;
  std::unordered_map<int64_t, NodeId> numbers_;
  std::unordered_set<std::string> input_names_;
  std::unordered_set<std::string> output_names_;
};

}  // namespace

Graph from_text(std::string_view text) { return Parser().parse(text); }

}  // namespace rlgo::graph
