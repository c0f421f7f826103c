// What came of texts that were to be proved, kept in a file while a long run continues: a run that is stopped continues
// where it was. Inside of generate.cc.
#pragma once

#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace rlgo::rulegen {

struct Settled {
  bool expressible = false;
  std::string text;    // proved
  std::string likely;  // not proved, not refuted: a form that was asked for
  std::string why;
  std::string scope;  // of the proof, as rules::to_text(ProofScope) states it
  std::vector<std::string> axioms = {};
};

// Thread safe.
class SettledFile {
 public:
  // "" keeps nothing. A last line that was cut off is forgotten; throws Error where another line is damaged.
  explicit SettledFile(const std::filesystem::path& path);
  std::optional<Settled> find(uint64_t key) const;
  void add(uint64_t key, const Settled& settled);  // written at once
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, Settled> held_;
  std::ofstream out_;
};

}  // namespace rlgo::rulegen
