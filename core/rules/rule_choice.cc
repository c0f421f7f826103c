#include "core/rules/rule_choice.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/base/error.h"
#include "core/base/shipped.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/rules/compiled.h"

namespace rlgo::rules {
namespace {

namespace fs = std::filesystem;

constexpr std::array kSets = {
    RuleGroup{"base", "hand-written: fusing, folding, merging"},
    RuleGroup{"runtime", "hand-written: spellings that runtimes like, batch norms, activations"},
    RuleGroup{"motion", "hand-written: operators change places"},
    RuleGroup{"generated", "from rlgo rules generate"},
    RuleGroup{"winograd",
              "hand-written: convolutions by fewer multiplications; optimise takes it, other runs where named"},
    RuleGroup{
        "respell",
        "hand-written: other spellings of what runtimes have slow kernels for; optimise takes it, others if named"},
    RuleGroup{"coverage", "rules of TASO that follow from no others; for rlgo rules cover"},
};

bool is_set(const std::string& word) {
  return std::ranges::any_of(kSets, [&](const RuleGroup& set) { return word == set.name; });
}

// SET of SET or SET:TAG
std::string set_of(const std::string& word) { return word.substr(0, word.find(':')); }
bool is_part(const std::string& word) { return is_set(set_of(word)); }

bool is_file(const std::string& word) {
  std::error_code error;
  return word.ends_with(".rules") || word.find('/') != std::string::npos || (!is_part(word) && fs::exists(word, error));
}

bool is_status(const std::string& word) { return word == "proved" || word == "tested" || word == "unproved"; }

class Choice {
 public:
  explicit Choice(const std::vector<std::string>& words) : words_(words) {
    from_default_ = words.empty() || words[0].starts_with('-');
    bool by_group = from_default_;
    for (const auto& word : words) by_group = by_group || !(word.starts_with('-') || is_file(word) || is_part(word));
    if (by_group) {
      for (const auto& file : shipped_rules()) default_.insert(add(file));
    }
    std::set<std::string> named;
    for (const auto& word : words) {
      if (is_file(word) && !named.insert(word).second) fail_usage("--rules: {} is named twice", word);
      if (is_file(word)) add(word);
      if (is_part(word)) add(rule_set_file(set_of(word)));
    }
    all_ = RuleSet::load(files_);
    taken_.assign(static_cast<size_t>(all_->size()), false);
  }

  std::shared_ptr<const RuleSet> run() {
    if (from_default_) take([&](int r) { return of_default(r) && proved(r); });
    for (const auto& word : words_) {
      if (word.starts_with('-')) {
        remove(word.substr(1));
      } else if (is_file(word)) {
        take([&](int r) { return all_->rule(r).text.file == add(word); });
      } else if (is_part(word)) {
        take_set(word);
      } else {
        take_group(word);
      }
    }
    std::vector<std::string> names;
    for (int r = 0; r < all_->size(); ++r) {
      if (taken_[static_cast<size_t>(r)]) names.push_back(all_->name(r));
    }
    if (names.empty())
      fail("--rules {}: holds no rule{}{}", join(words_, ","), all_->remark().empty() ? "" : "; ", all_->remark());
    return static_cast<int>(names.size()) == all_->size() ? all_ : all_->subset(names);
  }

 private:
  // The file as it is named in the rules that come from it; each file is read once.
  std::string add(const fs::path& file) {
    std::error_code error;
    for (const auto& known : files_) {
      if (known == file || fs::equivalent(known, file, error)) return known.string();
    }
    files_.push_back(file);
    return file.string();
  }
  template <class Which>
  int take(Which which) {
    int count = 0;
    for (int r = 0; r < all_->size(); ++r) {
      if (!which(r)) continue;
      taken_[static_cast<size_t>(r)] = true;
      ++count;
    }
    return count;
  }
  bool of_default(int r) const { return default_.contains(all_->rule(r).text.file); }
  bool proved(int r) const { return all_->proof(r) == Proof::proved; }

  // SET or SET:TAG
  void take_set(const std::string& word) {
    const size_t colon = word.find(':');
    const std::string file = add(rule_set_file(set_of(word)));
    const std::string tag = colon == std::string::npos ? "" : word.substr(colon + 1);
    const int count = take([&](int r) {
      return all_->rule(r).text.file == file && proved(r) && (tag.empty() || in_group(*all_, r, tag));
    });
    if (count == 0) unknown(word);
  }
  void take_group(const std::string& word) {
    const bool by_status = is_status(word);
    const int count = take([&](int r) {
      if (!of_default(r)) return false;
      return all_->name(r) == word || (in_group(*all_, r, word) && (by_status || proved(r)));
    });
    if (count == 0 && !by_status) unknown(word);
  }
  void remove(const std::string& word) {
    const std::string file = is_set(word) ? rule_set_file(word).string() : "";
    std::error_code error;
    bool known = !file.empty() || is_status(word);
    for (int r = 0; r < all_->size(); ++r) {
      const bool meant = file.empty() ? all_->name(r) == word || in_group(*all_, r, word)
                                      : fs::equivalent(all_->rule(r).text.file, file, error);
      known = known || meant;
      if (meant) taken_[static_cast<size_t>(r)] = false;
    }
    if (!known) unknown(word);
  }
  [[noreturn]] void unknown(const std::string& word) const {
    std::set<std::string> known{"proved", "tested", "unproved"};
    for (const auto& set : kSets) known.insert(set.name);
    for (int r = 0; r < all_->size(); ++r) {
      for (const auto& tag : all_->rule(r).text.tags) known.insert(tag);
    }
    const std::vector<std::string> groups(known.begin(), known.end());
    auto names = groups;
    for (int r = 0; r < all_->size(); ++r) names.push_back(all_->name(r));
    fail_usage("--rules: no file, set, tag or rule '{}'{}; groups: {}", word, did_you_mean(word, names),
               join(groups, ", "));
  }

  const std::vector<std::string>& words_;
  bool from_default_ = false;
  std::vector<fs::path> files_;
  std::set<std::string> default_;  // of files_
  std::shared_ptr<const RuleSet> all_;
  std::vector<bool> taken_;
};

}  // namespace

std::vector<fs::path> shipped_rules() {
  std::vector<fs::path> files;
  try {
    for (const std::string name : kShippedFiles) files.push_back(shipped_config("rules/" + name));
  } catch (const Error& e) {
    fail("{}; name the rules with --rules FILE", e.what());
  }
  return files;
}

std::span<const RuleGroup> rule_sets() { return kSets; }

std::filesystem::path rule_set_file(const std::string& name) { return shipped_config("rules/" + name + ".rules"); }

bool in_group(const RuleSet& rules, int rule, const std::string& group) {
  return std::ranges::find(rules.rule(rule).text.tags, group) != rules.rule(rule).text.tags.end() ||
         group == proof_name(rules.proof(rule));
}

std::vector<std::string> with_sets_in_default(const std::vector<std::string>& words,
                                              std::initializer_list<const char*> sets) {
  if (!words.empty() && !words[0].starts_with('-')) return words;
  std::vector<std::string> all;
  for (const fs::path file : kShippedFiles) all.push_back(file.stem().string());
  all.insert(all.end(), sets.begin(), sets.end());
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

std::shared_ptr<const RuleSet> choose_rules(const std::vector<std::string>& words) { return Choice(words).run(); }

std::shared_ptr<const RuleSet> rules_to_optimise(const std::vector<std::string>& words) {
  return choose_rules(with_sets_in_default(words, {"winograd", "respell"}));
}

std::shared_ptr<const RuleSet> chosen_or_all(const std::vector<std::string>& words) {
  if (!words.empty()) return choose_rules(words);
  std::vector<std::string> files;
  for (const auto& file : shipped_rules()) files.push_back(file.string());
  return choose_rules(files);
}

const char* proof_name(Proof proof) {
  return proof == Proof::proved ? "proved" : proof == Proof::tested ? "tested" : "unproved";
}

void declare(OptionSink& o, std::vector<std::string>& words, const std::string& by_default) {
  o.texts("rules", words,
          "files, sets, tags or names of rules, separated by commas, -WORD takes away (docs/rules.md); none means " +
              by_default);
}

}  // namespace rlgo::rules
