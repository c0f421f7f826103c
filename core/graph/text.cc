#include "core/graph/text.h"

#include "core/base/error.h"
#include "core/graph/quote.h"

namespace rlgo::graph {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string to_hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

namespace {

// Writes one graph; nodes are numbered by their place in order().
class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {}

  std::string text() {
    out_ = fmt::format("graph {}\n", quoted(graph_.name()));
    for (const NodeId id : graph_.order()) write_node(id);
    for (const GraphOutput& output : graph_.outputs()) {
      out_ += fmt::format("output {} = {}\n", quoted(output.name), reference(output.value));
    }
    return std::move(out_);
  }

 private:
  std::string reference(Value value) const {
    const int32_t number = graph_.position(value.node);
    if (graph_.node(value.node).info->outputs.size() == 1) return fmt::format("%{}", number);
    return fmt::format("%{}.{}", number, value.port);
  }

  std::string arguments(const Node& node) const {
    std::string text = "(";
    for (const Value& input : node.inputs) {
      if (text.size() > 1) text += ", ";
      text += reference(input);
    }
    return text + ')';
  }

  static std::string names(const std::vector<std::string>& list) {
    std::string text = "[";
    for (const auto& name : list) {
      if (text.size() > 1) text += ',';
      text += quoted(name);
    }
    return text + ']';
  }

  static std::string opaque_fields(const Opaque& opaque) {
    std::string formal;
    const std::string bits = opaque.infinities == kFinite ? "" : fmt::format(" infinities={}", opaque.infinities);
    for (const bool present : opaque.formal_inputs) formal += present ? '1' : '0';
    return fmt::format(" type={} domain={} formal={} captured={} outputs={} deterministic={} payload={}{}",
                       quoted(opaque.op_type), quoted(opaque.domain), quoted(formal), names(opaque.captured),
                       names(opaque.outputs), opaque.deterministic ? 1 : 0, quoted(to_hex(opaque.payload)), bits);
  }

  static std::string attributes(const NodeInfo& info) {
    std::string text;
    for (const auto& spec : ops::spec(info.op).attrs) {
      const ops::AttrValue* value = info.attrs.find(spec.key);
      if (value == nullptr || (spec.optional && *value == spec.fallback)) continue;
      text += fmt::format(" {}={}", ops::name(spec.key), ops::to_string(*value));
    }
    return text;
  }

  void write_node(NodeId id) {
    const Node& node = graph_.node(id);
    const NodeInfo& info = *node.info;
    out_ += fmt::format("%{} = {}{}", graph_.position(id), info.fixed ? "fixed " : "", ops::name(info.op));
    if (info.op == ops::Op::input) {
      out_ += ' ' + quoted(info.name);
    } else if (info.op == ops::Op::weight) {
      out_ += fmt::format(" {} {}", quoted(info.name), info.blob->describe());
    } else {
      out_ += arguments(node);
      out_ += info.op == ops::Op::opaque ? opaque_fields(*info.opaque) : attributes(info);
    }
    std::string_view separator = " : ";
    for (const auto& type : info.outputs) {
      out_ += separator;
      out_ += ops::to_string(type);
      separator = ", ";
    }
    out_ += '\n';
  }

  const Graph& graph_;
  std::string out_;
};

}  // namespace

std::string to_text(const Graph& graph) { return Writer(graph).text(); }

}  // namespace rlgo::graph
