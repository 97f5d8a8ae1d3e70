// Many hosts, some of which fail: each is named with its cause, and the others lose nothing by it.
// 64 light hosts; JOBMAN_TEST_HOSTS=1024 for a pod of 1,024, which takes minutes on a small
// machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Matcher;
using testing::SizeIs;

int PodSize() {
  const auto wanted = base::GetEnv("JOBMAN_TEST_HOSTS");
  return wanted ? static_cast<int>(base::ParseNumber(*wanted).value_or(64)) : 64;
}

/// What a host that failed says of it, by the fault.
const std::map<std::string, Matcher<std::string>>& Causes() {
  static const std::map<std::string, Matcher<std::string>> kCauses = {
      {"refuse", HasSubstr("connection refused")},
      {"reset", AnyOf(HasSubstr("reset"), HasSubstr("closed"), HasSubstr("broke"))},
      {"hang-handshake", HasSubstr("no SSH handshake in time")},
      {"hang-after-auth", AnyOf(HasSubstr("no longer answers"), HasSubstr("did not answer"))},
      {"reset-middle", AnyOf(HasSubstr("reset"), HasSubstr("closed"), HasSubstr("broke"))},
      {"wrong-key", HasSubstr("shows the key")}};
  return kCauses;
}

/// One job of all hosts for all tests: it has ended, and holds its slice.
class Scale : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = std::make_unique<Place>();
    place_->StartSim({"--light", "--delays", "0"});
    const std::string file =
        place_->JobFile("pod", 1, "cat ~/ready; echo \"I am $JOBMAN_HOST_INDEX\"",
                        "setup: [{name: prepare, run: 'echo ready >~/ready'}]\n");
    created_ = place_->Jobman({"create", file, "--follow", "--set", "tpu.zone=us-central1-a",
                               "--set", "tpu.accelerator=v5p-" + std::to_string(8 * PodSize())});
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(place_->Jobman({"delete", "1", "--wait"}).code, 0);
    const Ran down = place_->Sim({"down"});
    EXPECT_THAT(down.out, testing::Not(HasSubstr("processes of hosts"))) << down.out;
    place_.reset();
  }
  void SetUp() override { ASSERT_EQ(created_.code, 0) << created_.All(); }
  void TearDown() override {
    const Ran calm = place_->Sim({"calm"});
    EXPECT_EQ(calm.code, 0) << calm.All();
    EXPECT_TRUE(place_->Until("all hosts to be well again", [] {
      return place_->Jobman({"exec", "1", "--", "true"}).code == 0;
    }));
  }

  /// Gives 1 % of the hosts this fault, and returns which.
  static std::vector<int> Strike(std::vector<std::string> fault) {
    fault.insert(fault.begin(), {"host", "*/1%"});
    const Ran struck = place_->Sim(fault);
    EXPECT_EQ(struck.code, 0) << struck.All();
    return HostsIn(struck);
  }

  /// The hosts that the simulator says it has struck.
  static std::vector<int> HostsIn(const Ran& struck) {
    const auto at = struck.out.rfind(": hosts ");
    if (at == std::string::npos) return {};
    std::vector<int> hosts;
    for (const std::string& part : base::Split(struck.out.substr(at + 8), ',')) {
      const std::vector<std::string> ends = base::Split(std::string(base::Trim(part)), '-');
      const int first = static_cast<int>(base::ParseNumber(ends.front()).value_or(-1));
      const int last = static_cast<int>(base::ParseNumber(ends.back()).value_or(-2));
      for (int host = first; host <= last; ++host) hosts.push_back(host);
    }
    return hosts;
  }

  /// The same, and ends connections that were kept. Returns when all earlier orders have been
  /// carried out too, which the simulator does soon after its answer, in their order.
  static std::vector<int> StrikeLast(const std::string& fault) {
    const Ran ended = place_->Sim({"host", "*/*", "hangup"});
    EXPECT_EQ(ended.code, 0) << ended.All();
    const std::vector<int> hosts = Strike({fault});
    EXPECT_FALSE(hosts.empty());
    const std::string host = std::to_string(hosts.empty() ? 0 : hosts.back());
    EXPECT_TRUE(place_->Until("the fault " + fault, [&] {
      const Ran ran = place_->Jobman({"exec", "1", "-w", host, "--", "true"});
      if (testing::Matches(Causes().at(fault))(ran.All())) return true;
      // It connected before the fault struck, and its session was kept.
      EXPECT_EQ(place_->Sim({"host", "*/" + host, "hangup"}).code, 0);
      return false;
    }));
    return hosts;
  }

  static std::unique_ptr<Place> place_;
  static Ran created_;
};

std::unique_ptr<Place> Scale::place_;
Ran Scale::created_;

TEST_F(Scale, AJobRunsOnLightHostsAndIsFollowed) {
  EXPECT_THAT(created_.All(), HasSubstr("SUCCEEDED"));
  for (int host = 0; host < PodSize(); ++host) {
    EXPECT_EQ(place_->Log(1, 1, "run", host), "ready\nI am " + std::to_string(host) + "\n")
        << "a home and a number of its own";
  }
}

TEST_F(Scale, EachFaultIsNamedAndTheOthersAnswer) {
  std::map<int, std::string> struck;
  for (const auto& [fault, cause] : Causes()) {
    if (fault == "refuse") continue;
    for (const int host : Strike({fault})) struck[host] = fault;
  }
  for (const int host : Strike({"slow", "--by", "50ms"})) struck[host] = "slow";
  const std::vector<int> refusing = StrikeLast("refuse");
  for (const int host : refusing) struck[host] = "refuse";
  ASSERT_GE(struck.size(), Causes().size() + 1);

  const Ran ran = place_->Jobman({"--json", "exec", "1", "--patience", "30s", "--",
                                  "head -c 65536 /dev/zero >~/written && hostname"});
  EXPECT_NE(ran.code, 0);
  const auto json = base::ParseJson(ran.out);
  ASSERT_TRUE(json.ok()) << ran.All();
  const base::Json& rows = base::GetMember(*json, "hosts");
  ASSERT_THAT(rows, SizeIs(static_cast<std::size_t>(PodSize())));
  for (const base::Json& row : rows) {
    const auto found = struck.find(static_cast<int>(base::GetInt(row, "host")));
    const std::string fault = found == struck.end() ? "" : found->second;
    const auto cause = Causes().find(fault);
    if (cause != Causes().end()) {
      EXPECT_THAT(base::GetString(row, "error"), cause->second) << fault << ": " << row;
    } else {
      EXPECT_EQ(base::GetMember(row, "exit_code"), 0) << fault << ": " << row;
    }
  }
}

/// By itself, so that a machine where it cannot be tested says so.
TEST_F(Scale, AFullDiskFailsItsHostOnly) {
  const Ran struck = place_->Sim({"host", "*/1%", "full"});
  if (base::Contains(struck.err, "no full disk here")) GTEST_SKIP() << struck.err;
  ASSERT_EQ(struck.code, 0) << struck.All();
  const std::vector<int> full = HostsIn(struck);
  ASSERT_FALSE(full.empty()) << struck.All();
  // A file that is there already would give its room back: it is new, and removed after each try.
  const std::string write = "head -c 65536 /dev/zero >~/new; code=$?; rm -f ~/new; exit $code";
  ASSERT_TRUE(place_->Until("a disk to be full", [&] {
    return place_->Jobman({"exec", "1", "-w", std::to_string(full.back()), "--", write}).code == 1;
  }));

  const Ran ran = place_->Jobman({"--json", "exec", "1", "--", write});
  EXPECT_EQ(ran.code, 1) << ran.err;
  const auto json = base::ParseJson(ran.out);
  ASSERT_TRUE(json.ok()) << ran.All();
  const base::Json& rows = base::GetMember(*json, "hosts");
  ASSERT_THAT(rows, SizeIs(static_cast<std::size_t>(PodSize())));
  for (const base::Json& row : rows) {
    const int host = static_cast<int>(base::GetInt(row, "host"));
    const bool is_full = std::find(full.begin(), full.end(), host) != full.end();
    EXPECT_EQ(base::GetInt(row, "exit_code"), is_full ? 1 : 0) << row;
    if (is_full) {
      EXPECT_THAT(base::GetString(row, "output"), HasSubstr("No space left on device"));
      EXPECT_EQ(base::GetString(row, "odd_output"), "No space left on device");
    }
  }
}

TEST_F(Scale, TheTableNamesTheHostsWithTheirCause) {
  const std::vector<int> strange = Strike({"wrong-key"});
  const std::vector<int> refusing = StrikeLast("refuse");
  ASSERT_FALSE(refusing.empty() || strange.empty());
  const Ran ran = place_->Jobman({"exec", "1", "--", "hostname"});
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("connection refused"));
  EXPECT_THAT(ran.err, HasSubstr("shows the key"));
  const auto answers = std::count(ran.out.begin(), ran.out.end(), '\n');
  EXPECT_EQ(answers, PodSize() - static_cast<int>(refusing.size() + strange.size()));
}

TEST_F(Scale, GarbageAndAnEndlessLineOfOneHostCostTheOthersNothing) {
  const std::string command =
      "case $JOBMAN_SIM_HOST in"
      " *-w-7) head -c 1000000 /dev/urandom; echo; echo rest ;;"
      " *-w-9) head -c 100000000 /dev/zero | tr '\\0' x; echo; echo rest ;;"
      " *) echo fine ;; esac";
  const std::string out = (place_->path() / "out").string();
  const Ran ran = RunProgram({"sh", "-c", "\"$0\" --home \"$1\" exec 1 -- \"$2\" >\"$3\"",
                              JOBMAN_BIN_DIR "/jobman", place_->home().string(), command, out});
  EXPECT_EQ(ran.code, 0) << ran.err;
  int fine = 0;
  int rest = 0;
  std::size_t longest = 0;
  std::size_t bytes = 0;
  std::ifstream file(out, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    fine += line.ends_with("| fine") ? 1 : 0;
    rest += line.ends_with("| rest") ? 1 : 0;
    longest = std::max(longest, line.size());
    bytes += line.size();
  }
  EXPECT_EQ(fine, PodSize() - 2);
  EXPECT_EQ(rest, 2);
  EXPECT_GE(bytes, std::size_t{100'000'000});
  EXPECT_LT(longest, std::size_t{1'000'000}) << "an endless line is shown in pieces";
  EXPECT_THAT(ran.err, ContainsRegex("\n7 +0 +[^ ]+ +binary data\n"));
  EXPECT_THAT(ran.err, ContainsRegex("\n9 +0 +[^ ]+ +a line of over 1 MB\n"));
}

/// The others are asked when the stream of one is here, and it goes on until all their answers are.
TEST_F(Scale, AHostThatPrintsWithoutEndDoesNotSilenceTheOthers) {
  const std::string command = "cd " + place_->path().string() + R"sh(
    case $JOBMAN_SIM_HOST in
      *-w-7) until [ -e answered ]; do head -c 1000000 /dev/zero | tr '\0' x | fold -w 1000; done ;;
      *) until [ -e streams ]; do sleep 1; done; echo fine ;;
    esac)sh";
  const std::string others = std::to_string(PodSize() - 1);
  const Ran ran = RunProgram({"sh", "-c", R"sh(cd "$1"
    { "$0" --home "$2" -q exec 1 --timeout 5m -- "$3"; echo "code $?" >&2; } | awk -v others="$4" '
      /^host 0*7 / && !streams { streams = 1; system(": >streams") }
      / fine$/ && ++fine == others { system(": >answered") }
      END { print fine }')sh",
                              JOBMAN_BIN_DIR "/jobman", place_->path().string(),
                              place_->home().string(), command, others});
  EXPECT_EQ(ran.out, others + "\n");
  EXPECT_THAT(ran.err, HasSubstr("code 0\n")) << "it streams until its time is over";
}

}  // namespace
}  // namespace jobman::test
