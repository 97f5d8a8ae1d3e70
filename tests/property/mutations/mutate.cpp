// mutate ROOT FOLDER COUNT SEED: writes COUNT random mutations of the C++ files in src/core of the
// tree ROOT into FOLDER, one patch each: a change of a comparison, of logic, of a constant or of an
// arithmetic operator, or a statement left out. The same seed gives the same ones for the same
// tree.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/checks/source.hpp"
#include "tests/property/random.hpp"

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

struct Mutation {
  std::string path = {};
  int line = 0;  ///< from 1
  std::string before = {};
  std::string after = {};
};

struct Replacement {
  std::string_view from;
  std::string_view to;
};

// clang-format puts blanks around binary operators only, so none of these is part of a template.
constexpr std::array kOperators = {
    Replacement{" < ", " <= "},  Replacement{" < ", " >= "},  Replacement{" <= ", " < "},
    Replacement{" <= ", " > "},  Replacement{" > ", " >= "},  Replacement{" > ", " <= "},
    Replacement{" >= ", " > "},  Replacement{" >= ", " < "},  Replacement{" == ", " != "},
    Replacement{" != ", " == "}, Replacement{" && ", " || "}, Replacement{" || ", " && "},
    Replacement{" + ", " - "},   Replacement{" - ", " + "},
};

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string Trimmed(const std::string& line) {
  const auto first = line.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(' ') - first + 1);
}

/// JSON and tables have tests of their own, which compare whole texts.
bool IsAside(const std::string& path) {
  return path.find("json") != std::string::npos || path.ends_with("accelerators.cpp") ||
         path.ends_with("name_table.hpp");
}

class Mutator {
 public:
  Mutator(const std::string& path, const Lines& real, const Lines& blanked)
      : path_(path), real_(real), blanked_(blanked) {}

  std::vector<Mutation> All() {
    for (at_ = 0; at_ < real_.size(); ++at_) {
      const std::string& code = blanked_[at_];
      const bool skipped = code.find("static_assert") != std::string::npos ||
                           code.find("JM_CHECK") != std::string::npos ||
                           code.find('#') != std::string::npos;
      if (skipped) continue;
      Operators(code);
      Negations(code);
      Words(code);
      Statement(code);
    }
    return std::move(found_);
  }

 private:
  void Add(std::size_t from, std::size_t size, std::string_view to) {
    std::string after = real_[at_];
    after.replace(from, size, to);
    found_.push_back({path_, static_cast<int>(at_) + 1, real_[at_], after});
  }

  void Operators(const std::string& code) {
    const std::string padded = code + ' ';  // an operator may end a line
    for (const auto& [from, to] : kOperators) {
      for (auto at = padded.find(from); at != std::string::npos; at = padded.find(from, at + 1)) {
        const bool last = at + from.size() > code.size();
        Add(at, from.size() - (last ? 1 : 0), to.substr(0, to.size() - (last ? 1 : 0)));
      }
    }
  }

  void Negations(const std::string& code) {
    for (std::size_t at = 0; at + 1 < code.size(); ++at) {
      if (code[at] == '!' && (IsWord(code[at + 1]) || code[at + 1] == '(')) Add(at, 1, "");
    }
  }

  void Words(const std::string& code) {
    for (std::size_t at = 0; at < code.size();) {
      std::size_t end = at;
      while (end < code.size() && IsWord(code[end])) ++end;
      const std::string word = code.substr(at, end - at);
      int number = 0;
      const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
      const bool whole = !word.empty() && parsed.ec == std::errc{} && number < 1'000'000 &&
                         parsed.ptr == word.data() + word.size();
      if (whole) Add(at, word.size(), std::to_string(number + 1));
      if (word == "true") Add(at, word.size(), "false");
      if (word == "false") Add(at, word.size(), "true");
      at = std::max(end, at + 1);
    }
  }

  /// A statement on a line of its own. What then does not compile is left out by run.sh.
  void Statement(const std::string& code) {
    static constexpr std::array kNever = {"return", "co_return", "using", "const", "auto", "case"};
    const std::string text = Trimmed(code);
    if (at_ == 0 || text.size() < 2 || !text.ends_with(';') || !code.starts_with(' ')) return;
    if (!IsWord(text.front()) && text.front() != '+' && text.front() != '-') return;
    const std::string before = Trimmed(blanked_[at_ - 1]);
    const bool begins =
        before.empty() || std::string_view(";{}:)").find(before.back()) != std::string_view::npos;
    const bool never = std::any_of(kNever.begin(), kNever.end(),
                                   [&](const char* word) { return text.starts_with(word); });
    if (!begins || never) return;
    const auto first = code.find_first_not_of(' ');
    Add(first, text.size(), "{}");
  }

  const std::string& path_;
  const Lines& real_;
  const Lines& blanked_;
  std::size_t at_ = 0;
  std::vector<Mutation> found_ = {};
};

Lines ReadLines(const fs::path& path) {
  std::ifstream file(path);
  Lines lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<Mutation> AllMutations(const fs::path& root) {
  std::vector<Mutation> all;
  for (const auto& source : jobman::checks::LoadSources(root, "src/core")) {
    if (IsAside(source.path)) continue;
    const auto some = Mutator(source.path, ReadLines(root / source.path), source.lines).All();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

void Write(const fs::path& file, const Mutation& mutation) {
  std::ofstream(file) << mutation.path << ':' << mutation.line << ": " << Trimmed(mutation.before)
                      << "  ->  " << Trimmed(mutation.after) << "\n--- a/" << mutation.path
                      << "\n+++ b/" << mutation.path << "\n@@ -" << mutation.line << " +"
                      << mutation.line << " @@\n-" << mutation.before << "\n+" << mutation.after
                      << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: mutate ROOT FOLDER COUNT SEED\n";
    return 2;
  }
  const fs::path folder = argv[2];
  const std::size_t count = std::stoul(argv[3]);
  jobman::test::Random random(std::stoull(argv[4]));
  auto all = AllMutations(argv[1]);
  for (std::size_t made = 0; made < count && !all.empty(); ++made) {
    const auto at = all.begin() + random.Below(static_cast<int>(all.size()));
    std::ostringstream name;
    name << "random-" << argv[4] << '-' << made + 1 << ".patch";
    Write(folder / name.str(), *at);
    all.erase(at);
  }
  return 0;
}
