#include <algorithm>
#include <regex>
#include <set>

#include "tests/checks/source.hpp"

namespace jobman::checks {
namespace {

namespace fs = std::filesystem;

/// A pattern of code and why it is not wanted where a check looks for it.
struct Word {
  std::regex pattern;
  const char* why;
};

void FindWords(const Source& source, const std::vector<Word>& words, Findings& findings) {
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    for (const Word& word : words) {
      std::smatch match;
      if (!std::regex_search(source.lines[i], match, word.pattern)) continue;
      findings.push_back({source.path, static_cast<int>(i) + 1, match.str(1) + ": " + word.why});
    }
  }
}

/// `name` called as a function, not as somebody's member.
std::regex Call(const std::string& names) {
  return std::regex(R"((?:^|[^\w.>:]|std::|[^\w]::))" + ("(" + names + R"()\s*\()"));
}

std::regex Name(const std::string& names) {
  return std::regex("\\b(" + names + ")\\b");
}

/// Headers of the standard library that cannot reach the world, and the two libraries that core
/// uses for text and JSON.
const std::set<std::string> kPureHeaders = {"algorithm",
                                            "array",
                                            "bitset",
                                            "cctype",
                                            "charconv",
                                            "chrono",
                                            "climits",
                                            "cmath",
                                            "compare",
                                            "concepts",
                                            "cstddef",
                                            "cstdint",
                                            "cstdlib",
                                            "cstring",
                                            "deque",
                                            "functional",
                                            "initializer_list",
                                            "iterator",
                                            "limits",
                                            "list",
                                            "map",
                                            "memory",
                                            "numeric",
                                            "optional",
                                            "queue",
                                            "ranges",
                                            "ratio",
                                            "regex",
                                            "set",
                                            "span",
                                            "string",
                                            "string_view",
                                            "tuple",
                                            "type_traits",
                                            "unordered_map",
                                            "unordered_set",
                                            "utility",
                                            "variant",
                                            "vector",
                                            "fmt/compile.h",
                                            "fmt/format.h",
                                            "fmt/ranges.h",
                                            "nlohmann/json.hpp"};

/// Headers of base that core may use: values and functions of their arguments only.
const std::set<std::string> kPureBase = {"backoff.hpp", "check.hpp",   "clean.hpp", "hash.hpp",
                                         "id.hpp",      "json.hpp",    "rare.hpp",  "result.hpp",
                                         "shell.hpp",   "strings.hpp", "time.hpp"};

bool IsPure(const Include& include) {
  constexpr std::string_view kBase = "jobman/base/";
  if (include.path.starts_with(kBase)) return kPureBase.contains(include.path.substr(kBase.size()));
  if (include.path.starts_with("jobman/core/") || include.path.starts_with("core/")) return true;
  return kPureHeaders.contains(include.path);
}

void CheckPureSource(const Source& source, Findings& findings) {
  static const std::vector<Word> kWords = {
      {Name("system_clock|steady_clock|high_resolution_clock|utc_clock"),
       "the time is an argument"},
      {Call("time|gettimeofday|clock_gettime|localtime|localtime_r|gmtime"),
       "the time is an argument"},
      {Call("rand|srand|random|drand48"), "random numbers are arguments"},
      {Call("getenv|secure_getenv|setenv"), "the environment is an argument"},
      {Call("fopen|open|popen|system|socket|fork|exit"), "core does nothing, it decides"},
  };
  for (const Include& include : source.includes) {
    if (IsPure(include)) continue;
    findings.push_back({source.path, include.line, include.path + " is not pure"});
  }
  FindWords(source, kWords, findings);
}

}  // namespace

Findings CheckPurity(const fs::path& root) {
  Findings findings;
  for (const char* folder : {"include/jobman/core", "src/core"}) {
    for (const Source& source : LoadSources(root, folder)) CheckPureSource(source, findings);
  }
  // What core may include must not bring in by the back door what core may not.
  for (const Source& source : LoadSources(root, "include/jobman/base")) {
    if (kPureBase.contains(fs::path(source.path).filename())) CheckPureSource(source, findings);
  }
  return findings;
}

namespace {

/// ui prints for everybody, a main file may speak before there is a ui, the simulator is a program
/// of its own, and a broken invariant has nobody else to tell.
bool MayPrint(const Source& source) {
  if (source.module == "ui" || source.module == "sim") return true;
  return source.path.ends_with("main.cpp") || source.path == "src/base/check.cpp";
}

}  // namespace

Findings CheckPrints(const fs::path& root) {
  static const std::vector<Word> kWords = {
      {std::regex(R"((std::(?:cout|cerr|clog)\b))"), "only ui prints"},
      {Call("printf|fprintf|vprintf|vfprintf|dprintf|puts|fputs|putchar|perror"), "only ui prints"},
      {std::regex(R"(\b(fmt::print|std::print|std::println)\b)"), "only ui prints"},
      {Call("exit|quick_exit"), "only main ends the program; return an Error"},
  };
  Findings findings;
  for (const char* folder : {"include", "src"}) {
    for (const Source& source : LoadSources(root, folder)) {
      if (!MayPrint(source)) FindWords(source, kWords, findings);
    }
  }
  return findings;
}

Findings CheckSleep(const fs::path& root) {
  static const std::vector<Word> kWords = {
      {Name("sleep_for|sleep_until"), "unit tests do not sleep; turn the loop or move the clock"},
      {Call("usleep|nanosleep|sleep"), "unit tests do not sleep; turn the loop or move the clock"},
      {std::regex(R"((system_clock::now)\b)"), "unit tests do not read the wall clock"},
  };
  Findings findings;
  for (const char* folder : {"tests/unit", "tests/property"}) {
    for (const Source& source : LoadSources(root, folder)) FindWords(source, kWords, findings);
  }
  return findings;
}

}  // namespace jobman::checks
