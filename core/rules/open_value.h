// Expressions of rules over integers that depend on open sizes: what value.cc does with plain ones. No value where the
// answer is not the same for all sizes.
#pragma once

#include <optional>
#include <span>

#include "core/rules/value.h"

namespace rlgo::rules {

using Args = std::span<const Val>;

// Whether an argument is an OpenInt or OpenInts; then the functions below are asked.
bool is_open(Args args);
// op: + - * / % < (the smaller) > (the larger)
Val open_arithmetic(Fn op, Args args);
// True where all items are equal at all sizes, false where two never are.
std::optional<bool> open_same(const Val& a, const Val& b);
// a < b, or a <= b.
Val open_compare(const Val& a, const Val& b, bool or_equal);
Val open_item(Args args);
Val open_pick(Args args);
Val open_set(Args args);
Val open_cat(Args args);
// Place of the first item that equals the second argument at all sizes, where no earlier one can; the list's length
// where none can.
std::optional<size_t> open_place(Args args);
Val open_broadcast(Args args);

// Place in a list of that size; k < 0 counts from the end.
std::optional<size_t> place(const Val& index, size_t size);

}  // namespace rlgo::rules
