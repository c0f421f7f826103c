#include "actors/inference_messages.h"

#include <algorithm>

#include "core/base/bytes.h"
#include "core/codec/observation_code.h"

namespace rlgo::actors {
namespace {

const mdp::Observation* base_of(size_t i, std::span<const mdp::Observation> bases) {
  return bases.empty() ? nullptr : &bases[std::min(i, bases.size() - 1)];
}

void expect_end(const ByteReader& in, const char* what) {
  if (!in.done()) fail("{}: bytes are left over", what);
}

}  // namespace

std::string encode(const Question& question) {
  ByteWriter out;
  out.put(question.number);
  out.put(question.base);
  out.put(question.version);
  out.put<uint8_t>(question.values);
  out.put(question.count);
  out.put_vector(question.uniforms);
  out.put_string(question.observations);
  return out.take();
}

Question decode_question(std::string_view bytes) {
  ByteReader in(bytes);
  Question question;
  question.number = in.get<uint64_t>();
  question.base = in.get<uint64_t>();
  question.version = in.get<int64_t>();
  question.values = in.get<uint8_t>() != 0;
  question.count = in.get<uint32_t>();
  question.uniforms = in.get_vector<double>();
  question.observations = in.get_string();
  expect_end(in, "question");
  const size_t draws = question.values ? 0 : 2 * size_t{question.count};
  if (question.count == 0 || question.uniforms.size() != draws)
    fail("question: {} draws for {} observations", question.uniforms.size(), question.count);
  for (double u : question.uniforms) {
    if (!(u >= 0 && u < 1)) fail("question: a draw of {}", u);
  }
  return question;
}

std::string encode(const Answer& answer) {
  ByteWriter out;
  out.put(answer.number);
  out.put(answer.version);
  out.put<uint8_t>(answer.leaving);
  out.put_string(answer.refused);
  out.put_vector(answer.decisions);
  return out.take();
}

Answer decode_answer(std::string_view bytes) {
  ByteReader in(bytes);
  Answer answer;
  answer.number = in.get<uint64_t>();
  answer.version = in.get<int64_t>();
  answer.leaving = in.get<uint8_t>() != 0;
  answer.refused = in.get_string();
  answer.decisions = in.get_vector<Decision>();
  expect_end(in, "answer");
  return answer;
}

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
  expect_end(in, "question");
  return observations;
}

}  // namespace rlgo::actors
