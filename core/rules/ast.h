// What a rule file states, before names are looked up. The language is described in parser.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rlgo::rules {

// Place of a named thing in a compiled rule: tables of CompiledRule, slots of Binding.
enum class SlotKind : uint8_t { none, attribute, tensor, sequence, left, right };
struct Slot {
  SlotKind kind = SlotKind::none;
  int32_t index = -1;
  int32_t port = 0;  // left and right
};

// The functions and operators of the language, in the order of the table in value.cc. Those of the first row take a
// tensor's name first.
enum class Fn : int8_t {
  none = -1,
  // clang-format off
  rank, dim, shape, dtype, elements, constant, uses, value, is_float, count, total, start, step, varies,
  len, logical_or, logical_and, logical_not,
  equal, not_equal, less, less_equal, greater, greater_equal,
  add, subtract, multiply, divide, remainder, negate,
  item, min, max, cat, sum, product, index_of, has, iota, repeat, pick, inverse, set, sub, broadcast,
  near, choose, sqrt,
  // clang-format on
};

// An expression over attributes, shapes and numbers.
struct Expr {
  enum class Kind : uint8_t { integer, real, word, list, name, call };  // see the fields
  Kind kind = Kind::integer;
  int line = 0;
  int64_t integer = 0;
  double real = 0;
  std::string text;        // word; name without '?'; function or operator ("+", "==", "and", "[]")
  int port = -1;           // ?name.port, -1 where none is written
  std::vector<Expr> args;  // list items, call arguments
  // Filled in by compile():
  Slot slot;               // name
  Fn function = Fn::none;  // call
  bool calls(Fn which) const { return kind == Kind::call && function == which; }
};

struct AttrTerm {  // key=value
  std::string key;
  Expr value;
};

// An operand: ?x, ?s.1, ?xs..., a number or {expression} (a scalar constant), or (op operands... attributes...).
struct Term {
  enum class Kind : uint8_t { name, node, scalar };  // see the fields
  Kind kind = Kind::name;
  int line = 0;
  std::string text;  // name without '?', or operator
  int port = -1;
  bool spread = false;  // trailing "..."
  std::vector<Term> operands;
  std::vector<AttrTerm> attrs;
  std::string bundle;  // name in ..?NAME, or ""
  Expr value;          // scalar
};

// ?name = term, ?name.port = term, ?name... = term
struct Equation {
  int line = 0;
  std::string name;
  int port = -1;
  bool spread = false;
  Term term;
};

// when EXPR, pays EXPR, or let ?name = EXPR
struct Condition {
  int line = 0;
  std::string let;    // "" for a condition
  bool pays = false;  // a condition for speed alone: the rule holds without it
  Expr expr;
};

// Where a rule is known to hold; the matcher applies it nowhere else (core/rules/proof_scope.h). On the proof line:
//     proof proved for floats, ranks to 6, lists to 16: AXIOM AXIOM ...
//     proof proved for all types, ranks to 4, lists of any length: AXIOM ...
//     proof proved for floats, ranks to 4: AXIOM ...                             (no lists whose length is open)
//     proof proved for floats, ranks to 6, windows of 1 to 3 axes: AXIOM ...     (else: of two axes)
// A proof line without it is that of older files: floats, ranks to 4, lists to 3.
struct ProofScope {
  static constexpr int kAnyLength = 0;
  bool all_types = false;  // else: tensors of one floating-point type
  int max_rank = 4;        // of what variables and numbers stand for, and of shapes whose length the rule leaves open
  int max_list = 3;        // tensors that ?xs... stands for (one fewer next to another list), parts of a split; 0: any
  bool all_windows = false;  // convolutions and pools with one to three spatial axes; else: with two
  bool has_lists = true;     // false: the rule has none, and they are not mentioned
  bool operator==(const ProofScope&) const = default;
};

struct RuleText {
  std::string name;
  int line = 0;
  std::string file;
  std::vector<std::string> tags;
  std::string proof = "unproved";
  ProofScope scope;                         // where proof is "proved"
  std::vector<std::string> axioms;          // that the proof needs, where proof is "proved"
  std::string before_first, before_second;  // before ?a ?b
  std::vector<Equation> left;
  std::vector<Condition> conditions;
  std::vector<Equation> right;
};

std::string to_text(const ProofScope& scope);  // "floats, ranks to 4, lists to 3"
std::string to_text(const Expr& expr);
std::string to_text(const Term& term);
// The meaning: name, `before`, equations, conditions; what RuleSet::hash() covers.
std::string body_text(const RuleText& rule);
// All of it, tags and proof included.
std::string to_text(const RuleText& rule);

}  // namespace rlgo::rules
