#include "launch/oracle.h"

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
  for (size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(editor.add_input(fmt::format("x{}", i), graph.type(node.inputs[i])));
  const NodeId copy = editor.add(node.op(), inputs, node.attrs());
  for (size_t p = 0; p < node.info->outputs.size(); ++p) editor.add_output(fmt::format("y{}", p), {copy, static_cast<int32_t>(p)});
  return graph::to_text(*editor.finish());
}

void put(comm::Mailbox& mailbox, int to, const std::string& signature, const cost::Measured& m, const std::string& error) {
  ByteWriter out;
  out.put_string(error);
  out.put_string(signature);
  out.put(m);
  mailbox.send(to, comm::Tag::cost_answer, out.take());
}

}  // namespace

CostOracle::CostOracle(std::shared_ptr<cost::TableCost> table, comm::Mailbox& mailbox, std::vector<int> actors)
    : table_(std::move(table)), mailbox_(mailbox), actors_(std::move(actors)) {}

void CostOracle::answer(const comm::Incoming& request) {
  try {
    if (!table_) fail("costs are not measured in this run");
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

std::shared_ptr<cost::TableCost> remote_table(cost::TableOrigin origin, comm::Mailbox& mailbox, double timeout_s, std::function<bool()> should_stop) {
  const auto ask = [&mailbox, timeout_s, should_stop = std::move(should_stop)](const Graph& graph, NodeId id) {
    mailbox.send(0, comm::Tag::cost_request, question(graph, id));
    const Stopwatch waited;
    for (;;) {
      if (const auto answer = mailbox.take(comm::Tag::cost_answer, 0)) {
        ByteReader in(answer->payload);
        const std::string error = in.get_string();
        if (!error.empty()) fail("the cost oracle cannot price {}: {}", cost::signature(graph, id), error);
        const std::string signature = in.get_string();
        RLGO_CHECK_EQ(signature, cost::signature(graph, id));
        return in.get<cost::Measured>();
      }
      if (should_stop()) fail("stopped while waiting for the cost oracle");
      if (waited.seconds() > timeout_s) fail("rank 0 (the cost oracle) is silent for {:.0f} s", timeout_s);
      mailbox.wait(50);
    }
  };
  return std::make_shared<cost::TableCost>(std::move(origin), ask);
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
