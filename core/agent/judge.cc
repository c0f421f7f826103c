#include "core/agent/judge.h"

#include <algorithm>
#include <cmath>

#include "core/agent/kernels.h"

namespace rlgo::agent {
namespace {

std::vector<float> apply(const Linear& map, const float* x, size_t rows = 1) {
  std::vector<float> y;
  append(y, x, rows, map);
  return y;
}

// out(relu(hidden)) of a single output.
float output(const Linear& out, std::vector<float> hidden) {
  for (float& h : hidden) h = h < 0 ? 0 : h;
  return apply(out, hidden.data())[0];
}

}  // namespace

void Judge::find_pairs(const Locations& locations) {
  pairs_.clear();
  pair_of_.clear();
  int32_t begin = 0;
  for (size_t rule = 0; rule < locations.counts.size(); ++rule) {
    const int32_t end = begin + locations.counts[rule];
    if (end == begin) continue;
    pair_of_.insert(pair_of_.end(), static_cast<size_t>(end - begin), static_cast<int64_t>(pairs_.size()));
    pairs_.push_back({static_cast<int32_t>(rule), begin, end});
    begin = end;
  }
  while (own_.size() < std::max(pair_of_.size(), size_t{1})) own_.push_back(static_cast<int64_t>(own_.size()));
}

void Judge::encode_graph(const Summary& summary, const Locations& locations) {
  const auto width = static_cast<size_t>(network_->shape.width);
  auto& global = result_.global;
  global = apply(network_->global_feat, summary.globals.data());
  std::vector<float> next;
  for (int round = 1; round <= network_->shape.rounds; ++round) {
    const Block& block = network_->block(round);
    auto hidden = apply(block.global_in, summary.pooled.data() + static_cast<size_t>(round - 1) * 2 * width);
    const auto own = apply(block.global_parts, global.data());
    kernels::add(hidden.data(), own.data(), static_cast<int64_t>(width));
    next.clear();
    update(global, hidden, block.global_out, block.global_norm, next);
    std::swap(global, next);
  }
  if (network_->savings.out == 0 || locations.root.empty()) return;
  const auto columns = static_cast<size_t>(network_->spec.location_features);
  float most = 0, sum = 0;
  for (size_t l = 0; l < locations.root.size(); ++l) {
    const float saved = std::max(0.0f, -locations.features[l * columns]);
    most = std::max(most, saved);
    sum += saved;
  }
  const float read[] = {most, std::log1p(sum)};
  const auto savings = apply(network_->savings, read);
  kernels::add(global.data(), savings.data(), static_cast<int64_t>(width));
}

void Judge::gather(const RowValues& rows, const Locations& locations) {
  const auto width = static_cast<size_t>(network_->shape.width);
  const auto w = static_cast<int64_t>(width);
  const size_t count = locations.root.size();
  const bool pointer = network_->shape.pointer;
  at_rule_.resize(count * width);
  at_location_.resize(pointer ? count * width : 0);
  int32_t begin = 0;
  for (size_t l = 0; l < count; ++l) {
    const float* root = rows.heads(locations.root[l]);
    float* of_rule = at_rule_.data() + l * width;
    std::copy_n(root, width, of_rule);
    float* of_location = at_location_.data() + l * width;
    if (pointer) std::copy_n(root + 2 * width, width, of_location);
    const int32_t end = locations.rest_end.empty() ? 0 : locations.rest_end[l];
    const float fraction = 1.0f / static_cast<float>(std::max(1, end - begin));
    for (int32_t k = begin; k < end; ++k) {
      const float* other = rows.heads(locations.rest[static_cast<size_t>(k)]);
      kernels::add_times(of_rule, other + width, fraction, w);
      if (pointer) kernels::add_times(of_location, other + 3 * width, fraction, w);
    }
    begin = end;
  }
}

void Judge::score_rules() {
  const auto width = static_cast<size_t>(network_->shape.width);
  const auto w = static_cast<int64_t>(width);
  std::vector<float> summary(pairs_.size() * (2 * width + 1), 0.0f);
  for (size_t p = 0; p < pairs_.size(); ++p) {
    const auto& pair = pairs_[p];
    float* mean = summary.data() + p * (2 * width + 1);
    std::copy_n(at_rule_.data() + static_cast<size_t>(pair.begin) * width, width, mean + width);
    for (int32_t l = pair.begin; l < pair.end; ++l) {
      const float* at = at_rule_.data() + static_cast<size_t>(l) * width;
      kernels::add(mean, at, w);
      kernels::raise(mean + width, at, w);
    }
    const auto count = static_cast<float>(pair.end - pair.begin);
    for (size_t c = 0; c < width; ++c) mean[c] /= count;
    mean[2 * width] = std::log(count);
  }
  auto hidden = apply(network_->rule_pooled, summary.data(), pairs_.size());
  const auto global = apply(network_->rule_global, result_.global.data());
  for (size_t p = 0; p < pairs_.size(); ++p) {
    float* h = hidden.data() + p * width;
    kernels::add(h, network_->rule_table.data() + static_cast<size_t>(pairs_[p].rule) * width, w);
    kernels::add(h, global.data(), w);
  }
  const kernels::TableRows<const float> table{hidden.data(), own_.data()};
  rule_scores_.resize(pairs_.size());
  kernels::score_rows<float>(rule_scores_.data(),
                             {&table, 1, nullptr, nullptr, 0, network_->rule_score.weight.data(),
                              network_->rule_score.bias[0], static_cast<int64_t>(pairs_.size()), w});
}

void Judge::score_locations(const Locations& locations) {
  const auto width = static_cast<size_t>(network_->shape.width);
  const auto columns = static_cast<size_t>(network_->spec.location_features);
  const auto global = apply(network_->location_global, result_.global.data());
  std::vector<float> of_pair(pairs_.size() * width);
  features_.clear();
  for (size_t p = 0; p < pairs_.size(); ++p) {
    float* to = of_pair.data() + p * width;
    std::copy_n(network_->location_table.data() + static_cast<size_t>(pairs_[p].rule) * width, width, to);
    kernels::add(to, global.data(), static_cast<int64_t>(width));
    for (int32_t l = pairs_[p].begin; l < pairs_[p].end; ++l) {
      features_.push_back(std::log1p(static_cast<float>(l - pairs_[p].begin)));
      const auto of_location =
          locations.features.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(l) * columns);
      features_.insert(features_.end(), of_location, of_location + static_cast<std::ptrdiff_t>(columns));
    }
  }
  const kernels::TableRows<const float> tables[] = {{at_location_.data(), own_.data()},
                                                    {of_pair.data(), pair_of_.data()}};
  kernels::score_rows<float>(
      result_.learned.data(),
      {tables, 2, features_.data(), network_->location_index.weight.data(), network_->location_index.in,
       network_->location_score.weight.data(), network_->location_score.bias[0],
       static_cast<int64_t>(locations.root.size()), static_cast<int64_t>(width)});
}

// Each rule has a score for each number that a location may have.
void Judge::score_by_number() {
  const auto width = static_cast<size_t>(network_->shape.width);
  const auto global = apply(network_->location_global, result_.global.data());
  for (const auto& pair : pairs_) {
    auto hidden = global;
    kernels::add(hidden.data(), network_->location_table.data() + static_cast<size_t>(pair.rule) * width,
                 static_cast<int64_t>(width));
    for (float& h : hidden) h = h < 0 ? 0 : h;
    const auto scores = apply(network_->location_score, hidden.data());
    std::copy_n(scores.begin(), pair.end - pair.begin, result_.learned.begin() + pair.begin);
  }
}

const Judgement& Judge::judge(const RowValues& rows, const Summary& summary, const Locations& locations) {
  find_pairs(locations);
  encode_graph(summary, locations);
  result_.stop = output(network_->noop_score, apply(network_->noop_hidden, result_.global.data()));
  const size_t count = locations.root.size();
  result_.learned.assign(count, 0);
  result_.score.resize(count);
  if (count == 0) return result_;
  gather(rows, locations);
  score_rules();
  if (network_->shape.pointer) {
    score_locations(locations);
  } else {
    score_by_number();
  }
  const auto columns = static_cast<size_t>(network_->spec.location_features);
  for (size_t l = 0; l < count; ++l) {
    result_.learned[l] += rule_scores_[static_cast<size_t>(pair_of_[l])];
    result_.score[l] = result_.learned[l] - (columns > 0 ? network_->beta * locations.features[l * columns] : 0.0f);
  }
  return result_;
}

float Judge::value_of_rule(const std::vector<float>& global) const {
  return output(network_->value_out, apply(network_->value_hidden, global.data())) * network_->value_scale +
         network_->value_shift;
}

float Judge::value_of_location(const std::vector<float>& global, int32_t rule) const {
  auto hidden = apply(network_->location_value_hidden, global.data());
  const auto width = static_cast<size_t>(network_->shape.width);
  kernels::add(hidden.data(), network_->location_value_table.data() + static_cast<size_t>(rule) * width,
               static_cast<int64_t>(width));
  return output(network_->location_value_out, std::move(hidden)) * network_->value_scale + network_->value_shift;
}

}  // namespace rlgo::agent
