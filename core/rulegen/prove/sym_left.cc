#include <algorithm>
#include <bit>
#include <numeric>

#include "core/base/error.h"
#include "core/ops/windows.h"
#include "core/rulegen/prove/sym_rule.h"
#include "core/rules/value.h"

namespace rlgo::rulegen::sym {

using ops::Attr;
using ops::Op;
using rules::Operand;

namespace {
void need(Fit fit, const std::string& what) {
  if (fit == Fit::misfit) throw Impossible();
  if (fit == Fit::unknown) throw Untranslatable("cannot infer the shape of " + what);
}
}  // namespace

LeftSide::LeftSide(const rules::CompiledRule& rule, EGraph& graph, World& world, Binding& binding, Choices& choices,
                   LeftPlan& plan, const CaseLimits& limits)
    : rule_(rule), graph_(graph), w_(world), b_(binding), choices_(choices), plan_(plan), limits_(limits) {
  plan_.ranks.reset();
}

void LeftSide::run() {
  for (size_t k = 0; k < rule_.left.size(); ++k) node(k);
  for (const auto& deferred : rule_.deferred) {
    const auto& left = graph_.node(b_.nodes[static_cast<size_t>(deferred.node)]);
    const Value value = evaluate(deferred.expr, scope());
    if (value.kind == Value::Kind::none) throw Impossible();
    assume_equal(w_, *find(w_.pool.params_of(left.params), deferred.key), value);
  }
  conditions();
}

void LeftSide::conditions() {
  for (const auto& condition : rule_.conditions) {
    if (condition.let < 0) {
      assume(condition.expr, true, scope());
      continue;
    }
    b_.attributes[static_cast<size_t>(condition.let)] = evaluate(condition.expr, scope());
    b_.masks.attributes |= 1u << condition.let;
  }
}

void LeftSide::node(size_t index) {
  if (b_.nodes[index] >= 0) return;
  const auto& left = rule_.left[index];
  for (const auto& operand : left.operands) {
    if (operand.kind == Operand::Kind::left) node(static_cast<size_t>(operand.index));
  }
  // All tensors are of one type: a cast is read where a condition states that it changes nothing.
  const auto to = std::ranges::find(left.tests, Attr::to, &rules::AttrTest::key);
  if (left.op == Op::cast && (to == left.tests.end() || to->is_list || !(plan_.same_type >> to->items[0].slot & 1u)))
    throw Untranslatable("a cast to another type");
  axis_first(index);
  const std::vector<TermId> kids = operands(index);
  Params params = attributes(index, kids);
  Fit fit = Fit::fits;
  const TermId t = make_term(graph_, w_, left.op, params, kids, &fit);
  need(fit, std::string(ops::name(left.op)));
  b_.nodes[index] = t;
  if (left.bundle >= 0 && (b_.masks.bundles >> left.bundle & 1u) == 0) {
    b_.bundles[static_cast<size_t>(left.bundle)] = {graph_.node(t).params, &left};
    b_.masks.bundles |= 1u << left.bundle;
  }
  check_conditions();
}

// The axis of a concat whose rank is known is chosen before its lists: the conditions may not hold for it.
void LeftSide::axis_first(size_t index) {
  const auto& left = rule_.left[index];
  const auto axis = std::ranges::find(left.tests, Attr::axis, &rules::AttrTest::key);
  if (left.op != Op::concat || axis == left.tests.end() || axis->is_list) return;
  const uint32_t ranks = plan_.ranks.of_left(index);
  if (!std::has_single_bit(ranks) || (b_.masks.attributes >> axis->items[0].slot & 1u) != 0) return;
  const int chosen = choices_.choose(&left, static_cast<int>(Attr::axis), std::countr_zero(ranks));
  bind_slot(axis->items[0].slot, Value::extent(w_.pool.extents.number(chosen)));
  check_conditions();
}

// Conditions that certainly do not hold, as soon as all that they name is there; they are assumed at the end.
void LeftSide::check_conditions() {
  for (size_t k = 0; k < plan_.conditions.size(); ++k) {
    const auto& condition = plan_.conditions[k];
    if ((checked_ >> k & 1u) != 0 || !condition.ready(b_)) continue;
    checked_ |= uint64_t{1} << k;
    const Value value = evaluate(*condition.expr, {rule_, graph_, w_, b_, nullptr, -1, nullptr});
    if (value.kind == Value::Kind::truth && value.truth == Truth::no) throw Impossible();
  }
}

// -1: any.
int LeftSide::rank_of_place(Op op, size_t place) const {
  switch (op) {
    case Op::conv2d:
    case Op::conv_transpose:
      return place == 2 ? 1 : -1;
    case Op::resize:
    case Op::depth_to_space:
    case Op::space_to_depth:
      return 4;
    case Op::batch_norm:
      return place == 0 ? -1 : 1;
    default:
      return -1;
  }
}

// One of the ranks that may be, from least to most.
int LeftSide::choose_rank(const void* place, int part, int least, int most, uint32_t possible) {
  std::vector<int> ranks;
  for (int rank = least; rank <= most; ++rank) {
    if (possible >> rank & 1u) ranks.push_back(rank);
  }
  if (ranks.empty()) throw Impossible();
  return ranks[static_cast<size_t>(choices_.choose(place, part, static_cast<int>(ranks.size())))];
}

TermId LeftSide::variable(const std::string& name, size_t index, size_t place, int wanted_rank, uint32_t possible) {
  int rank = rank_of_place(rule_.left[index].op, place);
  if (rank < 0) rank = wanted_rank;
  if (rank < 0) {
    const int least = rule_.left[index].op == Op::matmul && place < 2 ? 2 : 0;
    // Images count whatever the bound is.
    const int most = ops::has_windows(rule_.left[index].op) ? std::max(limits_.max_rank, 4) : limits_.max_rank;
    rank = choose_rank(&name, 0, least, most, possible);
  }
  Shape shape;
  for (int k = 0; k < rank; ++k)
    shape.push_back(w_.logic.facts.canon(w_.pool.extents.symbol(fmt::format("{}.{}", name, k), 1)));
  return graph_.add(kVariable, w_.pool.word(name), {}, Kids{w_.pool.shape(shape)});
}

void LeftSide::sequence(size_t index, const Operand& operand, size_t place, std::vector<TermId>& kids) {
  const auto slot = static_cast<size_t>(operand.index);
  auto& items = b_.sequences[slot];
  if ((b_.masks.sequences >> slot & 1u) == 0) {
    const auto& left = rule_.left[index];
    const auto& spec = ops::spec(left.op);
    int others = 0, spreads = 0;
    for (const auto& other : left.operands) (other.spread ? spreads : others) += 1;
    const bool open = spec.max_inputs == ops::kAnyArity;
    const int least = open && others == 0 && spreads == 1 ? 1 : 0;
    int most = spec.max_inputs - others;
    if (open) most = spreads == 1 ? limits_.max_sequence : limits_.max_sequence - 1;
    const bool around = (plan_.around >> slot & 1u) != 0;
    const int count = around ? 0 : least + choices_.choose(&rule_.sequences[slot], 1, most - least + 1);
    for (int k = 0; k < count; ++k) {
      // Elements of a concat are of one rank.
      const int rank = !open          ? -1
                       : kids.empty() ? -1
                                      : static_cast<int>(w_.pool.shape_of(graph_.node(kids[0]).outs[0]).size());
      const std::string& name = rule_.sequences[slot];
      const std::string full = fmt::format("{}:{}", name, k);
      int wanted = rank;
      if (wanted < 0 && k > 0 && open)
        wanted = static_cast<int>(w_.pool.shape_of(graph_.node(items[0]).outs[0]).size());
      if (wanted < 0 && rank_of_place(left.op, place) < 0)
        wanted =
            choose_rank(&rule_.sequences[slot], 2 + k, 0, limits_.max_rank, plan_.ranks.of_sequence(operand.index));
      items.push_back(variable(full, index, place, wanted, plan_.ranks.of_sequence(operand.index)));
      if (!plan_.ranks.fix_sequence(operand.index, rank_of(items.back()))) throw Impossible();
    }
    b_.masks.sequences |= 1u << slot;
  }
  kids.insert(kids.end(), items.begin(), items.end());
}

std::vector<TermId> LeftSide::operands(size_t index) {
  const auto& left = rule_.left[index];
  std::vector<TermId> kids;
  for (size_t place = 0; place < left.operands.size(); ++place) {
    const Operand& operand = left.operands[place];
    const auto slot = static_cast<size_t>(operand.index);
    if (operand.kind == Operand::Kind::sequence) {
      sequence(index, operand, place, kids);
    } else if (operand.kind == Operand::Kind::scalar) {
      const Value value = to_attr(w_.pool, evaluate(rule_.scalars[slot], scope()), 0.0);
      const uint32_t possible = limits_.scalar_numbers ? 1u : plan_.ranks.of_number(index, place);
      const int rank = choose_rank(&operand, 0, 0, limits_.max_rank, possible);
      kids.push_back(uniform(rank, fmt::format("number{}", slot), value));
      if (!plan_.ranks.fix_number(index, place, rank)) throw Impossible();
    } else if (operand.kind == Operand::Kind::tensor) {
      if ((b_.masks.tensors >> slot & 1u) == 0) {
        const std::string& name = rule_.tensors[slot];
        int wanted = -1;
        if (left.op == Op::concat && !kids.empty()) wanted = rank_of(kids[0]);
        for (const auto& [one, other] : plan_.same_rank) {
          if (one == operand.index && (b_.masks.tensors >> other & 1u))
            wanted = rank_of(b_.tensors[static_cast<size_t>(other)]);
        }
        if (const auto hint = plan_.rank_hint.find(operand.index); hint != plan_.rank_hint.end()) wanted = hint->second;
        b_.tensors[slot] = plan_.has_form(operand.index)
                               ? constant(name, operand.index, wanted)
                               : variable(name, index, kids.size(), wanted, plan_.ranks.of_tensor(operand.index));
        if (!plan_.ranks.fix_tensor(operand.index, rank_of(b_.tensors[slot]))) throw Impossible();
        b_.masks.tensors |= 1u << slot;
      }
      kids.push_back(b_.tensors[slot]);
    } else {
      const TermId t = b_.nodes[slot];
      const auto ports = static_cast<int>(graph_.node(t).outs.size());
      const bool split = graph_.node(t).op == static_cast<int>(Op::split);
      if (operand.port >= ports) throw Impossible();
      for (int port = operand.spread ? 0 : operand.port; port < (operand.spread ? ports : operand.port + 1); ++port)
        kids.push_back(split ? port_of(graph_, t, port) : t);
    }
  }
  return kids;
}

Params LeftSide::attributes(size_t index, const std::vector<TermId>& kids) {
  const auto& left = rule_.left[index];
  Params params;
  for (const auto& [key, value] : left.fixed) set(params, key, from_attr(w_.pool, value));
  if (left.bundle >= 0 && (b_.masks.bundles >> left.bundle & 1u) != 0) {
    const auto& bundle = b_.bundles[static_cast<size_t>(left.bundle)];
    // Both take the same attributes, or they never match together.
    for (const auto& [key, value] : w_.pool.params_of(bundle.params)) {
      if (!in_bundle(*bundle.pattern, key)) continue;
      const bool known = std::ranges::any_of(ops::spec(left.op).attrs,
                                             [key = key](const ops::AttrSpec& spec) { return spec.key == key; });
      if (!known || !in_bundle(left, key)) throw Impossible();
      set(params, key, value);
    }
  }
  for (const auto& spec : ops::spec(left.op).attrs) {
    if (find(params, spec.key)) continue;
    const auto test = std::ranges::find(left.tests, spec.key, &rules::AttrTest::key);
    const int length = test != left.tests.end() && test->is_list ? static_cast<int>(test->items.size()) : -1;
    if (test != left.tests.end() && !test->is_list) {
      const int32_t slot = test->items[0].slot;
      if ((b_.masks.attributes >> slot & 1u) != 0) {
        set(params, spec.key, to_attr(w_.pool, b_.attributes[static_cast<size_t>(slot)], spec.fallback));
        continue;
      }
    }
    const Value value = attribute(index, spec, kids, length);
    set(params, spec.key, value);
    if (test != left.tests.end()) bind(*test, value);
  }
  return params;
}

void LeftSide::bind_slot(int32_t slot, const Value& value) {
  if ((b_.masks.attributes >> slot & 1u) != 0) return assume_equal(w_, b_.attributes[static_cast<size_t>(slot)], value);
  b_.attributes[static_cast<size_t>(slot)] = value;
  b_.masks.attributes |= 1u << slot;
}

void LeftSide::bind(const rules::AttrTest& test, const Value& value) {
  if (!test.is_list) return bind_slot(test.items[0].slot, value);
  if (value.list.size() != test.items.size()) throw Impossible();
  for (size_t k = 0; k < test.items.size(); ++k) {
    const auto& item = test.items[k];
    if (item.slot >= 0) {
      bind_slot(item.slot, Value::extent(value.list[k]));
    } else {
      assume_equal(w_, Value::extent(value.list[k]), Value::extent(w_.pool.extents.number(item.number)));
    }
  }
}

Value LeftSide::symbols(const std::string& name, size_t count, int64_t least) {
  Shape items;
  for (size_t k = 0; k < count; ++k)
    items.push_back(w_.logic.facts.canon(w_.pool.extents.symbol(fmt::format("{}[{}]", name, k), least)));
  return Value::of(std::move(items));
}

Value LeftSide::permutation(size_t index, size_t rank) {
  std::vector<int64_t> rest(rank);
  std::iota(rest.begin(), rest.end(), 0);
  Shape perm;
  for (size_t k = 0; k < rank; ++k) {
    const auto at = choices_.choose(&rule_.left[index], 200 + static_cast<int>(k), static_cast<int>(rest.size()));
    perm.push_back(w_.pool.extents.number(rest[static_cast<size_t>(at)]));
    rest.erase(rest.begin() + at);
  }
  return Value::of(std::move(perm));
}

// Increasing axes; `length` of them where it is given.
Value LeftSide::subset(size_t index, Attr key, size_t rank, int length) {
  if (rank == 0) throw Impossible();
  const int mask = 1 + choices_.choose(&rule_.left[index], 100 + static_cast<int>(key), (1 << rank) - 1);
  Shape axes;
  for (size_t k = 0; k < rank; ++k) {
    if (mask >> k & 1) axes.push_back(w_.pool.extents.number(static_cast<int64_t>(k)));
  }
  if (length >= 0 && axes.size() != static_cast<size_t>(length)) throw Impossible();
  return Value::of(std::move(axes));
}

Value LeftSide::list_attribute(size_t index, Attr key, const std::string& name, const Shape& first, int length) {
  const auto open_length = [&](int least, int most) {
    if (length >= 0) return static_cast<size_t>(length);
    return static_cast<size_t>(least) +
           static_cast<size_t>(choices_.choose(&rule_.left[index], static_cast<int>(key), most - least + 1));
  };
  const bool windows = ops::has_windows(rule_.left[index].op);
  if (windows && first.size() < 3) throw Impossible();
  switch (key) {
    case Attr::strides:
    case Attr::dilations:
    case Attr::kernel:
      return symbols(name, first.size() - 2, 1);
    case Attr::pads:
      return symbols(name, 2 * (windows ? first.size() - 2 : first.size()), 0);
    case Attr::output_padding:
      return symbols(name, first.size() - 2, 0);
    case Attr::sizes:
      return symbols(name, open_length(1, limits_.max_sequence), 1);
    case Attr::shape:
      return symbols(name, open_length(0, limits_.max_rank), 1);
    case Attr::perm:
      return permutation(index, first.size());
    case Attr::axes:
      return subset(index, key, first.size(), length);
    default:
      throw Untranslatable(fmt::format("attribute '{}' is left open", ops::name(key)));
  }
}

Value LeftSide::attribute(size_t index, const ops::AttrSpec& spec, const std::vector<TermId>& kids, int length) {
  const Op op = rule_.left[index].op;
  const std::string name = fmt::format("{}{}.{}", ops::name(op), index, ops::name(spec.key));
  const Shape first = kids.empty() ? Shape() : w_.pool.shape_of(graph_.node(kids[0]).outs[0]);
  const auto number = [&](int count) {
    return Value::extent(
        w_.pool.extents.number(choices_.choose(&rule_.left[index], static_cast<int>(spec.key), count)));
  };
  if (std::holds_alternative<double>(spec.fallback)) return Value::real(w_.logic.facts.real(w_.pool.real_symbol(name)));
  if (std::holds_alternative<std::string>(spec.fallback)) {
    static const std::vector<std::string> kActs{"none", "relu", "sigmoid", "tanh", "gelu", "hard_swish"};
    static const std::vector<std::string> kForms{"none", "tanh"};
    if (spec.key == Attr::to) return Value::word(w_.pool.element_type());
    const auto& words = spec.key == Attr::act ? kActs : kForms;
    const int at = choices_.choose(&rule_.left[index], static_cast<int>(spec.key), static_cast<int>(words.size()));
    return Value::word(w_.pool.word(words[static_cast<size_t>(at)]));
  }
  if (std::holds_alternative<int64_t>(spec.fallback)) {
    if (spec.key == Attr::axis) {
      if (first.empty()) throw Impossible();
      return number(static_cast<int>(first.size()));
    }
    if (spec.key == Attr::keepdims) return number(2);
    const int64_t least = spec.key == Attr::group ? 1 : 0;
    return Value::extent(w_.logic.facts.canon(w_.pool.extents.symbol(name, least)));
  }
  if (op == Op::slice && spec.key != Attr::axes) {
    // One for each of the axes.
    size_t count = static_cast<size_t>(std::max(length, 0));
    if (length < 0) count = subset(index, Attr::axes, first.size(), length).list.size();
    return symbols(name, count, spec.key == Attr::starts ? 0 : 1);
  }
  return list_attribute(index, spec.key, name, first, length);
}

}  // namespace rlgo::rulegen::sym
