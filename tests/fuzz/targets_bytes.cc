#include <unistd.h>

#include "actors/inference_messages.h"
#include "core/codec/coded.h"
#include "core/codec/observation_code.h"
#include "core/comm/frame.h"
#include "core/comm/protocol.h"
#include "core/mdp/mdp.h"
#include "core/rulegen/taso/taso_rules.h"
#include "core/rules/rules.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"
#include "tests/replay/store.h"

namespace rlgo::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<mdp::Trajectory> trajectories() {
  const auto spec = replay::make_spec();
  std::vector<mdp::Trajectory> list;
  for (int64_t episode = 0; episode < 6; ++episode)
    list.push_back(
        replay::make_trajectory(spec, episode, static_cast<int>(1 + episode), static_cast<int>(3 + 2 * episode)));
  list[5].last.latent = {1, 2, 3};
  return list;
}

Target trajectory_target() {
  return {"trajectory",
          [] {
            Corpus seeds;
            for (const auto& trajectory : trajectories()) seeds.push_back(mdp::encode(trajectory));
            return seeds;
          },
          mutate_bytes,
          [](const std::string& input, const fs::path&) {
            const auto spec = replay::make_spec();
            const auto trajectory = mdp::decode(input);
            for (const auto& step : trajectory.steps) mdp::check(step.observation, spec);
            mdp::check(trajectory.last, spec);
            mdp::decode(mdp::encode(trajectory));
          },
          20000};
}

Target coded_target() {
  Target target = trajectory_target();
  target.name = "coded-trajectory";
  target.run = [](const std::string& input, const fs::path&) {
    const auto coded = mdp::decode_coded(input);
    RLGO_CHECK_EQ(coded.observations.size(), coded.facts.steps.size() + 1);
    mdp::whole(coded);
  };
  return target;
}

// A code by itself and one against a base; the first byte states which.
Target observation_target() {
  static const auto list = trajectories();
  return {"observation",
          [] {
            Corpus seeds;
            for (const auto& t : list) {
              ByteWriter alone(std::string(1, '\0')), based(std::string(1, '\1'));
              mdp::encode_observation(nullptr, t.last, alone);
              mdp::encode_observation(&list[3].last, t.last, based);
              seeds.push_back(alone.take());
              seeds.push_back(based.take());
            }
            return seeds;
          },
          mutate_bytes,
          [](const std::string& input, const fs::path&) {
            ByteReader in(input);
            const bool based = (in.get<uint8_t>() & 1) != 0;
            const auto observation = mdp::decode_observation(based ? &list[3].last : nullptr, in);
            mdp::check(observation, replay::make_spec());
            ByteWriter again;
            mdp::encode_observation(nullptr, observation, again);
          },
          20000};
}

// The first byte states which kind of message it is.
Target message_target() {
  return {"message",
          [] {
            const comm::Weights weights{3, 512, "weights"};
            std::string bundle;
            comm::add_to_bundle(bundle, 1, comm::Tag::hello, comm::encode(comm::Hello{1, 2, false, "host"}));
            comm::add_to_bundle(bundle, 2, comm::Tag::heartbeat, comm::encode(comm::Heartbeat{}));
            return Corpus{"0" + comm::encode(comm::Hello{1, 2, false, "host"}),
                          "1" + comm::encode(weights),
                          "2" + comm::encode(comm::Heartbeat{}),
                          "3" + comm::encode(comm::ErrorReport{1, 2, 3, "why"}),
                          "4" + comm::encode(comm::Welcome{5}),
                          "5" + comm::encode(comm::Quota{6, 7}),
                          "6" + comm::encode(comm::FanOut{{1, 2}, comm::Tag::weights, true, comm::encode(weights)}),
                          "7" + bundle,
                          "8" + comm::encode(comm::Route{2}),
                          "9" + actors::encode(actors::Question{1, 0, 2, false, 1, {0.25, 0.5}, "code"}),
                          "a" + actors::encode(actors::Answer{1, 2, false, "", {{.action = {1, 2}}}})};
          },
          mutate_bytes,
          [](const std::string& input, const fs::path&) {
            if (input.empty()) fail("empty");
            const std::string_view rest = std::string_view(input).substr(1);
            comm::FrameHeader header;
            comm::read_header(rest, &header);
            switch (input[0]) {
              case '0':
                comm::decode<comm::Hello>(rest);
                break;
              case '1':
                comm::decode<comm::Weights>(rest);
                break;
              case '2':
                comm::decode<comm::Heartbeat>(rest);
                break;
              case '4':
                comm::decode<comm::Welcome>(rest);
                break;
              case '5':
                comm::decode<comm::Quota>(rest);
                break;
              case '6':
                comm::decode<comm::FanOut>(rest);
                break;
              case '7':
                comm::decode_bundle(rest);
                break;
              case '8':
                comm::decode<comm::Route>(rest);
                break;
              case '9':
                actors::decode_question(rest);
                break;
              case 'a':
                actors::decode_answer(rest);
                break;
              default:
                comm::decode<comm::ErrorReport>(rest);
            }
          },
          20000};
}

// Messages of TASO's graph_subst.pb by hand: RuleCollection{1: Rule{1: source, 2: target operator, 3: outputs}}.
std::string field(int number, const std::string& body) {
  ByteWriter out;
  out.put_varint(static_cast<uint64_t>(number) << 3 | 2);
  out.put_varint(body.size());
  return out.take() + body;
}
std::string field(int number, int64_t value) {
  ByteWriter out;
  out.put_varint(static_cast<uint64_t>(number) << 3);
  out.put_varint(static_cast<uint64_t>(value));
  return out.take();
}
std::string tensor(int64_t op) { return field(2, field(1, op) + field(2, 0)); }
std::string taso_rule(const std::string& source, const std::string& target) {
  return field(1, source + target + field(3, field(1, 0) + field(2, 0) + field(3, 0) + field(4, 0)));
}

Target taso_protobuf_target() {
  return {"taso-protobuf",
          [] {
            const std::string relu = field(1, 8) + tensor(-1), add = field(1, 16) + tensor(-1) + tensor(-2);
            std::string conv = field(1, 3) + tensor(-7) + tensor(-8);
            for (const auto& [key, value] :
                 std::vector<std::pair<int, int>>{{4, 3}, {5, 3}, {6, 1}, {7, 1}, {8, 0}, {9, 0}})
              conv += field(3, field(1, key) + field(2, value));
            return Corpus{taso_rule(field(1, relu), field(2, relu)), taso_rule(field(1, add), field(2, add)),
                          taso_rule(field(1, conv), field(2, conv)) + taso_rule(field(1, add), field(2, add)),
                          taso_rule(field(1, add) + field(1, field(1, 8) + tensor(0)), field(2, relu))};
          },
          mutate_bytes,
          [](const std::string& input, const fs::path&) {
            for (const auto& rule : rulegen::read_taso_protobuf(input, "m.pb"))
              if (!rule.text.empty()) rules::RuleSet::parse(rule.text, rule.name);
          },
          20000};
}

}  // namespace

std::vector<Target> byte_targets() {
  return {trajectory_target(), coded_target(), observation_target(), message_target(), taso_protobuf_target()};
}

}  // namespace rlgo::fuzz
