#include <algorithm>
#include <array>
#include <fstream>

#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/cost/table.h"
#include "core/graph/text.h"
#include "core/rulegen/taso/taso_rules.h"
#include "core/rules/rules.h"
#include "core/rules/trace.h"
#include "core/zoo/zoo.h"
#include "launch/train/config.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

namespace rlgo::fuzz {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string_view>;

// One rule each.
Corpus single_rules(const std::string& file, size_t most) {
  Corpus rules;
  std::string rule;
  for (const auto& line : split(read_file(file), '\n')) {
    if (line.starts_with("rule ") && !rule.empty()) rules.push_back(std::exchange(rule, {}));
    if (!line.starts_with("#")) rule += std::string(line) + "\n";
  }
  rules.push_back(rule);
  std::erase_if(rules, [](const std::string& text) { return !text.starts_with("rule "); });
  while (rules.size() > most) rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(rules.size() / 2));
  return rules;
}

Target rules_target() {
  static const Words words{"rule",
                           "when",
                           "let",
                           "=>",
                           "before",
                           "tags",
                           "proof",
                           "proved",
                           "?x",
                           "?x...",
                           "..?A",
                           "?s.1",
                           "(relu ?x)",
                           "(concat ?xs... axis=?k)",
                           "(split ?x axis=0 sizes=[1, 2])",
                           "dim(?x, 0)",
                           "rank(?x)",
                           "uses(?x)",
                           "value(?x)",
                           "and",
                           "or",
                           "not",
                           "inf",
                           "[?a, ?b]",
                           "shape(?x)",
                           "1 / 0",
                           "% 0",
                           "-9223372036854775808",
                           "elements(?x)",
                           "float(?x)",
                           "dtype(?x)",
                           "(conv2d ?x ?w ..?A)",
                           "(matmul ?a ?b)",
                           "(reshape ?x shape=[-1])",
                           "{1 + 2}",
                           "0.5"};
  return {"rules",
          [] {
            Corpus seeds;
            for (const char* file : {"base", "motion", "runtime", "winograd", "respell", "generated", "coverage"}) {
              const auto some = single_rules(fmt::format("configs/rules/{}.rules", file), 60);
              seeds.insert(seeds.end(), some.begin(), some.end());
            }
            return seeds;
          },
          [](const Corpus& corpus, Rng& rng) { return mutate_text(corpus, words, rng); },
          [](const std::string& input, const fs::path&) {
            const auto rules = rules::RuleSet::parse(input, "m.rules");
            rules::RuleSet::parse(rules->to_text(), "again.rules");
          },
          20000};
}

// Rules that compile, looked for and applied in graphs.
Target matching_target() {
  Target target = rules_target();
  target.name = "matching";
  target.run = [](const std::string& input, const fs::path&) {
    static const std::vector<graph::Graph> graphs{zoo::make("toy_conv"), zoo::make("toy_residual"),
                                                  zoo::make("toy_attention")};
    const auto rules = rules::RuleSet::parse(input, "m.rules");
    for (const auto& graph : graphs) {
      for (int rule = 0; rule < std::min(rules->size(), 4); ++rule) {
        const auto matches = rules::find_matches(*rules, rule, graph);
        for (size_t k = 0; k < std::min<size_t>(matches.size(), 3); ++k) rules::apply(*rules, matches[k], graph);
      }
    }
  };
  target.ci_inputs = 3000;
  return target;
}

Target taso_text_target() {
  static const Words words{
      "relu(",   "matmul(",         "i1",           "i20",         "=>", ";",        "concat2d_ax0(", "split_ax0[1]",
      "ew_add(", "conv3x3_s1same(", "constant_imm", "pool2d_avg(", "\t", "1->1 ops", "enlarge("};
  return {"taso-text",
          [] {
            Corpus seeds;
            for (const auto& line : split(read_file("tests/data/rules/taso-133.txt"), '\n'))
              if (!line.empty()) seeds.push_back(std::string(line) + "\n");
            return seeds;
          },
          [](const Corpus& corpus, Rng& rng) { return mutate_text(corpus, words, rng); },
          [](const std::string& input, const fs::path&) {
            for (const auto& rule : rulegen::read_taso(input, "m.txt"))
              if (!rule.text.empty()) rules::RuleSet::parse(rule.text, rule.name);
          },
          10000};
}

Target graph_target() {
  static const Words words{"input",
                           "weight",
                           "output",
                           "graph",
                           "opaque",
                           "%0",
                           "%1.1",
                           "f32[1,3,8,8]",
                           "i64[0]",
                           "f32[]",
                           "f32[4611686018427387904,4]",
                           "seed=7",
                           "hash=",
                           "pads=[1,1,1,1]",
                           "strides=[0,0]",
                           "axis=-1",
                           "group=0",
                           "perm=[0,0]",
                           "shape=[-1,0]",
                           "conv2d(",
                           "concat(",
                           "split(",
                           "reshape(",
                           "kernel=[9223372036854775807,1]",
                           "dilations=[-1,1]",
                           "sizes=[]"};
  return {"graph-text",
          [] {
            Corpus seeds;
            for (const char* name : {"toy_conv", "toy_mlp", "toy_attention", "toy_residual", "squeezenet1_1"})
              seeds.push_back(graph::to_text(zoo::make(name)));
            return seeds;
          },
          [](const Corpus& corpus, Rng& rng) { return mutate_text(corpus, words, rng); },
          [](const std::string& input, const fs::path&) {
            const auto graph = graph::from_text(input);
            graph::from_text(graph::to_text(graph));
          },
          3000};
}

std::shared_ptr<const rules::RuleSet> base_rules() {
  static const auto rules = rules::RuleSet::parse(read_file("configs/rules/base.rules"), "base.rules");
  return rules;
}

Target trace_target() {
  static const Words words{"rlgo-trace 1", "graph", "graph_hash", "rules_hash", "\t", "-", "0", "4294967296"};
  return {"trace",
          [] {
            rules::TraceFile trace{"tiny-cnn", 0x1234, 0x5678, {{0, 1}, {2, 0}, {1, 7}}, {3.5, 2.5}};
            return Corpus{rules::to_text(trace, *base_rules())};
          },
          [](const Corpus& corpus, Rng& rng) { return mutate_text(corpus, words, rng); },
          [](const std::string& input, const fs::path&) {
            const auto trace = rules::parse_trace(input, "m.trace", *base_rules());
            rules::to_text(trace, *base_rules());
          },
          10000};
}

Target table_target() {
  static const Words words{"# model", "# device", "# threads", "# format", "\t", "nan", "inf", "-1", "1e308", "1e400"};
  return {"cost-table",
          [] {
            const fs::path path = fs::temp_directory_path() / fmt::format("rlgo-fuzz-{}.tsv", ::getpid());
            cost::TableCost table({"measured:cpu", "a device", 2});
            table.insert("conv2d f32[1,3,8,8]", {12.5, 0.25, 9});
            table.insert("relu f32[4]", {0.125, 0, 3});
            table.save(path);
            Corpus seeds{read_file(path)};
            fs::remove(path);
            return seeds;
          },
          [](const Corpus& corpus, Rng& rng) { return mutate_text(corpus, words, rng); },
          [](const std::string& input, const fs::path& folder) {
            std::ofstream(folder / "m.tsv", std::ios::binary) << input;
            cost::TableCost table({"measured:cpu", "a device", 2});
            table.load(folder / "m.tsv");
            for (const auto& entry : table.entries()) RLGO_CHECK(table.find(entry.signature) != nullptr);
          },
          10000};
}

Target config_target() {
  static const Words words{"[ppo]", "clip = 0.2", "graph = x.onnx", "=", "true", "false", "epochs", "-1", "1e400", "#"};
  return {"config",
          [] {
            launch::RunConfig config;
            config.model.graph = "x.onnx";
            Options options;
            launch::declare(options, config);
            Corpus seeds{options.dump(), "graph = x.onnx\n[ppo]\nclip = 0.1\n"};
            for (const char* name : {"quick", "thorough", "paper-model-based"})
              seeds.push_back("graph = x.onnx\n" + read_file(fmt::format("configs/{}.cfg", name)));
            return seeds;
          },
          [](const Corpus& corpus, Rng& rng) { return mutate_text(corpus, words, rng); },
          [](const std::string& input, const fs::path&) {
            launch::RunConfig config;
            Options options;
            launch::declare(options, config);
            options.parse_config(input, "m.cfg", Source::file);
            launch::check(config);
            launch::RunConfig again;
            Options reader;
            launch::declare(reader, again);
            reader.parse_config(options.dump(), "dump.cfg", Source::file);
          },
          2000};
}

Target command_line_target() {
  Target target = config_target();
  target.name = "command-line";
  target.seeds = [] {
    return Corpus{"--graph x.onnx --epochs 3 --ppo.clip=0.1", "--graph x.onnx --name b --rule a.rules"};
  };
  target.run = [](const std::string& input, const fs::path&) {
    launch::RunConfig config;
    Options options;
    launch::declare(options, config);
    std::vector<std::string> arguments;
    for (const auto& word : split(input, ' ')) arguments.emplace_back(word.substr(0, word.find('\0')));
    options.parse_command_line(arguments);
    launch::check(config);
  };
  return target;
}

}  // namespace

std::vector<Target> text_targets() {
  return {rules_target(), matching_target(), taso_text_target(), graph_target(),
          trace_target(), table_target(),    config_target(),    command_line_target()};
}

}  // namespace rlgo::fuzz
