#include "launch/train/cost_server.h"

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/graph/editor.h"
#include "core/graph/text.h"

namespace rlgo::launch {
namespace {

using graph::Graph;
using graph::NodeId;

// One operator as a graph of its own, in text form: its inputs become graph inputs.
std::string question(const Graph& graph, NodeId id) {
  graph::Editor editor("operator");
  const graph::Node& node = graph.node(id);
  std::vector<graph::Value> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    inputs.push_back(editor.add_input(fmt::format("x{}", i), graph.type(node.inputs[i])));
  const NodeId copy = editor.add(node.op(), inputs, node.attrs());
  for (size_t p = 0; p < node.info->outputs.size(); ++p)
    editor.add_output(fmt::format("y{}", p), {copy, static_cast<int32_t>(p)});
  return graph::to_text(*editor.finish());
}

void put(comm::Mailbox& mailbox, int to, const std::string& signature, const cost::Measured& m,
         const std::string& error) {
  ByteWriter out;
  out.put_string(error);
  out.put_string(signature);
  out.put(m);
  mailbox.send(to, comm::Tag::cost_answer, out.take());
}

// A question about a group: this, the group's signature, a line break, its graph.
constexpr std::string_view kGroup = "group ";

struct Answer {
  std::string error, signature;
  cost::Measured measured;
};

// Sleeps until rank 0 has answered. Throws Error where it is silent, or the run ends.
Answer ask(comm::Mailbox& mailbox, const std::string& text, double timeout_s,
           const std::function<bool()>& should_stop) {
  mailbox.send(0, comm::Tag::cost_request, text);
  const Stopwatch waited;
  for (;;) {
    if (const auto message = mailbox.take(comm::Tag::cost_answer, 0)) {
      ByteReader in(message->payload);
      Answer answer;
      answer.error = in.get_string();
      if (!answer.error.empty()) return answer;
      answer.signature = in.get_string();
      answer.measured = in.get<cost::Measured>();
      return answer;
    }
    if (should_stop()) fail("stopped while waiting for the cost oracle");
    if (waited.seconds() > timeout_s) fail("rank 0 (the cost oracle) is silent for {:.0f} s", timeout_s);
    mailbox.wait(50);
  }
}

}  // namespace

CostOracle::CostOracle(std::shared_ptr<cost::TableCost> table, comm::Mailbox& mailbox, std::vector<int> actors,
                       std::shared_ptr<measure::GroupCost> groups)
    : table_(std::move(table)), groups_(std::move(groups)), mailbox_(mailbox), actors_(std::move(actors)) {}

void CostOracle::answer_group(int source, const std::string& payload) {
  const size_t end = payload.find('\n');
  if (end == std::string::npos) fail("cost request for a group without a graph");
  const measure::Group group{payload.substr(kGroup.size(), end - kGroup.size()),
                             graph::from_text(std::string_view(payload).substr(end + 1))};
  put(mailbox_, source, group.signature, groups_->price(group), "");
}

void CostOracle::answer(const comm::Incoming& request) {
  try {
    if (!table_) fail("costs are not measured in this run");
    if (request.payload.starts_with(kGroup) != (groups_ != nullptr))
      fail("the ranks do not agree on what is priced: operators, or groups of them (--target)");
    if (groups_) return answer_group(request.source, request.payload);
    const Graph graph = graph::from_text(request.payload);
    const NodeId id = graph.outputs().empty() ? graph::kNoNode : graph.outputs()[0].value.node;
    if (id == graph::kNoNode) fail("cost request without an operator");
    table_->op_us(graph, id);
    const std::string signature = cost::signature(graph, id);
    const cost::Measured* measured = table_->find(signature);
    put(mailbox_, request.source, signature, measured != nullptr ? *measured : cost::Measured(), "");
  } catch (const Error& e) {
    put(mailbox_, request.source, "", {}, e.what());
  }
}

void CostOracle::publish() {
  const auto rows = table_ ? table_->entries().subspan(published_) : std::span<const cost::TableCost::Entry>();
  if (rows.empty() && started_) return;
  started_ = true;
  published_ += rows.size();
  ByteWriter out;
  out.put<uint64_t>(rows.size());
  for (const auto& row : rows) {
    out.put_string(row.signature);
    out.put(row.measured);
  }
  for (int rank : actors_) mailbox_.send(rank, comm::Tag::costs, out.bytes());
}

std::shared_ptr<cost::TableCost> remote_table(cost::TableOrigin origin, comm::Mailbox& mailbox, double timeout_s,
                                              std::function<bool()> should_stop) {
  const auto on_miss = [&mailbox, timeout_s, should_stop = std::move(should_stop)](const Graph& graph, NodeId id) {
    const auto answer = ask(mailbox, question(graph, id), timeout_s, should_stop);
    if (!answer.error.empty()) fail("the cost oracle cannot price {}: {}", cost::signature(graph, id), answer.error);
    RLGO_CHECK_EQ(answer.signature, cost::signature(graph, id));
    return answer.measured;
  };
  return std::make_shared<cost::TableCost>(std::move(origin), on_miss);
}

std::shared_ptr<measure::GroupCost> remote_groups(std::shared_ptr<cost::TableCost> table, comm::Mailbox& mailbox,
                                                  double timeout_s, std::function<bool()> should_stop) {
  const auto measure = [&mailbox, timeout_s,
                        should_stop = std::move(should_stop)](std::span<const measure::Group> groups) {
    std::vector<measure::GroupResult> out;
    for (const auto& group : groups) {
      const auto answer = ask(mailbox, fmt::format("{}{}\n{}", kGroup, group.signature, graph::to_text(group.graph)),
                              timeout_s, should_stop);
      if (!answer.error.empty()) fail("the cost oracle cannot price {}: {}", group.signature, answer.error);
      RLGO_CHECK_EQ(answer.signature, group.signature);
      out.push_back({answer.measured, ""});
    }
    return out;
  };
  return std::make_shared<measure::GroupCost>(std::move(table), measure);
}

void receive_costs(const comm::Incoming& message, cost::TableCost& table) {
  ByteReader in(message.payload);
  const auto rows = in.get<uint64_t>();
  for (uint64_t i = 0; i < rows; ++i) {
    const std::string signature = in.get_string();
    table.insert(signature, in.get<cost::Measured>());
  }
}

}  // namespace rlgo::launch
