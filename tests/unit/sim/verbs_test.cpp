// The table of verbs, and its documentation in docs/guide/simulator.md.
#include "sim/faults/verbs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "jobman/base/env.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "sim/command/verb_words.hpp"
#include "sim/faults/storm.hpp"

namespace jobman::sim {
namespace {

using testing::HasSubstr;

const base::Path kDocument = base::Path(JOBMAN_SOURCE_DIR) / "docs/guide/simulator.md";

/// A help line for the middle of a sentence: lower case, unless it begins with several capitals.
std::string Inside(std::string text) {
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return base::ReplaceAll(std::move(text), "*", "\\*");
}

std::string VerbTable() {
  std::string text = "| command | does | members over HTTP |\n| --- | --- | --- |\n";
  for (const Verb& verb : Verbs()) {
    std::string does = std::string(verb.help) + ".";
    for (const Argument& argument : verb.arguments) {
      const std::string word = argument.word;
      if (word == "NODE" || word == "NAME") continue;
      does += fmt::format(" `{}`: {}.", word.substr(0, word.find(' ')), Inside(argument.help));
    }
    std::vector<std::string> members;
    for (const std::string& member : Members(verb)) members.push_back("`" + member + "`");
    const bool settings = members.empty() && !verb.arguments.empty();
    text += fmt::format("| `{}` | {} | {} |\n", Usage(verb), does,
                        settings ? "the settings" : base::Join(members, ", "));
  }
  return text;
}

std::string StormTable() {
  std::string text = "| kind | one of |\n| --- | --- |\n";
  for (const std::string& name : StormKinds()) {
    std::set<std::string> lines;
    for (const Verb& verb : Verbs()) {
      for (const StormKind& kind : verb.storm) {
        if (kind.name != name) continue;
        for (const char* line : kind.lines) lines.insert("`" + std::string(line) + "`");
      }
    }
    text += fmt::format("| `{}` | {} |\n", name, base::Join({lines.begin(), lines.end()}, ", "));
  }
  return text;
}

/// The document with its table of this name replaced.
std::string WithTable(const std::string& document, const std::string& name,
                      const std::string& table) {
  const std::string begin = "<!-- table of " + name + " -->\n";
  const auto from = document.find(begin);
  const auto to = document.find("<!-- end -->\n", from);
  if (from == std::string::npos || to == std::string::npos) return "no mark " + begin;
  return document.substr(0, from) + begin + table + document.substr(to);
}

TEST(Verbs, AreDocumented) {
  const std::string document = base::ReadFile(kDocument).value_or("");
  const std::string right =
      WithTable(WithTable(document, "verbs", VerbTable()), "storm kinds", StormTable());
  if (base::GetEnv("JOBMAN_BLESS")) {
    ASSERT_TRUE(base::WriteFileAtomic(kDocument, right, 0644).ok());
    return;
  }
  EXPECT_EQ(document, right) << "regenerate it: JOBMAN_BLESS=1 ctest --preset dev -R unit_sim";
}

TEST(Verbs, ErrorsOfCallsAreDocumented) {
  const std::string document = base::ReadFile(kDocument).value_or("");
  const std::string section = document.substr(document.find("### Faults of calls"));
  for (const std::string& name : FaultNames()) EXPECT_THAT(section, HasSubstr("`" + name + "`"));
}

TEST(Verbs, HaveUniqueNames) {
  std::set<std::string> names;
  for (const Verb& verb : Verbs()) {
    EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
    EXPECT_EQ(*FindVerb(verb.name), &verb);
    EXPECT_NE(verb.act, nullptr) << verb.name;
  }
  EXPECT_FALSE(FindVerb("fire").ok());
}

/// A command line with a value for every placeholder.
std::string Filled(std::string line) {
  line = base::ReplaceAll(std::move(line), "NODE/INDEX", "t1/0");
  for (const char* word : {"NODE", "NAME", "METHOD", "ERROR", "ACTION", "[WHERE]"}) {
    line = base::ReplaceAll(std::move(line), word, "x");
  }
  return base::ReplaceAll(std::move(line), "KEY=VALUE...", "key=1");
}

TEST(Verbs, AcceptTheWordsOfTheirUsage) {
  for (const Verb& verb : Verbs()) {
    std::string line = Filled(Usage(verb).substr(0, Usage(verb).find(" [--")));
    for (const Argument& argument : verb.arguments) {
      const std::string word = argument.word;
      if (word.starts_with("--")) line += " " + word.substr(0, word.find(' '));
      if (word.starts_with("--") && argument.kind != Argument::Kind::kFlag) line += " 1";
    }
    const auto orders = ParseOrders(line);
    ASSERT_TRUE(orders.ok()) << line << ": " << orders.error().ToString();
    ASSERT_EQ(orders->size(), 1U) << line;
    EXPECT_EQ(orders->front().verb, verb.name);
    const std::vector<std::string> members = Members(verb);
    for (const std::string& member : members) {
      EXPECT_TRUE(orders->front().body.contains(member)) << line << ": " << member;
    }
    if (!members.empty()) {
      EXPECT_EQ(orders->front().body.size(), members.size()) << line;
    }
  }
}

}  // namespace
}  // namespace jobman::sim
