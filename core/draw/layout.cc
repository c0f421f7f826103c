#include "core/draw/layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"

namespace rlgo::graph {
namespace {

constexpr double kGapX = 18, kGapY = 34, kMargin = 8;
constexpr double kDummyWidth = 6;
constexpr size_t kMostPlaces = 100'000;  // of boxes, and of arrows in the layers that they pass
constexpr int kOrderSweeps = 12, kAlignSweeps = 6, kSettleSweeps = 8;

// A box, or a place that a long arrow passes.
struct Vertex {
  int layer = 0;
  double width = 0;
  bool dummy = false;
  std::vector<int> up, down;
  double x = 0;
};

// How much the part of an arrow between v and its neighbour w wants to be straight: long arrows and chains most.
double straightness(const Vertex& v, const Vertex& w, bool upwards) {
  if (v.dummy && w.dummy) return 8;
  const bool chain = upwards ? v.up.size() == 1 && w.down.size() == 1 : v.down.size() == 1 && w.up.size() == 1;
  return chain ? 6 : v.dummy || w.dummy ? 2 : 1;
}

class Sugiyama {
 public:
  Sugiyama(std::span<const Size> boxes, std::span<const std::pair<int, int>> arrows) : boxes_(boxes), arrows_(arrows) {}

  Layout run() {
    assign_layers();
    make_vertices();
    order_layers();
    place();
    return result();
  }

 private:
  void assign_layers();
  void make_vertices();
  void order_layers();
  void sweep(bool downwards);
  int64_t crossings() const;
  void place();
  void settle(std::vector<int>& layer, bool use_up, bool use_down);
  Layout result() const;

  std::span<const Size> boxes_;
  std::span<const std::pair<int, int>> arrows_;
  std::vector<int> layer_of_;
  std::vector<Vertex> vertices_;
  std::vector<std::vector<int>> chains_;  // by arrow: vertices from box to box
  std::vector<std::vector<int>> layers_;
  std::vector<int> place_in_layer_;
};

void Sugiyama::assign_layers() {
  const size_t n = boxes_.size();
  std::vector<std::vector<int>> next(n);
  std::vector<int> waiting(n, 0);
  for (const auto& [from, to] : arrows_) {
    next[from].push_back(to);
    ++waiting[to];
  }
  layer_of_.assign(n, 0);
  std::vector<int> ready, order;
  const std::vector<int> incoming = waiting;
  for (size_t v = 0; v < n; ++v) {
    if (waiting[v] == 0) ready.push_back(static_cast<int>(v));
  }
  for (size_t k = 0; k < ready.size(); ++k) {
    const int v = ready[k];
    for (const int w : next[v]) {
      layer_of_[w] = std::max(layer_of_[w], layer_of_[v] + 1);
      if (--waiting[w] == 0) ready.push_back(w);
    }
  }
  if (ready.size() != n) fail("the picture has a cycle of arrows");
  // Sources stand right above their first reader.
  for (size_t v = 0; v < n; ++v) {
    if (incoming[v] > 0 || next[v].empty()) continue;
    int first = layer_of_[next[v][0]];
    for (const int w : next[v]) first = std::min(first, layer_of_[w]);
    layer_of_[v] = first - 1;
  }
}

void Sugiyama::make_vertices() {
  size_t places = boxes_.size();
  for (const auto& [from, to] : arrows_) places += static_cast<size_t>(layer_of_[to] - layer_of_[from] - 1);
  if (places > kMostPlaces)
    throw TooLarge(fmt::format("its arrows pass {} layers, at most {} can be", places, kMostPlaces));
  for (size_t v = 0; v < boxes_.size(); ++v) vertices_.push_back({layer_of_[v], boxes_[v].width, false, {}, {}, 0});
  for (const auto& [from, to] : arrows_) {
    std::vector<int> chain = {from};
    for (int layer = layer_of_[from] + 1; layer < layer_of_[to]; ++layer) {
      chain.push_back(static_cast<int>(vertices_.size()));
      vertices_.push_back({layer, kDummyWidth, true, {}, {}, 0});
    }
    chain.push_back(to);
    for (size_t k = 1; k < chain.size(); ++k) {
      vertices_[chain[k - 1]].down.push_back(chain[k]);
      vertices_[chain[k]].up.push_back(chain[k - 1]);
    }
    chains_.push_back(std::move(chain));
  }
}

// Order of a depth-first walk at first, which keeps parallel branches apart; then sweeps, of which the best is kept.
void Sugiyama::order_layers() {
  int depth = 0;
  for (const Vertex& v : vertices_) depth = std::max(depth, v.layer + 1);
  layers_.resize(static_cast<size_t>(depth));
  place_in_layer_.assign(vertices_.size(), 0);
  std::vector<char> seen(vertices_.size(), 0);
  std::vector<int> stack;
  for (size_t start = 0; start < vertices_.size(); ++start) {
    if (!vertices_[start].up.empty() || seen[start]) continue;
    stack.push_back(static_cast<int>(start));
    while (!stack.empty()) {
      const int v = stack.back();
      stack.pop_back();
      if (seen[v]) continue;
      seen[v] = 1;
      auto& layer = layers_[vertices_[v].layer];
      place_in_layer_[v] = static_cast<int>(layer.size());
      layer.push_back(v);
      for (auto w = vertices_[v].down.rbegin(); w != vertices_[v].down.rend(); ++w) stack.push_back(*w);
    }
  }
  auto best = layers_;
  int64_t fewest = crossings();
  for (int k = 0; k < kOrderSweeps && fewest > 0; ++k) {
    sweep(k % 2 == 0);
    const int64_t now = crossings();
    if (now >= fewest) continue;
    fewest = now;
    best = layers_;
  }
  layers_ = std::move(best);
}

// Sorts each layer by the median place of the neighbours in the layer before it.
void Sugiyama::sweep(bool downwards) {
  const int depth = static_cast<int>(layers_.size());
  for (int k = 1; k < depth; ++k) {
    auto& layer = layers_[downwards ? k : depth - 1 - k];
    std::vector<std::pair<double, int>> keys;
    for (const int v : layer) {
      const auto& neighbours = downwards ? vertices_[v].up : vertices_[v].down;
      std::vector<int> places;
      for (const int w : neighbours) places.push_back(place_in_layer_[w]);
      std::sort(places.begin(), places.end());
      const size_t half = places.size() / 2;
      double key = place_in_layer_[v];
      if (!places.empty()) key = places.size() % 2 == 1 ? places[half] : (places[half - 1] + places[half]) / 2.0;
      keys.emplace_back(key, v);
    }
    std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < keys.size(); ++i) {
      layer[i] = keys[i].second;
      place_in_layer_[layer[i]] = static_cast<int>(i);
    }
  }
}

// Inversions between neighbouring layers, counted by a Fenwick tree.
int64_t Sugiyama::crossings() const {
  int64_t sum = 0;
  for (size_t l = 0; l + 1 < layers_.size(); ++l) {
    std::vector<int64_t> tree(layers_[l + 1].size() + 1, 0);
    int64_t inserted = 0;
    for (const int v : layers_[l]) {
      for (const int w : vertices_[v].down) {
        int64_t not_right = 0;
        for (int k = place_in_layer_[w] + 1; k > 0; k -= k & -k) not_right += tree[k];
        sum += inserted - not_right;
      }
      for (const int w : vertices_[v].down) {
        for (size_t k = place_in_layer_[w] + 1; k < tree.size(); k += k & -k) ++tree[k];
        ++inserted;
      }
    }
  }
  return sum;
}

// Moves a layer's vertices as near to their neighbours as order and widths allow: weighted isotonic regression of the
// wished places less the space to the left, solved exactly by pooling.
void Sugiyama::settle(std::vector<int>& layer, bool use_up, bool use_down) {
  struct Pool {
    double sum, weight;
    int count;
    double mean() const { return sum / weight; }
  };
  std::vector<Pool> pools;
  std::vector<double> offset(layer.size(), 0);
  for (size_t i = 0; i < layer.size(); ++i) {
    const Vertex& v = vertices_[layer[i]];
    if (i > 0) offset[i] = offset[i - 1] + (vertices_[layer[i - 1]].width + v.width) / 2 + kGapX;
    double sum = 1e-3 * v.x, weight = 1e-3;
    const auto add = [&](const std::vector<int>& neighbours, bool upwards) {
      for (const int w : neighbours) {
        const double strength = straightness(v, vertices_[w], upwards);
        sum += strength * vertices_[w].x;
        weight += strength;
      }
    };
    if (use_up) add(v.up, true);
    if (use_down) add(v.down, false);
    pools.push_back({sum - weight * offset[i], weight, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().weight += last.weight;
      pools.back().count += last.count;
    }
  }
  size_t i = 0;
  for (const Pool& pool : pools) {
    for (int k = 0; k < pool.count; ++k, ++i) vertices_[layer[i]].x = pool.mean() + offset[i];
  }
}

void Sugiyama::place() {
  for (auto& layer : layers_) {
    double x = 0;
    for (const int v : layer) {
      vertices_[v].x = x + vertices_[v].width / 2;
      x += vertices_[v].width + kGapX;
    }
    for (const int v : layer) vertices_[v].x -= x / 2;
  }
  const auto down = [&](bool use_down) {
    for (auto& layer : layers_) settle(layer, true, use_down);
  };
  const auto up = [&](bool use_up) {
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) settle(*layer, use_up, true);
  };
  for (int k = 0; k < kAlignSweeps; ++k) {
    down(false);
    up(false);
  }
  for (int k = 0; k < kSettleSweeps; ++k) {
    down(true);
    up(true);
  }
}

Layout Sugiyama::result() const {
  Layout layout;
  double left = 0, right = 0;
  for (size_t v = 0; v < vertices_.size(); ++v) {
    const double low = vertices_[v].x - vertices_[v].width / 2, high = vertices_[v].x + vertices_[v].width / 2;
    left = v == 0 ? low : std::min(left, low);
    right = v == 0 ? high : std::max(right, high);
  }
  std::vector<double> middle(layers_.size());
  double y = kMargin;
  for (size_t l = 0; l < layers_.size(); ++l) {
    double height = 0;
    for (const int v : layers_[l]) {
      if (!vertices_[v].dummy) height = std::max(height, boxes_[v].height);
    }
    middle[l] = y + height / 2;
    y += height + kGapY;
  }
  const auto point = [&](int v) { return Point{vertices_[v].x - left + kMargin, middle[vertices_[v].layer]}; };
  for (size_t v = 0; v < boxes_.size(); ++v) layout.centres.push_back(point(static_cast<int>(v)));
  for (const auto& chain : chains_) {
    std::vector<Point> route;
    for (const int v : chain) route.push_back(point(v));
    layout.routes.push_back(std::move(route));
  }
  layout.width = right - left + 2 * kMargin;
  layout.height = std::max(0.0, y - kGapY) + kMargin;
  return layout;
}

}  // namespace

Layout layered_layout(std::span<const Size> boxes, std::span<const std::pair<int, int>> arrows) {
  return Sugiyama(boxes, arrows).run();
}

}  // namespace rlgo::graph
