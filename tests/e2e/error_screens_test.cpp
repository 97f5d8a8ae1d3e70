// Recorded errors of the API (tests/data/errors: the answers that Cloud TPU is known to give, each
// with its origin) through the real binary to the screen. The screens are one page that reads from
// top to bottom, tests/golden/data/cloud_errors.txt; JOBMAN_BLESS=1 rewrites it: review the
// difference as the user who reads it in trouble.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "cli/wrapping.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ui/text.hpp"
#include "tests/e2e/error_scenes.hpp"
#include "tests/e2e/place.hpp"
#include "tests/e2e/terminal.hpp"

namespace jobman::test {
namespace {

using base::GetMember;
using base::GetString;
using base::Json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kWidth = 80;
constexpr const char* kToken = "ya29.never-on-a-screen";

/// Durations and the server's port differ from run to run.
std::string Steady(std::string text, const std::string& address) {
  static const std::regex kDuration(R"(\b\d+(\.\d+)?(ms|s|m|h|d)(\d+(s|m|h))?\b)");
  text = base::ReplaceAll(std::move(text), address, "127.0.0.1:PORT");
  return std::regex_replace(text, kDuration, "TIME");
}

/// One text per job of what `why` says about several.
std::map<std::string, std::string> ByJob(const std::string& text) {
  static const std::regex kHead(R"(^\d{6} ([^:]+): .*)");
  std::map<std::string, std::string> parts;
  std::string job;
  for (const std::string& line : base::Split(text, '\n')) {
    std::smatch head;
    if (std::regex_match(line, head, kHead)) job = head.str(1);
    if (!job.empty() && !line.empty()) parts[job] += line + "\n";
  }
  return parts;
}

/// The rows of `list`, two blanks between columns: their widths differ as the durations do.
std::string RowsOf(const std::string& list) {
  static const std::regex kGap("  +");
  std::string rows;
  for (const std::string& line : base::Split(list, '\n')) {
    const bool is_row = !line.empty() && line.find_first_not_of("0123456789") == 6;
    if (is_row) rows += std::regex_replace(line, kGap, "  ") + "\n";
  }
  return rows;
}

/// A line may be longer only for a word that cannot be broken.
void ExpectToFit(const std::string& screen) {
  constexpr std::size_t kLongWord = 50;
  for (const std::string& line : base::Split(screen, '\n')) {
    const std::vector<std::string> words = base::Split(line, ' ');
    const bool unbreakable = std::any_of(words.begin(), words.end(), [](const std::string& word) {
      return word.size() > kLongWord;
    });
    if (!unbreakable) {
      EXPECT_LE(ui::DisplayWidth(line), kWidth) << line;
    }
  }
}

/// Whether a line tells what to do: of `why` as "next", of `create` below its message.
bool HasCure(const Scene& scene, const std::string& screen) {
  static const std::regex kOfWhy(R"(\n  next  +\S)");
  static const std::regex kOfCreate(R"(\n  [a-z])");
  return std::regex_search(screen, IsOfTheCommand(scene) ? kOfCreate : kOfWhy);
}

/// What is beyond the name of the job, which its user knows.
std::string WithoutHead(const Scene& scene, const std::string& screen) {
  return IsOfTheCommand(scene) ? screen : screen.substr(std::min(screen.find('\n'), screen.size()));
}

/// What every screen of trouble has to be.
void ExpectToHelp(const Scene& scene, const std::string& screen) {
  SCOPED_TRACE(scene.name + "\n" + screen);
  EXPECT_THAT(WithoutHead(scene, screen),
              AnyOf(HasSubstr(scene.zone), HasSubstr(scene.type), HasSubstr("my-project"),
                    HasSubstr("the name " + scene.name + "-")))
      << "the thing";
  EXPECT_TRUE(HasCure(scene, screen)) << "the cure";
  EXPECT_THAT(screen, AllOf(Not(HasSubstr("{\"")), Not(HasSubstr("@type")), Not(HasSubstr("\":"))))
      << "no JSON";
  EXPECT_THAT(screen, AllOf(Not(HasSubstr("<html")), Not(HasSubstr("EID"))));
}

class ErrorScreens : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(base::WriteFileAtomic(place_.path() / "token", kToken).ok());
    for (const Scene& scene : scenes_) {
      const std::string text =
          JobText(scene, cloud_.EndpointOf(scene.name), (place_.path() / "token").string());
      ASSERT_TRUE(base::WriteFileAtomic(place_.path() / FileOf(scene), text).ok());
    }
    place_.StartController({"--poll", "1"});
  }

  static std::map<std::string, Trouble> TroublesOf(const std::vector<Scene>& scenes) {
    std::map<std::string, Trouble> troubles;
    for (const Scene& scene : scenes) troubles[scene.name] = scene.trouble;
    return troubles;
  }

  /// The screen of a terminal without colours, in the folder of the job files.
  Ran OnScreen(std::vector<std::string> args, int width = kWidth) {
    std::vector<std::string> argv = {"env",
                                     "-C",
                                     place_.path().string(),
                                     "TERM=dumb",
                                     "COLUMNS=" + std::to_string(width),
                                     "ASAN_OPTIONS=detect_leaks=0",
                                     std::string(JOBMAN_BIN_DIR) + "/jobman",
                                     "--home",
                                     place_.home().string()};
    argv.insert(argv.end(), args.begin(), args.end());
    Ran ran = AnswerOnTerminal(std::move(argv), "\x1f", "");  // nobody asks that
    ran.out = base::ReplaceAll(std::move(ran.out), "\r\n", "\n");
    return ran;
  }

  /// The job files of most scenes at once; the cloud is not asked before.
  void CreateTheOthers() {
    std::vector<std::string> args = {"create", "--no-preflight"};
    for (const Scene& scene : scenes_) {
      if (IsOfTheCommand(scene) || IsNoted(scene)) continue;
      args.push_back((place_.path() / FileOf(scene)).string());
    }
    const Ran ran = place_.Jobman(args);
    ASSERT_EQ(ran.code, 0) << ran.All();
  }
  /// `create` by itself; its screen.
  void CreateAlone(const Scene& scene) {
    const Ran ran = OnScreen({"create", FileOf(scene)});
    ExpectToFit(ran.out);
    EXPECT_EQ(ran.code == 0, IsNoted(scene)) << ran.out;
    if (!IsNoted(scene)) ExpectToHelp(scene, ran.out);
    created_[scene.name] =
        Steady(ran.out, cloud_.address()) + "exit code " + std::to_string(ran.code) + "\n";
  }

  /// The rows of `why` by job.
  std::map<std::string, Json> Whys() {
    std::vector<std::string> args = {"--json", "why"};
    args.insert(args.end(), jobs_.begin(), jobs_.end());
    const auto json = base::ParseJson(place_.Jobman(args).out);
    std::map<std::string, Json> rows;
    if (!json.ok()) return rows;
    for (const Json& row : GetMember(*json, "jobs")) rows[GetString(row, "name")] = row;
    return rows;
  }
  static bool HasFact(const Json& why, const std::string& part) {
    const Json& facts = GetMember(why, "facts");
    return std::any_of(facts.begin(), facts.end(), [&](const Json& fact) {
      return fact.is_string() && base::Contains(fact.get<std::string>(), part);
    });
  }
  /// Whether the error has arrived, and what followed is over.
  static bool IsTold(const Scene& scene, const Json& why) {
    const std::string state = GetString(why, "state");
    switch (scene.trouble.met) {
      case Met::kOffer:
        return true;
      case Met::kList:
        return HasFact(why, "the cloud has refused for ");
      case Met::kEverything:
        return HasFact(why, "the cloud has not answered for ");
      case Met::kDelete:
        return HasFact(why, "the cloud has refused to delete ");
      case Met::kCreate:
      case Met::kTaken:
      case Met::kOperation:
      case Met::kQueued:
        return (state == "BACKOFF" || state == "FAILED") && !HasFact(why, "slice ");
    }
    return false;
  }
  void AwaitErrors() {
    std::string missing;
    place_.Until("every error to be told", [&] {
      auto whys = Whys();
      missing.clear();
      for (const Scene& scene : scenes_) {
        const Json& why = whys[scene.name];
        if (!IsTold(scene, why)) missing += scene.name + ": " + why.dump() + "\n";
      }
      return missing.empty();
    });
    EXPECT_EQ(missing, "");
  }

  /// Slices that are being created are deleted.
  void DeleteSome() {
    std::vector<std::string> args = {"delete", "--yes"};
    for (const Scene& scene : scenes_) {
      if (scene.trouble.met == Met::kDelete) args.push_back(scene.name);
    }
    place_.Until("the slices to be there", [&] {
      auto whys = Whys();
      return std::all_of(args.begin() + 2, args.end(), [&](const std::string& job) {
        return GetString(whys[job], "state") == "PROVISIONING";
      });
    });
    const Ran ran = place_.Jobman(args);
    EXPECT_EQ(ran.code, 0) << ran.All();
  }

  /// The exit codes with which jobs that have failed end `wait`.
  std::map<std::string, int> ExitCodes() {
    std::vector<std::string> args = {"--json", "wait"};
    for (const auto& [name, why] : Whys()) {
      if (GetString(why, "state") == "FAILED") args.push_back(name);
    }
    const auto json = base::ParseJson(place_.Jobman(args).out);
    std::map<std::string, int> codes;
    if (!json.ok()) return codes;
    for (const Json& row : GetMember(*json, "jobs")) {
      codes[GetString(row, "name")] = static_cast<int>(base::GetInt(row, "exit_code"));
    }
    return codes;
  }

  Place place_;
  const std::vector<Scene> scenes_ = AllScenes();
  ErrorCloud cloud_{TroublesOf(scenes_)};
  std::vector<std::string> jobs_ = {};               ///< names of those that are created
  std::map<std::string, std::string> created_ = {};  ///< screens of `create`, by job
};

/// Below a head of each scene: its screens.
std::string Page(const std::vector<Scene>& scenes,
                 const std::map<std::string, std::string>& created,
                 const std::map<std::string, std::string>& whys,
                 const std::map<std::string, int>& codes) {
  std::string page = "What the user sees of each error that the Cloud TPU API is known to give.\n";
  for (const Scene& scene : scenes) {
    page += "\n## " + scene.name + "\n" + scene.about + "\nMet by " + WordsOf(scene.trouble.met);
    if (scene.trouble.http_status != 200) {
      page += ": HTTP status " + std::to_string(scene.trouble.http_status);
    }
    page += ".\n";
    if (const auto found = created.find(scene.name); found != created.end()) {
      page += "\n$ jobman create " + FileOf(scene) + "\n" + found->second;
    }
    if (const auto found = whys.find(scene.name); found != whys.end()) {
      page += "\n$ jobman why " + scene.name + "\n" + found->second;
    }
    if (const auto found = codes.find(scene.name); found != codes.end()) {
      page +=
          "\n$ jobman wait " + scene.name + "\nexit code " + std::to_string(found->second) + "\n";
    }
  }
  return page;
}

void ExpectPage(const std::string& page) {
  const auto path = std::filesystem::path(JOBMAN_SOURCE_DIR) / "tests/golden/data/cloud_errors.txt";
  if (std::getenv("JOBMAN_BLESS") != nullptr) {
    std::ofstream(path, std::ios::binary) << page;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing: JOBMAN_BLESS=1 writes it";
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(page, expected) << "JOBMAN_BLESS=1 accepts what is printed now";
}

TEST_F(ErrorScreens, NameTheThingTheCauseAndTheCure) {
  // What takes longest comes first: calls that are tried again.
  for (const Scene& scene : scenes_) {
    if (IsNoted(scene)) CreateAlone(scene);
  }
  ASSERT_NO_FATAL_FAILURE(CreateTheOthers());
  for (const Scene& scene : scenes_) {
    if (IsOfTheCommand(scene)) CreateAlone(scene);
    if (!IsOfTheCommand(scene)) jobs_.push_back(scene.name);
  }
  DeleteSome();
  AwaitErrors();

  // As lines of any length, because durations differ: the page has them as on 80 columns.
  std::vector<std::string> why = {"why"};
  why.insert(why.end(), jobs_.begin(), jobs_.end());
  const std::map<std::string, std::string> told = ByJob(place_.Jobman(why).out);
  std::map<std::string, std::string> shown;
  for (const Scene& scene : scenes_) {
    if (IsOfTheCommand(scene)) continue;
    const auto found = told.find(scene.name);
    ASSERT_NE(found, told.end()) << scene.name;
    ExpectToHelp(scene, found->second);
    shown[scene.name] = cli::WrapKeys(Steady(found->second, cloud_.address()), kWidth);
  }
  const Ran screen = OnScreen(why);
  EXPECT_EQ(screen.code, 0);
  ExpectToFit(screen.out);
  const Ran list = OnScreen({"list"});
  EXPECT_EQ(list.code, 0) << list.out;
  ExpectToFit(list.out);
  constexpr int kWide = 3000;
  const std::string rows = Steady(RowsOf(OnScreen({"list"}, kWide).out), cloud_.address());
  ExpectPage(Page(scenes_, created_, shown, ExitCodes()) +
             "\n## All of them, on a screen that is wide enough\n\n$ jobman list\n" + rows);

  const std::string log = base::ReadFile(place_.home() / "controller.log").value_or("");
  for (const std::string& text : {screen.out, list.out, log}) {
    EXPECT_THAT(text, Not(HasSubstr(kToken)));
  }
  for (const auto& [name, text] : created_) EXPECT_THAT(text, Not(HasSubstr(kToken))) << name;
  EXPECT_THAT(cloud_.heard(), testing::Contains(HasSubstr(kToken))) << "it was sent";
}

}  // namespace
}  // namespace jobman::test
