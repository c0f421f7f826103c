#include "learner/session/cost_server.h"

#include <algorithm>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/comm/protocol.h"
#include "core/graph/editor.h"
#include "core/graph/text.h"

namespace rlgo::learner {
namespace {

using graph::Graph;
using graph::NodeId;

// One operator as a graph of its own, in text form: its inputs become graph inputs.
std::string operator_graph(const Graph& graph, NodeId id) {
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

using Question = CostClient::Question;

// A request: its number (1, 2, ... of its sender), whether groups are asked for, the questions. An answer: the number,
// then one for each question, in their order.
struct Request {
  uint64_t number = 0;
  bool groups = false;
  std::vector<Question> questions;
};

std::string encode(const Request& request) {
  ByteWriter out;
  out.put(request.number);
  out.put<uint8_t>(request.groups);
  out.put<uint64_t>(request.questions.size());
  for (const auto& question : request.questions) {
    out.put_string(question.signature);
    out.put_string(question.graph);
  }
  return out.take();
}

Request decode_request(const std::string& bytes) {
  ByteReader in(bytes);
  Request request;
  request.number = in.get<uint64_t>();
  request.groups = in.get<uint8_t>() != 0;
  const auto count = in.get<uint64_t>();
  for (uint64_t i = 0; i < count; ++i) {
    Question question;
    question.signature = in.get_string();
    question.graph = in.get_string();
    request.questions.push_back(std::move(question));
  }
  if (!in.done()) fail("cost request: bytes are left over");
  return request;
}

std::string encode(uint64_t number, std::span<const CostAnswer> answers) {
  ByteWriter out;
  out.put(number);
  out.put<uint64_t>(answers.size());
  for (const auto& answer : answers) {
    out.put_string(answer.signature);
    out.put_string(answer.error);
    out.put(answer.measured);
  }
  return out.take();
}

// Nothing where the bytes answer another request.
std::optional<std::vector<CostAnswer>> decode_answers(const std::string& bytes, uint64_t number) {
  ByteReader in(bytes);
  if (in.get<uint64_t>() != number) return {};
  std::vector<CostAnswer> answers;
  const auto count = in.get<uint64_t>();
  for (uint64_t i = 0; i < count; ++i) {
    CostAnswer answer;
    answer.signature = in.get_string();
    answer.error = in.get_string();
    answer.measured = in.get<cost::Measured>();
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace

std::vector<cost::Measured> CostClient::ask(std::span<const Question> questions, bool groups) {
  mailbox_.send(0, comm::Tag::cost_request, encode(Request{++number_, groups, {questions.begin(), questions.end()}}));
  const auto answers = wait_for_answers();
  if (answers.size() != questions.size())
    fail("the cost server gave {} answers to {} questions", answers.size(), questions.size());
  std::vector<cost::Measured> prices;
  for (size_t i = 0; i < answers.size(); ++i) {
    RLGO_CHECK_EQ(answers[i].signature, questions[i].signature);
    if (!answers[i].error.empty()) fail("the cost server cannot price {}: {}", answers[i].signature, answers[i].error);
    prices.push_back(answers[i].measured);
  }
  return prices;
}

std::vector<CostAnswer> CostClient::wait_for_answers() {
  const Stopwatch waited;
  Stopwatch since_beat;
  for (;;) {
    while (const auto message = mailbox_.take(comm::Tag::cost_answer, 0)) {
      if (auto answers = decode_answers(message->payload, number_)) return std::move(*answers);
    }
    if (options_.should_stop()) fail("stopped while waiting for the cost server");
    if (waited.seconds() > options_.timeout_s)
      fail("rank 0 (the cost server) is silent for {:.3g} s", options_.timeout_s);
    if (since_beat.seconds() >= options_.heartbeat_s) {
      since_beat.restart();
      mailbox_.send(0, comm::Tag::heartbeat, comm::encode(comm::Heartbeat()));  // in the middle of an episode
    }
    mailbox_.wait(std::min(50.0, 1e3 * options_.heartbeat_s));
  }
}

CostServer::CostServer(std::shared_ptr<cost::TableCost> table, comm::Mailbox& mailbox, std::vector<int> actors,
                       std::shared_ptr<measure::GroupCost> groups, std::string timed_under)
    : table_(std::move(table)),
      groups_(std::move(groups)),
      mailbox_(mailbox),
      actors_(std::move(actors)),
      timed_under_(std::move(timed_under)) {}

cost::Measured CostServer::price(const std::string& signature, const std::string& text) {
  const Graph graph = graph::from_text(text);
  if (groups_) return groups_->price({signature, graph});
  const NodeId id = graph.outputs().empty() ? graph::kNoNode : graph.outputs()[0].value.node;
  if (id == graph::kNoNode) fail("cost request without an operator");
  if (cost::signature(graph, id) != signature)
    fail("it is {} here: do all ranks run the same build?", cost::signature(graph, id));
  table_->op_us(graph, id);
  const cost::Measured* measured = table_->find(signature);
  return measured != nullptr ? *measured : cost::Measured();
}

void CostServer::answer(const comm::Incoming& message) {
  Request request;
  try {
    request = decode_request(message.payload);
  } catch (const Error&) {
    return;  // not from this build; the rank that waits for it reports so
  }
  std::vector<CostAnswer> answers;
  for (const auto& question : request.questions) {
    CostAnswer answer{question.signature, "", {}};
    try {
      if (!table_) fail("costs are not measured in this run");
      if (request.groups != (groups_ != nullptr))
        fail("the ranks do not agree on what is priced: operators, or groups of them (--target)");
      answer.measured = price(question.signature, question.graph);
    } catch (const Error& e) {
      answer.error = e.what();
    }
    answers.push_back(std::move(answer));
  }
  mailbox_.send(message.source, comm::Tag::cost_answer, encode(request.number, answers));
}

void CostServer::publish() {
  const auto rows = table_ ? table_->entries().subspan(published_) : std::span<const cost::TableCost::Entry>();
  if (rows.empty() && started_) return;
  started_ = true;
  published_ += rows.size();
  ByteWriter out;
  out.put_string(timed_under_);
  out.put<uint64_t>(rows.size());
  for (const auto& row : rows) {
    out.put_string(row.signature);
    out.put(row.measured);
  }
  for (int rank : actors_) mailbox_.send(rank, comm::Tag::costs, out.bytes());
}

std::shared_ptr<cost::TableCost> remote_table(cost::TableOrigin origin, std::shared_ptr<CostClient> client) {
  return std::make_shared<cost::TableCost>(
      std::move(origin), [client = std::move(client)](const Graph& graph, NodeId id) {
        const Question one[] = {{cost::signature(graph, id), operator_graph(graph, id)}};
        return client->ask(one, false)[0];
      });
}

std::shared_ptr<measure::GroupCost> remote_groups(std::shared_ptr<cost::TableCost> table,
                                                  std::shared_ptr<CostClient> client) {
  const auto measure = [client = std::move(client)](std::span<const measure::Group> groups) {
    std::vector<Question> questions;
    for (const auto& group : groups) questions.push_back({group.signature, graph::to_text(group.graph)});
    std::vector<measure::GroupResult> out;
    for (const auto& measured : client->ask(questions, true)) out.push_back({measured, ""});
    return out;
  };
  return std::make_shared<measure::GroupCost>(std::move(table), measure);
}

optimise::Prices remote_prices(comm::Mailbox& mailbox, AskOptions options, const std::string& host,
                               const comm::Incoming& first, bool external) {
  const auto client = std::make_shared<CostClient>(mailbox, std::move(options));
  optimise::Prices prices;
  prices.table = remote_table(cost::TableOrigin{"measured by rank 0", host, 1}, client);
  receive_costs(first, *prices.table);
  if (external) prices.groups = remote_groups(prices.table, client);
  prices.model = prices.groups ? std::static_pointer_cast<cost::CostModel>(prices.groups) : prices.table;
  return prices;
}

std::string timed_under(const comm::Incoming& message) { return ByteReader(message.payload).get_string(); }

void receive_costs(const comm::Incoming& message, cost::TableCost& table) {
  ByteReader in(message.payload);
  in.get_string();  // timed_under()
  const auto rows = in.get<uint64_t>();
  for (uint64_t i = 0; i < rows; ++i) {
    const std::string signature = in.get_string();
    table.insert(signature, in.get<cost::Measured>());
  }
}

}  // namespace rlgo::learner
