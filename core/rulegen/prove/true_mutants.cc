#include "core/rulegen/prove/true_mutants.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/text_file.h"

namespace rlgo::rulegen {

std::vector<TrueMutant> true_mutants_beside(const std::string& axioms_file) {
  std::vector<TrueMutant> all;
  const auto path = std::filesystem::path(axioms_file).replace_extension(".mutants");
  if (!std::filesystem::exists(path)) return all;
  int line_number = 0;
  for (const auto& line : split(read_text(path), '\n')) {
    ++line_number;
    if (trim(line).empty() || line.starts_with('#')) continue;
    const auto parts = split(line, '|');
    const auto number = parts.size() == 4 ? std::string(trim(parts[1])) : std::string();
    const bool counted =
        !number.empty() && number.size() < 6 && number.find_first_not_of("0123456789") == std::string::npos;
    if (!counted || trim(parts[3]).empty())
      fail("{}:{}: 'AXIOM ... | NUMBER | MISTAKE | REASON' expected", path.string(), line_number);
    TrueMutant one{{}, std::stoi(number), std::string(trim(parts[2])), std::string(trim(parts[3]))};
    for (const auto& name : split(trim(parts[0]), ' ')) one.axioms.emplace_back(trim(name));
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<TrueMutant> true_mutants_of(const std::vector<TrueMutant>& all, const std::string& axiom,
                                        const std::vector<Mutant>& mutants) {
  std::vector<TrueMutant> found;
  for (const auto& one : all) {
    if (std::ranges::find(one.axioms, axiom) == one.axioms.end()) continue;
    const auto at = static_cast<size_t>(one.number);
    if (at == 0 || at > mutants.size() || mutants[at - 1].mistake != one.mistake)
      fail("{} has no mutant #{} '{}', which the list of true mutants names: read the axiom again", axiom, one.number,
           one.mistake);
    found.push_back(one);
  }
  return found;
}

}  // namespace rlgo::rulegen
