#include "actors/inference_messages.h"

#include <algorithm>

#include "core/base/fields.h"
#include "core/codec/observation_code.h"

namespace rlgo::actors {
namespace {

const mdp::Observation* base_of(size_t i, std::span<const mdp::Observation> bases) {
  return bases.empty() ? nullptr : &bases[std::min(i, bases.size() - 1)];
}

}  // namespace

std::string encode(const Question& question) { return write_fields(question); }

Question decode_question(std::string_view bytes) {
  auto question = read_fields<Question>(bytes);
  const size_t draws = question.values ? 0 : 2 * size_t{question.count};
  if (question.count == 0 || question.uniforms.size() != draws)
    fail("question: {} draws for {} observations", question.uniforms.size(), question.count);
  for (double u : question.uniforms) {
    if (!(u >= 0 && u < 1)) fail("question: a draw of {}", u);
  }
  return question;
}

std::string encode(const Answer& answer) { return write_fields(answer); }

Answer decode_answer(std::string_view bytes) { return read_fields<Answer>(bytes); }

std::string code_observations(std::span<const mdp::Observation* const> observations,
                              std::span<const mdp::Observation> bases) {
  ByteWriter out;
  for (size_t i = 0; i < observations.size(); ++i) mdp::encode_observation(base_of(i, bases), *observations[i], out);
  return out.take();
}

std::vector<mdp::Observation> decode_observations(std::string_view bytes, uint32_t count,
                                                  std::span<const mdp::Observation> bases) {
  ByteReader in(bytes);
  std::vector<mdp::Observation> observations;
  for (uint32_t i = 0; i < count; ++i) observations.push_back(mdp::decode_observation(base_of(i, bases), in));
  if (!in.done()) fail("question: bytes are left over");
  return observations;
}

}  // namespace rlgo::actors
