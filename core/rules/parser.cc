#include "core/rules/parser.h"

#include <array>
#include <cctype>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::rules {
namespace {

constexpr int kMaxDepth = 100;  // nesting of terms and expressions: hostile files must not exhaust the stack

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::vector<RuleText> file() {
    std::vector<RuleText> rules;
    for (skip(); pos_ < text_.size(); skip()) {
      if (!keyword("rule")) error("expected 'rule', found '{}'", rest());
      rules.push_back(rule());
    }
    return rules;
  }

 private:
  template <typename... Args>
  [[noreturn]] void error(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(fmt::format("{}:{}: {}", file_, line_, fmt::format(format, std::forward<Args>(args)...)));
  }
  char peek(size_t ahead = 0) const { return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0'; }
  std::string rest() const {
    const auto tail = text_.substr(pos_, 20);
    return tail.empty() ? "end of file" : std::string(tail.substr(0, tail.find('\n')));
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void skip() {
    for (; pos_ < text_.size(); ++pos_) {
      if (text_[pos_] == '#') {
        while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
      }
      if (pos_ == text_.size()) return;
      if (text_[pos_] == '\n') ++line_;
      if (std::isspace(static_cast<unsigned char>(text_[pos_])) == 0) return;
    }
  }
  bool accept(std::string_view symbol) {
    if (text_.substr(pos_, symbol.size()) != symbol) return false;
    pos_ += symbol.size();
    skip();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!accept(symbol)) error("expected '{}', found '{}'", symbol, rest());
  }
  bool at_keyword(std::string_view word) const {
    return text_.substr(pos_, word.size()) == word && !is_word(peek(word.size()));
  }
  bool keyword(std::string_view word) {
    if (!at_keyword(word)) return false;
    pos_ += word.size();
    skip();
    return true;
  }
  // Letters, digits and '_', also '-' where `dashes`.
  std::string word(std::string_view what, bool dashes = false) {
    const size_t begin = pos_;
    while (is_word(peek()) || (dashes && peek() == '-')) ++pos_;
    if (pos_ == begin) error("expected {}, found '{}'", what, rest());
    std::string found(text_.substr(begin, pos_ - begin));
    return found;
  }
  // ?name, without what follows it.
  std::string variable() {
    if (peek() != '?') error("expected a ?name, found '{}'", rest());
    ++pos_;
    return word("a name behind '?'");
  }
  int port() {
    if (peek() != '.' || !is_digit(peek(1))) return -1;
    ++pos_;
    const auto number = parse_int(word("an output number"));
    if (!number || *number > 1000) error("an output number must be between 0 and 1000");
    return static_cast<int>(*number);
  }
  bool spread() {
    if (text_.substr(pos_, 3) != "...") return false;
    pos_ += 3;
    return true;
  }

  RuleText rule() {
    RuleText rule;
    rule.line = line_;
    rule.file = file_;
    rule.name = word("the rule's name", true);
    skip();
    while (peek() != '?') clause(rule);
    while (peek() == '?') rule.left.push_back(equation());
    conditions(rule);
    expect("=>");
    while (peek() == '?') rule.right.push_back(equation());
    if (rule.right.empty()) error("rule '{}': expected '?name = ...' behind '=>', found '{}'", rule.name, rest());
    return rule;
  }

  void clause(RuleText& rule) {
    static const std::vector<std::string> kClauses{"tags", "proof", "before"};
    const std::string name = word("'?name = (op ...)' or tags, proof, before");
    skip();
    if (name == "tags") {
      while (is_word(peek()) && !at_keyword("proof") && !at_keyword("before")) {
        rule.tags.push_back(word("a tag", true));
        skip();
      }
    } else if (name == "proof") {
      rule.proof = word("unproved, tested or proved");
      if (rule.proof != "unproved" && rule.proof != "tested" && rule.proof != "proved") {
        error("proof is unproved, tested or proved, not '{}'", rule.proof);
      }
      skip();
      if (rule.proof == "proved" && keyword("for")) rule.scope = scope();
      while (rule.proof == "proved" && is_word(peek()) && !at_keyword("tags") && !at_keyword("before")) {
        rule.axioms.push_back(word("an axiom", true));
        skip();
      }
    } else if (name == "before") {
      rule.before_first = variable();
      skip();
      rule.before_second = variable();
      skip();
    } else {
      error("rule '{}': unknown clause '{}'{}", rule.name, name, did_you_mean(name, kClauses));
    }
  }

  // floats, ranks to 4, lists to 3:
  ProofScope scope() {
    constexpr int64_t kMost = 1000;
    const auto limit = [&](std::string_view what) {
      const std::string digits = word(what);
      const auto number = parse_int(digits);
      if (!number || *number < 1 || *number > kMost)
        error("{} must be between 1 and {}, not '{}'", what, kMost, digits);
      skip();
      return static_cast<int>(*number);
    };
    ProofScope scope;
    scope.all_types = keyword("all");
    if (!keyword(scope.all_types ? "types" : "floats")) error("expected 'floats' or 'all types', found '{}'", rest());
    expect(",");
    if (!keyword("ranks") || !keyword("to")) error("expected 'ranks to N', found '{}'", rest());
    scope.max_rank = limit("the largest rank");
    scope.has_lists = accept(",");
    if (scope.has_lists && keyword("windows")) {
      if (!keyword("of") || !keyword("1") || !keyword("to") || !keyword("3") || !keyword("axes"))
        error("expected 'windows of 1 to 3 axes', found '{}'", rest());
      scope.all_windows = true;
      scope.has_lists = accept(",");
    }
    if (!scope.has_lists) {
      expect(":");
      return scope;
    }
    const bool listed = keyword("lists"), any = listed && keyword("of");
    if (!listed || (any ? !keyword("any") || !keyword("length") : !keyword("to")))
      error("expected 'lists to N' or 'lists of any length', found '{}'", rest());
    scope.max_list = any ? ProofScope::kAnyLength : limit("the longest list");
    expect(":");
    return scope;
  }

  void conditions(RuleText& rule) {
    for (;;) {
      Condition condition;
      condition.line = line_;
      condition.pays = keyword("pays");
      if (condition.pays || keyword("when")) {
        condition.expr = expression(0);
      } else if (keyword("let")) {
        condition.let = variable();
        skip();
        expect("=");
        condition.expr = expression(0);
      } else {
        return;
      }
      rule.conditions.push_back(std::move(condition));
    }
  }

  Equation equation() {
    Equation equation;
    equation.line = line_;
    equation.name = variable();
    equation.port = port();
    equation.spread = spread();
    skip();
    expect("=");
    equation.term = term(0);
    return equation;
  }

  Term term(int depth) {
    if (depth > kMaxDepth) error("terms are nested more than {} deep", kMaxDepth);
    Term term;
    term.line = line_;
    if (peek() == '?') {
      term.text = variable();
      term.port = port();
      term.spread = spread();
      skip();
    } else if (peek() == '{') {
      expect("{");
      term.kind = Term::Kind::scalar;
      term.value = expression(depth);
      expect("}");
    } else if (is_digit(peek()) || peek() == '-') {
      term.kind = Term::Kind::scalar;
      term.value = number();
    } else {
      node(term, depth);
    }
    return term;
  }

  void node(Term& term, int depth) {
    expect("(");
    term.kind = Term::Kind::node;
    term.text = word("an operator");
    skip();
    while (peek() == '?' || peek() == '(' || peek() == '{' || is_digit(peek()) || peek() == '-') {
      term.operands.push_back(this->term(depth + 1));
    }
    while (is_word(peek()) || peek() == '.') {
      if (accept("..")) {
        if (!term.bundle.empty()) error("a term takes one ..?name");
        term.bundle = variable();
        skip();
        continue;
      }
      AttrTerm attr;
      attr.key = word("an attribute");
      skip();
      expect("=");
      attr.value = expression(depth);
      term.attrs.push_back(std::move(attr));
    }
    if (peek() != ')')
      error("expected an operand, attribute=value or ')', found '{}' (operands come before attributes)", rest());
    ++pos_;
    term.spread = spread();
    skip();
  }

  Expr number() {
    Expr expr;
    expr.line = line_;
    const size_t begin = pos_;
    if (peek() == '-') ++pos_;
    if (at_keyword("inf")) {
      pos_ += 3;
    } else {
      while (is_digit(peek()) || peek() == '.' || peek() == 'e' || peek() == 'E' ||
             ((peek() == '-' || peek() == '+') && pos_ > begin && (text_[pos_ - 1] == 'e' || text_[pos_ - 1] == 'E'))) {
        ++pos_;
      }
    }
    const auto text = text_.substr(begin, pos_ - begin);
    if (const auto integer = parse_int(text)) {
      expr.integer = *integer;
    } else if (const auto real = parse_double(text)) {
      expr.kind = Expr::Kind::real;
      expr.real = *real;
    } else {
      error("'{}' is not a number", std::string(text));
    }
    skip();
    return expr;
  }

  static Expr call(std::string name, std::vector<Expr> args, int line) {
    Expr expr;
    expr.kind = Expr::Kind::call;
    expr.text = std::move(name);
    expr.args = std::move(args);
    expr.line = line;
    return expr;
  }

  Expr expression(int depth) { return binary(0, depth); }

  // Levels: or; and; comparison; sum; product.
  Expr binary(size_t level, int depth) {
    if (depth > kMaxDepth) error("expressions are nested more than {} deep", kMaxDepth);
    if (level == kLevels.size()) return unary(depth);
    if (level == kComparison) {
      const int line = line_;
      if (keyword("not")) return call("not", one(binary(level, depth + 1)), line);
    }
    Expr left = binary(level + 1, depth);
    for (;;) {
      const int line = line_;
      const std::string_view op = infix(level);
      if (op.empty()) return left;
      std::vector<Expr> args;
      args.push_back(std::move(left));
      args.push_back(binary(level + 1, depth));
      left = call(std::string(op), std::move(args), line);
    }
  }
  std::string_view infix(size_t level) {
    for (const std::string_view op : kLevels[level]) {
      if (op.empty()) break;
      if (is_word(op[0]) ? keyword(op) : (peek() != '=' || peek(1) != '>') && accept(op)) return op;
    }
    return {};
  }

  Expr unary(int depth) {
    if (depth > kMaxDepth) error("expressions are nested more than {} deep", kMaxDepth);
    const int line = line_;
    if (peek() == '-' && !is_digit(peek(1)) && !(peek(1) == 'i' && peek(2) == 'n' && peek(3) == 'f')) {
      expect("-");
      return call("neg", one(unary(depth + 1)), line);
    }
    Expr expr = primary(depth + 1);
    while (accept("[")) {
      std::vector<Expr> args = one(std::move(expr));
      args.push_back(expression(depth + 1));
      expect("]");
      expr = call("[]", std::move(args), line);
    }
    return expr;
  }
  static std::vector<Expr> one(Expr expr) {
    std::vector<Expr> args;
    args.push_back(std::move(expr));
    return args;
  }

  Expr primary(int depth) {
    Expr expr;
    expr.line = line_;
    if (is_digit(peek()) || peek() == '-' || at_keyword("inf")) return number();
    if (accept("(")) {
      expr = expression(depth);
      expect(")");
    } else if (accept("[")) {
      expr.kind = Expr::Kind::list;
      expr.args = arguments("]", depth);
    } else if (peek() == '?') {
      expr.kind = Expr::Kind::name;
      expr.text = variable();
      expr.port = port();
      skip();
    } else {
      expr.text = word("a number, ?name, word, function or list");
      expr.kind = Expr::Kind::word;
      if (peek() == '(') {  // no space: a call
        expect("(");
        expr.kind = Expr::Kind::call;
        expr.args = arguments(")", depth);
      }
      skip();
    }
    return expr;
  }

  std::vector<Expr> arguments(std::string_view close, int depth) {
    std::vector<Expr> args;
    if (accept(close)) return args;
    do {
      args.push_back(expression(depth));
    } while (accept(","));
    expect(close);
    return args;
  }

  // Weakest first; in a level, longer operators first. `not` binds like a comparison.
  static constexpr size_t kComparison = 2;
  static constexpr std::array<std::array<std::string_view, 6>, 5> kLevels{
      {{"or"}, {"and"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}};

  std::string_view text_;
  std::string file_;
  size_t pos_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<RuleText> parse_rules(std::string_view text, const std::string& file_name) {
  return Parser(text, file_name).file();
}

}  // namespace rlgo::rules
