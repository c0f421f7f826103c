// How large a value of a rule may be: the monomials that it is a sum of, a maximum of, or chosen from.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace rlgo::rules {

// factor * the product of atoms to their powers. Atoms are variables of a rule, and what is no monomial of these.
struct Monomial {
  double factor = 1;
  std::map<int, double> powers = {};

  auto operator<=>(const Monomial&) const = default;
};
// a * b^power
Monomial product(const Monomial& a, const Monomial& b, double power = 1);
// Whether m = p^s q^t with s and t at least 0 and s + t at most 1: it lies in range where both do.
bool is_between(const Monomial& m, const Monomial& p, const Monomial& q);

// Of a value of at least `least`, at least 0, that rises or falls with an exponential: where that overflows or becomes
// 0, it is what floating point makes of infinity and 0, and that is its limit.
struct Limit {
  int direction = 0;  // 1 rises, -1 falls; 0: no such value
  int atom = 0;       // the exponential
  double least = 0;
};

// What is known of a value's magnitude.
struct Form {
  std::vector<Monomial> terms = {};  // different in their powers
  bool constant = false;             // computed of constants alone
  bool is_max = false;               // a reduce_max
  bool below_zero = false;           // at most 0: x - max(x)
  bool above_zero = false;           // at least 0: |x|
  bool is_sum = false;               // of values that are known at run time only
  bool positive = false;             // a sum of numbers of at least 0: none is larger than the sum
  Limit limit = {};

  // Of terms with the same powers the larger factor stands.
  void add(const Monomial& term);
};

constexpr size_t kMostTerms = 64;  // of one form; what has more is in no range

// A constant number of that magnitude.
Form number(double factor);
// Whatever is chosen from `in`, from the one number `from` on, or joined of them.
Form united(const std::vector<Form>& in, size_t from = 0);
// The sum of them all.
Form sum(const std::vector<Form>& in);
// Other terms, and else the same.
Form with(const Form& like, const std::vector<Monomial>& terms);
Form times(const Form& a, const Form& b);

}  // namespace rlgo::rules
