// Inputs near the numbers that a model takes away from them: a year of 2024, a time in seconds since 1970, a
// temperature in kelvin, before it is standardised.
#pragma once

#include <cstdint>
#include <optional>

#include "core/graph/graph.h"
#include "core/verify/numbers.h"

namespace rlgo::verify {

// random_inputs, but that inputs which the graph shifts by large constants (x - mean, scale * x + bias, a batch norm)
// lie around what becomes zero, as far from it as the scale behind makes about one. There x - mean is exact, while a
// shift that a rewrite has moved behind a product loses all digits; on other inputs both round alike. Nothing where no
// input is shifted by four times its spread.
std::optional<TensorMap> centred_inputs(const graph::Graph& graph, uint64_t seed);

}  // namespace rlgo::verify
