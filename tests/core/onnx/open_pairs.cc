#include "tests/core/onnx/open_pairs.h"

#include <algorithm>
#include <iostream>
#include <map>

#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/ops/extent.h"
#include "core/rules/instance.h"
#include "core/rules/rules.h"
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

using graph::Value;
using ops::Attr;
using ops::Extent;
using ops::Extents;
using ops::Ints;
using ops::Op;

// A closed graph again, with some of its inputs' extents open, and computed from others.
class Opener {
 public:
  Opener(const graph::Graph& graph, Rng& rng, uint64_t percent) : graph_(graph), rng_(rng), percent_(percent) {}

  // Nothing where the graph does not run at all sizes but the smallest.
  std::optional<graph::Graph> run() {
    for (const auto id : graph_.order()) {
      const auto& node = graph_.node(id);
      if (node.op() == Op::input) {
        const auto value = input(node.info->name, node.info->outputs[0]);
        if (!value) return std::nullopt;
        values_[{id, 0}] = *value;
      } else if (node.op() == Op::weight) {
        values_[{id, 0}] = editor_.add_weight(node.info->name, node.info->blob);
      } else if (!operation(id, node)) {
        return std::nullopt;
      }
    }
    if (symbols_ == 0) return std::nullopt;
    for (const auto& output : graph_.outputs()) editor_.add_output(output.name, values_.at(output.value));
    return editor_.finish();
  }
  // What the sizes must fulfil for windows to fit, as text.
  const std::vector<std::string>& needs() const { return needs_; }

 private:
  // Symbols: mostly one for all extents of the same value.
  Value open_input(const std::string& name, const ops::TensorType& type) {
    Extents extents;
    for (int64_t extent : type.shape) {
      if (extent < 1 || rng_.below(100) >= percent_) {
        extents.emplace_back(extent);
        continue;
      }
      Extent& shared = of_value_[extent];
      if (shared.is_number() || rng_.below(4) == 0) shared = Extent::symbol(symbols_++, extent, 1);
      extents.push_back(shared);
    }
    ops::TensorType open = type;
    EXPECT_TRUE(open.set_extents(std::move(extents)));
    return editor_.add_input(name, std::move(open));
  }

  // An input of the graph, or what an operator makes of one: extents become 2 n, n / 2, n + 1, a * b.
  std::optional<Value> input(const std::string& name, const ops::TensorType& type) {
    const auto rank = static_cast<size_t>(type.rank());
    if (rank == 0 || !ops::is_float(type.dtype) || rng_.below(2) == 0) return open_input(name, type);
    const size_t axis = rng_.below(rank);
    ops::TensorType raw = type;
    int64_t& extent = raw.shape[axis];
    switch (rng_.below(5)) {
      case 0: {
        if (extent % 2 != 0) break;
        extent /= 2;
        const Value half = open_input(name, raw);
        return added(Op::concat, {half, half}, {{Attr::axis, static_cast<int64_t>(axis)}});
      }
      case 1: {
        if (rank != 4 || axis < 2) break;
        extent = 2 * extent + static_cast<int64_t>(rng_.below(2));
        Ints window{1, 1};
        window[axis - 2] = 2;
        return added(Op::max_pool, {open_input(name, raw)}, {{Attr::kernel, window}, {Attr::strides, window}});
      }
      case 2: {
        if (extent < 2) break;
        --extent;
        Ints pads(2 * rank, 0);
        pads[axis + rank * rng_.below(2)] = 1;
        return added(Op::pad, {open_input(name, raw)}, {{Attr::pads, pads}});
      }
      case 3: {
        raw.shape.push_back(3);
        return added(Op::reduce_mean, {open_input(name, raw)},
                     {{Attr::axes, Ints{static_cast<int64_t>(rank)}}, {Attr::keepdims, int64_t{0}}});
      }
      default: {
        Extents wanted;
        raw.shape = {};
        const int64_t first = type.shape[0], factor = first % 3 == 0 ? 3 : first % 2 == 0 ? 2 : 1;
        raw.shape.push_back(factor);
        raw.shape.push_back(first / factor);
        for (size_t d = 1; d < rank; ++d) raw.shape.push_back(type.shape[d]);
        Ints items(type.shape.begin(), type.shape.end());
        items[0] = ops::kRestExtent;
        return added(Op::reshape, {open_input(name, raw)}, {{Attr::shape, items}});
      }
    }
    return open_input(name, type);
  }

  std::optional<Value> added(Op op, std::vector<Value> inputs, const ops::Attrs& attrs) {
    ops::Types types;
    for (const Value& value : inputs) types.push_back(editor_.type(value));
    std::vector<ops::Requirement> required;
    const auto complete = ops::complete_attrs(op, attrs);
    const auto inferred = complete ? ops::infer(op, types, *complete, nullptr, &required) : std::nullopt;
    const auto is_bound = [](const auto& wanted) { return wanted.kind == ops::Requirement::Kind::at_least; };
    if (!inferred || !std::ranges::all_of(required, is_bound)) return std::nullopt;
    for (const auto& wanted : required) needs_.push_back(fmt::format("{}>={}", wanted.a.text(), wanted.bound));
    editor_.trust();
    const auto id = editor_.try_add(op, inputs, attrs);
    return id ? std::optional(Value{*id, 0}) : std::nullopt;
  }

  bool operation(graph::NodeId id, const graph::Node& node) {
    std::vector<Value> inputs;
    for (const Value& value : node.inputs) inputs.push_back(values_.at(value));
    std::vector<ops::Attrs> candidates{node.attrs()};
    if (node.op() == Op::reshape) candidates = relative(editor_.type(inputs[0]), node.info->outputs[0].shape);
    for (const auto& attrs : candidates) {
      const auto made = added(node.op(), inputs, attrs);
      if (!made) continue;
      const auto& outputs = editor_.node(made->node).info->outputs;
      for (size_t port = 0; port < outputs.size(); ++port) {
        if (outputs[port].shape != node.info->outputs[port].shape) return false;
        values_[{id, static_cast<int32_t>(port)}] = {made->node, static_cast<int32_t>(port)};
      }
      return true;
    }
    return false;
  }

  // Ways to express a reshape without the sizes that are open.
  static std::vector<ops::Attrs> relative(const ops::TensorType& input, const ops::Shape& wanted) {
    Ints items(wanted.begin(), wanted.end());
    for (int64_t d = 0; d < std::min<int64_t>(input.rank(), std::ssize(items)); ++d) {
      auto& item = items[static_cast<size_t>(d)];
      if (input.is_open(d) && input.shape[static_cast<size_t>(d)] == item) item = ops::kSameExtent;
    }
    std::vector<ops::Attrs> ways{{{Attr::shape, items}}};
    for (size_t d = 0; d < items.size(); ++d) {
      Ints rest = items;
      rest[d] = ops::kRestExtent;
      ways.push_back({{Attr::shape, rest}});
    }
    return ways;
  }

  const graph::Graph& graph_;
  Rng& rng_;
  uint64_t percent_;
  graph::Editor editor_{"open"};
  std::map<Value, Value> values_;
  std::map<int64_t, Extent> of_value_;
  int64_t symbols_ = 0;
  std::vector<std::string> needs_;
};

// Writes the graph, its open extents by name; returns their sample sizes.
std::map<std::string, int64_t> write_open(const graph::Graph& graph, const fs::path& path) {
  export_graph(graph, {}, path);
  auto model = load(path);
  std::map<std::string, int64_t> samples;
  const auto open = [&](onnx::ValueInfoProto& value, const ops::TensorType& type, bool is_input) {
    for (int64_t d = 0; d < type.rank(); ++d) {
      if (!type.is_open(d)) continue;
      const std::string name = is_input ? type.extent(d).text() : fmt::format("{}_{}", value.name(), d);
      value.mutable_type()
          ->mutable_tensor_type()
          ->mutable_shape()
          ->mutable_dim(static_cast<int>(d))
          ->set_dim_param(name);
      if (is_input) samples[name] = type.extent(d).sample();
    }
  };
  for (size_t k = 0; k < graph.inputs().size(); ++k)
    open(*model.mutable_graph()->mutable_input(static_cast<int>(k)), graph.type({graph.inputs()[k], 0}), true);
  for (size_t k = 0; k < graph.outputs().size(); ++k)
    open(*model.mutable_graph()->mutable_output(static_cast<int>(k)), graph.type(graph.outputs()[k].value), false);
  model.mutable_graph()->clear_value_info();
  save(model, path);
  return samples;
}

struct Pair {
  std::map<std::string, int64_t> samples;
  std::vector<std::string> needs;
};

std::optional<Pair> write_pair(const rules::RuleSet& rules, int rule, Rng& rng, const fs::path& before,
                               const fs::path& after) {
  constexpr int kAttempts = 60;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto instance = rules::random_instance(rules.rule(rule), rng);
    if (!instance) continue;
    Opener opener(*instance, rng, 15 + 10 * rng.below(6));
    const auto open = opener.run();
    if (!open || rules::find_matches(rules, rule, *open).empty()) continue;
    ImportOptions options;
    options.sample_open = true;
    try {
      options.samples = write_open(*open, before);
    } catch (const Error&) {
      continue;  // ONNX's inference and ONNX Runtime differ on some windows that are rounded up
    }
    const auto model = import_model(before, options);
    const auto matches = rules::find_matches(rules, rule, model.graph);
    if (matches.empty()) continue;
    const auto rewrite = rules::apply(rules, matches[rng.below(matches.size())], model.graph);
    if (!rewrite) fail("a match of {} does not apply", rules.name(rule));
    rewrite->graph.validate();
    export_model(*model.skeleton, rewrite->graph, {}, after);
    return Pair{options.samples, opener.needs()};
  }
  return std::nullopt;
}

}  // namespace

int write_open_pairs(int argc, char** argv) {
  const std::vector<std::string> args(argv + 2, argv + argc);
  const std::vector<fs::path> files(args.begin() + 4, args.end());
  const auto rules = rules::RuleSet::load(files);
  const auto seed = static_cast<uint64_t>(parse_int(args[1]).value());
  const int64_t first = parse_int(args[2]).value(), count = parse_int(args[3]).value();
  for (int64_t k = first; k < first + count; ++k) {
    const int rule = static_cast<int>(k % rules->size());
    Rng rng({seed, static_cast<uint64_t>(k)});
    const fs::path folder(args[0]);
    const auto pair = write_pair(*rules, rule, rng, folder / fmt::format("{}_before.onnx", k),
                                 folder / fmt::format("{}_after.onnx", k));
    if (!pair) {
      std::cout << "none " << rules->name(rule) << "\n";
      continue;
    }
    std::cout << "pair " << rules->name(rule) << " " << k;
    for (const auto& [name, sample] : pair->samples) std::cout << " " << name << "=" << sample;
    for (std::string need : pair->needs) {
      std::erase(need, ' ');
      std::cout << " " << need;
    }
    std::cout << "\n";
  }
  return 0;
}

}  // namespace rlgo::onnx_io::test
