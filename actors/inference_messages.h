// What an actor asks the inference rank of its node, and what it is answered. decode_*() throw Error where bytes are
// missing, left over or malformed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/policy.h"
#include "core/mdp/mdp.h"

namespace rlgo::actors {

struct Question {
  uint64_t number = 0;                // 1, 2, ... of its sender
  uint64_t base = 0;                  // an earlier one, against whose observations these are coded; 0: none
  int64_t version = 0;                // of the weights that are to decide; newer ones may
  bool values = false;                // values are asked for, not decisions
  uint32_t count = 0;                 // of observations
  std::vector<double> uniforms = {};  // [2 * count] the draws; of values: none
  std::string observations = {};      // code_observations()
  static constexpr std::string_view kName = "question";
  static void fields(auto& q, auto&& each) {
    each(q.number, q.base, q.version, q.values, q.count, q.uniforms, q.observations);
  }
  bool operator==(const Question&) const = default;
};

struct Answer {
  uint64_t number = 0;                   // of the question; 0: of one that could not be read
  int64_t version = -1;                  // of the weights that decided
  bool leaving = false;                  // no answer: the inference rank ends, and answers nothing more
  std::string refused = {};              // why there are no decisions; "": there are
  std::vector<Decision> decisions = {};  // [count] of values: value_rule alone counts
  static constexpr std::string_view kName = "answer";
  static void fields(auto& a, auto&& each) { each(a.number, a.version, a.leaving, a.refused, a.decisions); }
};

std::string encode(const Question& question);  // payloads
std::string encode(const Answer& answer);
Question decode_question(std::string_view bytes);
Answer decode_answer(std::string_view bytes);

// Observations of a question, each coded against one of another question, which may have fewer or none.
std::string code_observations(std::span<const mdp::Observation* const> observations,
                              std::span<const mdp::Observation> bases);
// `count` of them again. They may still break their spec (mdp::check).
std::vector<mdp::Observation> decode_observations(std::string_view bytes, uint32_t count,
                                                  std::span<const mdp::Observation> bases);

}  // namespace rlgo::actors
