// The families: what they are made of.
#include "core/rulegen/generate/enumerate_sets.h"

#include "core/base/error.h"

namespace rlgo::rulegen {
namespace {

using ops::Attr;
using ops::Ints;
using ops::Op;

OpConfig config_of(Op op, std::string label, double cost, std::vector<std::string> signatures) {
  OpConfig config;
  config.op = op;
  config.label = std::move(label);
  config.cost = cost;
  config.arity = static_cast<int>(signatures[0].find('>'));
  config.outputs = static_cast<int>(signatures[0].size()) - config.arity - 1;
  config.signatures = std::move(signatures);
  return config;
}

OpConfig binary(Op op, std::vector<std::string> signatures) {
  auto config = config_of(op, std::string(ops::name(op)), 1, std::move(signatures));
  config.commutative = true;
  return config;
}

OpConfig activation(Op op, Act act) {
  auto config = config_of(op, std::string(ops::name(op)), 1, {"x>x"});
  config.act = act;
  return config;
}

OpConfig along(Op op, int axis, double cost, std::vector<std::string> signatures) {
  auto config = config_of(op, std::string(ops::name(op)) + std::to_string(axis), cost, std::move(signatures));
  config.axis = axis;
  return config;
}

OpConfig transpose(std::vector<int> perm, std::vector<std::string> signatures) {
  std::string label = "transpose";
  for (int axis : perm) label += std::to_string(axis);
  auto config = config_of(Op::transpose, label, 1, std::move(signatures));
  config.attrs = {{Attr::perm, Ints(perm.begin(), perm.end())}};
  config.perm = std::move(perm);
  return config;
}

OpConfig matmul(std::vector<std::string> signatures) {
  return config_of(Op::matmul, "matmul", 8, std::move(signatures));
}

// Square windows that keep the extents.
OpConfig conv(int kernel, Act act, int group) {
  const std::string word = act == Act::relu ? "relu" : "none";
  auto config = config_of(Op::conv2d, fmt::format("conv2d-{}x{}-g{}-{}", kernel, kernel, group, word), 8 + kernel,
                          {group == 1 ? "xw>x" : "xg>x"});
  if (group == 1) config.signatures.emplace_back("zw>x");
  const int pad = kernel / 2;
  config.attrs = {{Attr::act, word}, {Attr::group, int64_t{group}}, {Attr::pads, Ints{pad, pad, pad, pad}}};
  config.kernel = {kernel, kernel};
  config.pads = {pad, pad, pad, pad};
  config.act = act;
  config.group = group;
  return config;
}

OpConfig pool(Op op, bool count_pads) {
  auto config = config_of(op, std::string(ops::name(op)), 3, {"x>x"});
  config.attrs = {{Attr::kernel, Ints{3, 3}}, {Attr::pads, Ints{1, 1, 1, 1}}};
  if (op == Op::avg_pool) config.attrs.set(Attr::count_include_pad, int64_t{count_pads});
  config.kernel = {3, 3};
  config.pads = {1, 1, 1, 1};
  config.count_pads = count_pads;
  return config;
}

OpConfig enlarge() {
  auto config = config_of(Op::pad, "enlarge", 1, {"w>w"});
  config.attrs = {{Attr::pads, Ints{0, 0, 1, 1, 0, 0, 1, 1}}};
  config.pads = {1, 1, 1, 1};
  return config;
}

Family matrices() {
  Family family;
  family.name = "2d";
  for (const char* name : {"x", "y", "z", "w"}) family.variables.push_back({name, {3, 3}, 'x'});
  family.variables.push_back({"s", {}, 's'});
  family.variables.push_back({"zero", {3, 3}, 'z', 0});
  family.configs = {matmul({"xx>x", "xz>x", "zx>x"}),          binary(Op::add, {"xx>x", "xz>x"}),
                    binary(Op::mul, {"xx>x", "xs>x", "xz>x"}), activation(Op::relu, Act::relu),
                    activation(Op::gelu, Act::gelu),           along(Op::concat, 0, 1, {"xx>x"}),
                    along(Op::concat, 1, 1, {"xx>x"}),         along(Op::split, 0, 1, {"x>xx"}),
                    along(Op::split, 1, 1, {"x>xx"}),          transpose({1, 0}, {"x>x"})};
  return family;
}

Family images() {
  Family family;
  family.name = "4d";
  family.unit = 2;
  family.max_elements = 160;
  family.variables = {{"x", {1, 2, 3, 3}, 'x'}, {"y", {1, 2, 3, 3}, 'x'}, {"a", {2, 2, 3, 3}, 'w'},
                      {"b", {2, 2, 3, 3}, 'w'}, {"d", {2, 2, 1, 1}, 'w'}, {"e", {2, 2, 1, 1}, 'w'},
                      {"g", {2, 1, 3, 3}, 'g'}, {"s", {}, 's'},           {"zero", {1, 2, 3, 3}, 'z', 0}};
  family.configs = {conv(3, Act::none, 1),
                    conv(3, Act::relu, 1),
                    conv(1, Act::none, 1),
                    conv(3, Act::none, 2),
                    binary(Op::add, {"xx>x", "ww>w", "xz>x"}),
                    binary(Op::mul, {"xx>x", "xs>x", "ws>w", "xz>x"}),
                    activation(Op::relu, Act::relu),
                    along(Op::concat, 0, 1, {"xx>x", "ww>w"}),
                    along(Op::concat, 1, 1, {"xx>x", "ww>w"}),
                    along(Op::split, 0, 1, {"x>xx", "w>ww"}),
                    along(Op::split, 1, 1, {"x>xx", "w>ww"}),
                    pool(Op::max_pool, false),
                    pool(Op::avg_pool, true),
                    enlarge()};
  return family;
}

// A convolution or pool whose windows do not keep the extents.
OpConfig moved(OpConfig config, int kernel, int stride, int pad) {
  config.label += fmt::format("-k{}s{}p{}", kernel, stride, pad);
  config.attrs.set(Attr::strides, Ints{stride, stride});
  config.attrs.set(Attr::pads, Ints{pad, pad, pad, pad});
  if (config.op != Op::conv2d) config.attrs.set(Attr::kernel, Ints{kernel, kernel});
  config.kernel = {kernel, kernel};
  config.strides = {stride, stride};
  config.pads = {pad, pad, pad, pad};
  return config;
}

OpConfig depthwise() {
  auto config = conv(3, Act::none, 2);
  config.label = "conv2d-3x3-depthwise";
  config.signatures = {"xg>x", "xm>x"};
  config.depthwise = true;
  return config;
}

Family matrices_and_constants() {
  Family family;
  family.name = "2d-constant";
  for (const char* name : {"x", "y", "u"}) family.variables.push_back({name, {3, 3}, 'x'});
  family.variables.push_back({"zero", {3, 3}, 'z', 0});
  family.variables.push_back({"one", {3, 3}, 'z', 1});
  family.variables.push_back({"eye", {3, 3}, 'i', kIdentity});
  family.configs = {matmul({"xx>x", "xi>x", "ix>x", "xz>x", "zx>x"}),
                    binary(Op::add, {"xx>x", "xz>x", "xi>x"}),
                    binary(Op::mul, {"xx>x", "xz>x", "xi>x"}),
                    activation(Op::relu, Act::relu),
                    along(Op::concat, 0, 1, {"xx>x", "xi>x", "ix>x"}),
                    along(Op::concat, 1, 1, {"xx>x", "xi>x", "ix>x"}),
                    transpose({1, 0}, {"x>x", "i>i"})};
  return family;
}

Family images_and_constants() {
  Family family;
  family.name = "4d-constant";
  family.unit = 2;
  family.max_elements = 160;
  family.variables = {{"x", {1, 2, 3, 3}, 'x'},
                      {"y", {1, 2, 3, 3}, 'x'},
                      {"d", {2, 2, 1, 1}, 'w'},
                      {"a", {2, 2, 3, 3}, 'w'},
                      {"g", {2, 1, 3, 3}, 'g'},
                      {"s", {}, 's'},
                      {"eye", {2, 2, 1, 1}, 'i', kIdentity},
                      {"mean", {2, 1, 3, 3}, 'm', kMean},
                      {"zero", {1, 2, 3, 3}, 'z', 0},
                      {"one", {1, 2, 3, 3}, 'z', 1}};
  auto point = conv(1, Act::none, 1);
  point.signatures = {"xw>x", "xi>x"};
  auto dense = conv(3, Act::none, 1);
  dense.signatures = {"xw>x"};
  auto grow = enlarge();
  grow.signatures = {"w>w", "i>w"};
  family.configs = {point,
                    dense,
                    depthwise(),
                    grow,
                    pool(Op::avg_pool, true),
                    binary(Op::add, {"xx>x", "xz>x", "ww>w", "wi>w", "gg>g", "gm>g"}),
                    binary(Op::mul, {"xx>x", "xs>x", "xz>x", "ws>w", "is>w", "gs>g", "ms>g"}),
                    activation(Op::relu, Act::relu),
                    along(Op::concat, 0, 1, {"xx>x", "ww>w", "wi>w"}),
                    along(Op::concat, 1, 1, {"xx>x"})};
  return family;
}

Family windows() {
  Family family;
  family.name = "4d-window";
  family.unit = 2;
  family.max_elements = 160;
  family.variables = {{"x", {1, 2, 5, 5}, 'x'}, {"y", {1, 2, 5, 5}, 'x'}, {"a", {2, 2, 3, 3}, 'w'},
                      {"b", {2, 2, 3, 3}, 'w'}, {"d", {2, 2, 1, 1}, 'w'}, {"e", {2, 2, 1, 1}, 'w'}};
  const auto plain = [](int kernel) {
    auto config = conv(kernel, Act::none, 1);
    config.signatures = {"xw>x"};
    return config;
  };
  family.configs = {plain(3),
                    moved(plain(3), 3, 2, 1),
                    moved(plain(3), 3, 1, 0),
                    plain(1),
                    moved(plain(1), 1, 2, 0),
                    moved(pool(Op::max_pool, false), 3, 2, 1),
                    moved(pool(Op::max_pool, false), 2, 2, 0),
                    moved(pool(Op::avg_pool, true), 3, 2, 1),
                    moved(pool(Op::avg_pool, true), 2, 2, 0),
                    binary(Op::add, {"xx>x", "ww>w"}),
                    activation(Op::relu, Act::relu),
                    along(Op::concat, 0, 1, {"xx>x", "ww>w"}),
                    along(Op::concat, 1, 1, {"xx>x"}),
                    enlarge()};
  return family;
}

Family transformer() {
  Family family;
  family.name = "transformer";
  family.max_elements = 108;
  family.variables = {{"x", {2, 3, 3}, 'x'}, {"y", {2, 3, 3}, 'x'}, {"u", {3, 3}, 'w'}, {"v", {3, 3}, 'w'},
                      {"p", {3}, 'v'},       {"q", {3}, 'v'},       {"s", {}, 's'}};
  family.configs = {matmul({"xx>x", "xw>x", "ww>w"}),
                    binary(Op::add, {"xx>x", "xv>x", "vv>v", "ww>w"}),
                    binary(Op::mul, {"xx>x", "xv>x", "xs>x", "wv>w", "ws>w", "vs>v", "vv>v"}),
                    activation(Op::gelu, Act::gelu),
                    along(Op::softmax, -1, 4, {"x>x"}),
                    along(Op::layer_norm, -1, 6, {"xvv>x"}),
                    along(Op::reduce_mean, -1, 2, {"x>x"}),
                    along(Op::reduce_sum, -1, 2, {"x>x"}),
                    along(Op::concat, 0, 1, {"xx>x", "ww>w", "vv>v"}),
                    along(Op::concat, 1, 1, {"xx>x", "ww>w"}),
                    along(Op::concat, 2, 1, {"xx>x"}),
                    along(Op::split, 0, 1, {"x>xx", "v>vv"}),
                    along(Op::split, 1, 1, {"x>xx", "w>ww"}),
                    along(Op::split, 2, 1, {"x>xx"}),
                    transpose({0, 2, 1}, {"x>x"}),
                    transpose({1, 0, 2}, {"x>x"}),
                    config_of(Op::reshape, "merge01", 0.5, {"x>x"})};
  return family;
}

constexpr NamedFamily kFamilies[] = {{"2d", matrices},
                                     {"4d", images},
                                     {"transformer", transformer},
                                     {"2d-constant", matrices_and_constants},
                                     {"4d-constant", images_and_constants},
                                     {"4d-window", windows}};

}  // namespace

std::span<const NamedFamily> named_families() { return kFamilies; }

}  // namespace rlgo::rulegen
