// Queue files that are damaged, strange or hostile: each is told in a sentence with its place, and
// what can be used is used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "jobman/config/queue_file.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kHead =
    "repos: {maxtext: 'https://github.com/me/maxtext.git'}\n"
    "defaults: {zone: us-central2-b}\n"
    "accelerators:\n"
    "  v4-8:\n"
    "    tasks:\n"
    "    - {id: good, run: a}\n";

QueueFileResult ReadBad(const std::string& text, testing::Environment env = {}) {
  return ReadQueueFile(
      {.file = "/q/tasks.yaml", .text = text, .defaults = testing::TestDefaults(std::move(env))});
}

std::string Told(const QueueFileResult& result) {
  std::string text;
  for (const Problem& problem : result.problems) text += RenderProblem(problem);
  return text;
}

std::vector<std::string> Taken(const QueueFileResult& result) {
  std::vector<std::string> ids;
  if (!result.list) return ids;
  for (const core::TaskDefinition& task : result.list->tasks) ids.push_back(task.id);
  return ids;
}

/// Why the task in line 7 is refused, in the line that `queue` shows; "good" goes on.
std::string Refused(const std::string& task) {
  const QueueFileResult result = ReadBad(kHead + task);
  EXPECT_THAT(Taken(result), ElementsAre("good")) << task << Told(result);
  if (!result.list || result.list->refused.size() != 1) return "not one refused task: " + task;
  EXPECT_THAT(Told(result), HasSubstr("/q/tasks.yaml:7:"));
  return result.list->refused.front().why;
}

std::string RefusedFile(const std::string& text) {
  const QueueFileResult result = ReadBad(text);
  EXPECT_FALSE(result.list);
  return Told(result);
}

/// The same with one task that is taken, besides "good".
core::TaskDefinition Accepted(const std::string& task) {
  const QueueFileResult result = ReadBad(kHead + task);
  EXPECT_THAT(result.problems, IsEmpty()) << Told(result);
  const bool both = result.list && result.list->tasks.size() == 2;
  EXPECT_TRUE(both) << task;
  return both ? result.list->tasks[1] : core::TaskDefinition{};
}

// --- The text ---

TEST(QueueFileText, OfWindowsIsReadAsAnyOther) {
  std::string text = kHead;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, "\r\n");
  }
  const QueueFileResult result = ReadBad("\xEF\xBB\xBF" + text);
  EXPECT_THAT(Taken(result), ElementsAre("good")) << Told(result);
  EXPECT_EQ(RefusedFile("\xEF\xBB\xBF"
                        "acelerators: {}\r\n"),
            "/q/tasks.yaml:1:1: unknown key \"acelerators\"\n"
            "  1 | acelerators: {}\n"
            "    | ^\n"
            "  did you mean \"accelerators\"?\n");
}

TEST(QueueFileText, ThatIsNoTextIsRefusedAtItsFirstByte) {
  EXPECT_THAT(RefusedFile("accelerators:\n  v4-8: \xFF\n"),
              AllOf(HasSubstr("/q/tasks.yaml:2:9: a byte that is not UTF-8"),
                    HasSubstr("save it as UTF-8 text")));
  EXPECT_THAT(RefusedFile("\xFF\xFE"
                          "a"),
              HasSubstr("/q/tasks.yaml:1:1: a byte that is not UTF-8"));
  EXPECT_THAT(RefusedFile(std::string("a: \0b", 5)), HasSubstr("1:4: a control character"));
  EXPECT_THAT(RefusedFile(std::string(10, '\0')), HasSubstr("1:1: a control character"));
}

TEST(QueueFileText, WithATabForIndentationIsRefusedThere) {
  EXPECT_THAT(RefusedFile("accelerators:\n\tv4-8: {}\n"),
              AllOf(HasSubstr("/q/tasks.yaml:2:1: YAML: a tab indents this line"),
                    HasSubstr("indent with spaces")));
}

TEST(QueueFileText, OfTwoDocumentsIsRefused) {
  EXPECT_THAT(RefusedFile(kHead + std::string("---\naccelerators: {}\n")),
              AllOf(HasSubstr("tasks.yaml:7:1: a second document begins here"),
                    HasSubstr("write all tasks in one document")));
}

TEST(QueueFileText, OfAnotherShapeIsRefused) {
  EXPECT_THAT(RefusedFile(""), HasSubstr("/q/tasks.yaml: the file is empty"));
  EXPECT_THAT(RefusedFile("\n\n---\n"), HasSubstr("the file is empty"));
  EXPECT_THAT(RefusedFile("- {id: a, run: b}\n"),
              AllOf(HasSubstr("/q/tasks.yaml:1:1: expected a map of keys, found a list"),
                    HasSubstr("a queue file begins like this: accelerators:")));
  EXPECT_THAT(RefusedFile("tasks: [{id: a, run: b}]\n"), HasSubstr("\"tasks\""));
  EXPECT_THAT(RefusedFile("tasks:\n"), HasSubstr("\"tasks\""));
}

TEST(QueueFileText, WhoseTasksAreNullHasNone) {
  const QueueFileResult result =
      ReadBad("accelerators: {v4-8: {tasks: null}, v4-16: {tasks: ~}}\n");
  ASSERT_TRUE(result.list) << Told(result);
  EXPECT_THAT(result.list->tasks, IsEmpty());
  EXPECT_THAT(result.list->refused, IsEmpty());
}

// --- What would fill the memory ---

TEST(QueueFileSize, IsBounded) {
  const std::string large(std::size_t{4} << 20, '#');
  EXPECT_THAT(RefusedFile(kHead + large),
              HasSubstr("/q/tasks.yaml: larger than 4 MiB, the limit for a queue file"));
  EXPECT_THAT(RefusedFile("accelerators: " + std::string(100'000, '[')),
              HasSubstr("lists and maps are nested too deeply"));
  std::string many = "accelerators: {v4-8: {tasks: [";
  for (int i = 0; i < 20'001; ++i) many += "{id: t" + std::to_string(i) + ", run: x},";
  EXPECT_THAT(RefusedFile(many + "]}}\n"), HasSubstr("1:30: more than 20000 tasks"));
}

TEST(QueueFileSize, OfAliasesIsBounded) {
  std::string bomb = "accelerators:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += "*a" + std::to_string(i - 1) + ",";
    bomb += "x]\n";
  }
  EXPECT_THAT(RefusedFile(bomb), HasSubstr("too large once its aliases are expanded"));
}

TEST(QueueFileSize, OfMergedKeysIsBounded) {
  std::string merged = "accelerators:\n";
  std::string all;
  for (int map = 0; map < 3; ++map) {
    const std::string name = "m" + std::to_string(map);
    merged += "  " + name + ": &" + name + " {";
    for (int key = 0; key < 1000; ++key) merged += name + "k" + std::to_string(key) + ": ,";
    merged += "}\n";
    all += "*" + name + ",";
  }
  EXPECT_THAT(RefusedFile(merged + "  m: {<<: [" + all + "]}\n"),
              HasSubstr("too many keys in one map; the limit is 2000"));
}

TEST(QueueFileSize, OfReferencesIsBounded) {
  std::string text = kHead + ("    - {id: long, run: " + std::string(1'000'000, 'x') + "}\n");
  for (int i = 0; i < 100; ++i) {
    text += "    - {id: t" + std::to_string(i) + ", run: \"${accelerators.v4-8.tasks[1].run} " +
            std::to_string(i) + "\"}\n";
  }
  const QueueFileResult result = ReadBad(text);
  ASSERT_TRUE(result.list) << Told(result);
  EXPECT_THAT(result.list->tasks, SizeIs(::testing::Lt(30U)));
  ASSERT_THAT(result.list->refused, Not(IsEmpty()));
  EXPECT_EQ(Taken(result).front(), "good");
  EXPECT_THAT(result.list->refused.back().why, HasSubstr("interpolation makes the file too large"));
}

TEST(QueueFileSize, OfWhatIsToldOfOneLongLineIsBounded) {
  std::string text = "accelerators: {v4-8: {tasks: [";
  for (int i = 0; i < 2'000; ++i) text += "{id: t" + std::to_string(i) + ", rum: x},";
  const QueueFileResult result = ReadBad(text + "]}}\n");
  ASSERT_TRUE(result.list) << Told(result);
  EXPECT_THAT(result.list->refused, SizeIs(2'000));
  std::size_t longest = 0;
  for (const Problem& problem : result.problems) {
    longest = std::max(longest, RenderProblem(problem).size());
  }
  EXPECT_LT(longest, 600U);
}

TEST(QueueFileSize, OfARepositoryIsBounded) {
  const std::string url = "https://github.com/" + std::string(3'000, 'x');
  EXPECT_THAT(RefusedFile("repos: {a: '" + url + "'}\naccelerators: {}\n"),
              AllOf(HasSubstr("/q/tasks.yaml:1:12: repos.a"), HasSubstr("is too long for a URL"),
                    HasSubstr("2000 characters at most")));
  EXPECT_THAT(Refused("    - {id: b, run: x, branch: " + std::string(300, 'b') + "}\n"),
              HasSubstr("is too long for a branch"));
}

// --- Ids ---

TEST(QueueFileIds, AreKeptAsTheyAreWritten) {
  EXPECT_EQ(Accepted("    - {id: 001, run: x}\n").id, "001");
  EXPECT_EQ(Accepted("    - {id: 1e3, run: x}\n").id, "1e3");
  EXPECT_EQ(Accepted("    - {id: 0x10, run: x}\n").id, "0x10");
  EXPECT_EQ(Accepted("    - {id: yes, run: x}\n").id, "yes");
  EXPECT_EQ(Accepted("    - {id: größe, run: x}\n").id, "größe");
  const QueueFileResult both = ReadBad(kHead + std::string("    - {id: 1, run: x}\n"
                                                           "    - {id: 01, run: x}\n"));
  EXPECT_THAT(Taken(both), ElementsAre("good", "1", "01")) << "they are texts";
}

TEST(QueueFileIds, ThatAreNoneAreRefused) {
  for (const std::string id : {"'a b'", "\"a\\nb\"", "a/b", "../b", "..", ".", ".hidden", "-rf",
                               "'*'", "'a?'", "'[a]'", "'a\\b'", "\"a\\tb\"", "\"\\x7f\""}) {
    EXPECT_THAT(Refused("    - {id: " + id + ", run: x}\n"),
                AllOf(HasSubstr("tasks.yaml:7: accelerators.v4-8.tasks[1].id: "),
                      HasSubstr("cannot be the id of a task (use 100 characters at most"),
                      Not(HasSubstr("\n"))))
        << id;
  }
  EXPECT_THAT(Refused("    - {id: " + std::string(300, 'a') + ", run: x}\n"),
              HasSubstr("cannot be the id of a task"));
  EXPECT_THAT(Refused("    - {id: '', run: x}\n"), HasSubstr("tasks[1].id is empty"));
  EXPECT_THAT(Refused("    - {id: , run: x}\n"), HasSubstr("tasks[1].id is missing"));
  EXPECT_THAT(Refused("    - {id: [a], run: x}\n"),
              HasSubstr("tasks[1].id: expected text, found a list"));
}

TEST(QueueFileIds, OfRefusedTasksAreToldOnlyIfTheyAreOnes) {
  const QueueFileResult result =
      ReadBad(kHead + std::string("    - {id: \"a\\nb\", run: '${nowhere}'}\n"
                                  "    - {id: fine, run: '${nowhere}'}\n"));
  ASSERT_TRUE(result.list) << Told(result);
  ASSERT_THAT(result.list->refused, SizeIs(2));
  EXPECT_EQ(result.list->refused[0].id, "");
  EXPECT_EQ(result.list->refused[1].id, "fine");
}

TEST(QueueFileIds, ThatAreVeryLongAreToldInPart) {
  const std::string why = Refused("    - {id: " + std::string(100'000, 'a') + ", run: x}\n");
  EXPECT_LT(why.size(), 700U);
  EXPECT_THAT(why, HasSubstr("tasks.yaml:7: accelerators.v4-8.tasks[1].id: \"aaa"));
}

// --- Numbers and words ---

TEST(QueueFileNumbers, MustBeWholeAndInTheirRange) {
  const auto refused = [](const std::string& member) {
    return Refused("    - {id: b, run: x, " + member + "}\n");
  };
  EXPECT_THAT(refused("max_jobs: -1"), HasSubstr("tasks[1].max_jobs: must not be negative"));
  EXPECT_THAT(refused("max_jobs: 1.5"),
              HasSubstr("max_jobs: expected a whole number, found \"1.5\""));
  EXPECT_THAT(refused("max_jobs: 1e3"), HasSubstr("found \"1e3\""));
  EXPECT_THAT(refused("max_jobs: 0"), HasSubstr("max_jobs: must be between 1 and 10000"));
  EXPECT_THAT(refused("max_jobs: 99999999999999999999"), HasSubstr("must be between 1 and 10000"));
  EXPECT_THAT(refused("max_jobs: \"2\""), HasSubstr("found \"2\""));
  EXPECT_THAT(refused("max_retries: -1"), HasSubstr("tasks[1].max_retries: must not be negative"));
  EXPECT_THAT(refused("max_retries: 0.5"), HasSubstr("max_retries: expected a whole number"));
  EXPECT_THAT(refused("max_retries: many"), HasSubstr("found \"many\""));
  EXPECT_THAT(refused("hide: perhaps"), HasSubstr("tasks[1].hide"));
  EXPECT_THAT(refused("priority: high"),
              AllOf(HasSubstr("unknown key \"accelerators.v4-8.tasks[1].priority\""),
                    HasSubstr("jobman queue --prioritize ID")));
  EXPECT_THAT(refused("cmd: ls"), HasSubstr("write run"));
  EXPECT_THAT(refused("workers: 3-1"), HasSubstr("tasks[1].workers"));
  EXPECT_THAT(refused("workers: 0-99999999999"), HasSubstr("tasks[1].workers"));
  EXPECT_EQ(Accepted("    - {id: b, run: x, max_retries: 0, max_jobs: 10000}\n").max_jobs, 10'000);
}

TEST(QueueFileNumbers, OfADefaultRefuseTheFile) {
  EXPECT_THAT(RefusedFile("defaults: {max_jobs: -1}\naccelerators: {}\n"),
              HasSubstr("/q/tasks.yaml:1:22: defaults.max_jobs: must not be negative"));
  EXPECT_THAT(RefusedFile("accelerators: {v4-8: {max_retries: 1.5}}\n"),
              HasSubstr("accelerators.v4-8.max_retries: expected a whole number"));
}

// --- What tasks say of each other, of repositories and folders ---

TEST(QueueFileReferences, BetweenTasksThatAreWrongRefuseThese) {
  EXPECT_THAT(Refused("    - {id: b, run: x, depends_on: b}\n"),
              HasSubstr("tasks[1].depends_on: these tasks wait for each other: b -> b"));
  EXPECT_THAT(Refused("    - {id: b, run: x, depends_on: {a: b}}\n"), HasSubstr("depends_on"));
  EXPECT_THAT(Refused("    - {id: b, run: x, depends_on: ['a b']}\n"),
              HasSubstr("cannot be the id of a task"));
  const QueueFileResult twins =
      ReadBad(kHead + std::string("    - {id: b, run: x}\n    - {id: b, run: x}\n"
                                  "    - {id: c, run: x, depends_on: b}\n"));
  EXPECT_THAT(Taken(twins), ElementsAre("good", "c"));
  EXPECT_THAT(Told(twins), AllOf(HasSubstr("/q/tasks.yaml:7:12"), HasSubstr("it is in line 8"),
                                 HasSubstr("/q/tasks.yaml:8:12"), HasSubstr("it is in line 7")));
}

TEST(QueueFileReferences, InALongCircleAreToldInPart) {
  std::string circle;
  for (int i = 0; i < 1'000; ++i) {
    circle += "    - {id: c" + std::to_string(i) + ", run: x, depends_on: c" +
              std::to_string((i + 1) % 1'000) + "}\n";
  }
  const QueueFileResult result = ReadBad(kHead + circle);
  EXPECT_THAT(Taken(result), ElementsAre("good"));
  ASSERT_THAT(result.list->refused, SizeIs(1'000));
  EXPECT_THAT(result.list->refused[0].why, HasSubstr("c0 -> c1 -> c2"));
  EXPECT_LT(result.list->refused[0].why.size(), 700U);
}

TEST(QueueFileReferences, ToARepositoryThatIsNotThereRefuseTheTask) {
  EXPECT_THAT(Refused("    - {id: b, run: x, repo: nowhere}\n"),
              HasSubstr("tasks.yaml:7: accelerators.v4-8.tasks[1].repo: there is no repository "
                        "\"nowhere\" in repos (repos has: maxtext)"));
  EXPECT_THAT(Refused("    - {id: b, run: x, repo: [maxtext]}\n"), HasSubstr("tasks[1].repo"));
}

TEST(QueueFileFolders, OutsideOfHomeAreRefused) {
  for (const std::string folder : {"/", "..", "~", "~/..", "/home/me/x", "~/", "~/../x", "a/..",
                                   "./a", "//", "~other", "$HOME/x", "a\\b"}) {
    EXPECT_THAT(Refused("    - {id: b, run: x, repo: maxtext, workdir: '" + folder + "'}\n"),
                AllOf(HasSubstr("tasks.yaml:7: accelerators.v4-8.tasks[1].workdir: "),
                      HasSubstr("is not a folder below the home folder of the hosts")))
        << folder;
  }
  EXPECT_EQ(Accepted("    - {id: b, run: x, repo: maxtext, workdir: ''}\n").workdir, "maxtext");
  EXPECT_EQ(Accepted("    - {id: b, run: x, repo: maxtext, workdir: ' '}\n").workdir, "maxtext");
  EXPECT_EQ(Accepted("    - {id: b, run: x, repo: maxtext, workdir: '~/a/'}\n").workdir, "a");
}

TEST(QueueFileFolders, OfTheEnvironmentAreCheckedToo) {
  const QueueFileResult result = ReadBad(
      kHead + std::string("    - {id: b, run: x, repo: maxtext, workdir: '${env:WHERE}'}\n"),
      {{"WHERE", "../../etc"}});
  EXPECT_THAT(Taken(result), ElementsAre("good"));
  EXPECT_THAT(Told(result), HasSubstr("\"../../etc\" is not a folder below the home folder"));
}

}  // namespace
}  // namespace jobman::config
