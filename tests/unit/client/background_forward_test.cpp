// Records of forwards in the background: whose process it is, and what may be done to it.
#include "jobman/client/background_forward.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>

#include "client/forward_record.hpp"
#include "jobman/controller/controller.hpp"
#include "tests/support/paused_child.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;

/// A process that has a record, as one that forwards.
class Recorded : public test::PausedChild {
 public:
  Recorded(const base::StatePaths& paths, const ForwardNote& note, bool ignores_term = false)
      : PausedChild([&](const Say& say) { Record(paths, note, say); }, ignores_term) {
    EXPECT_EQ(said(), "y");
  }

 private:
  static void Record(const base::StatePaths& paths, ForwardNote own, const Say& say) {
    if (own.forward.process.empty()) own.forward.process = controller::LeaseHolder();
    auto record = ForwardRecord::Create(paths, own.forward.id);
    say(record.ok() && record->Write(own).ok() ? "y" : "n");
  }
};

class BackgroundForwards : public test::ClientWorld {
 protected:
  BackgroundForwards() {
    on_pause_ = [this] {
      base::RunTask(loop_, base::Sleep(std::chrono::milliseconds{5}));
      return true;
    };
  }
  base::StatePaths Paths() const { return {.home = home_.path()}; }
  static ForwardNote NoteFor(const std::string& id, std::int64_t job, int port) {
    ForwardNote note;
    note.forward.id = id;
    note.forward.request = {
        .job = core::JobId{job}, .host = 1, .ports = {{.local = port, .remote = 6006}}};
    note.forward.job_name = "train";
    return note;
  }
  SeenForwards Look() const {
    auto seen = LookAtForwards(Paths());
    EXPECT_TRUE(seen.ok());
    return seen.ok() ? *std::move(seen) : SeenForwards{};
  }
  bool HasFile(const std::string& name) const {
    return std::filesystem::exists(Paths().ForwardsDir() / name);
  }
};

TEST_F(BackgroundForwards, AreNoneWithoutAFolder) {
  EXPECT_TRUE(Look().running.empty());
  EXPECT_TRUE(Look().ended.empty());
}

TEST_F(BackgroundForwards, RunAsLongAsTheirProcess) {
  Recorded one(Paths(), NoteFor("0a", 1, 7001));
  ASSERT_EQ(Look().running.size(), 1U);
  const BackgroundForward seen = Look().running.front();
  EXPECT_EQ(PidOf(seen), one.pid());
  EXPECT_TRUE(seen.here);
  EXPECT_EQ(seen.request.host, 1);
  EXPECT_EQ(seen.request.ports.front().local, 7001);
  EXPECT_EQ(seen.job_name, "train");
  ASSERT_TRUE(base::WriteFileAtomic(LogOf(Paths(), seen), "said\n").ok());
  one.Kill();
  const SeenForwards after = Look();
  EXPECT_TRUE(after.running.empty());
  ASSERT_EQ(after.ended.size(), 1U);
  EXPECT_EQ(after.ended.front().why, "its process has ended");
  EXPECT_FALSE(HasFile("0a.json"));
  EXPECT_FALSE(HasFile("0a.log"));
  EXPECT_TRUE(Look().ended.empty());
}

TEST_F(BackgroundForwards, SayWhyTheyEndedIfTheyKnew) {
  ForwardNote note = NoteFor("0a", 1, 7001);
  note.ended = "job 000001 is deleted";
  { const Recorded one(Paths(), note); }
  const SeenForwards seen = Look();
  ASSERT_EQ(seen.ended.size(), 1U);
  EXPECT_EQ(seen.ended.front().why, "job 000001 is deleted");
}

TEST_F(BackgroundForwards, StopEndsThem) {
  Recorded one(Paths(), NoteFor("0a", 1, 7001));
  Recorded other(Paths(), NoteFor("0b", 2, 7002), true);  // SIGTERM does nothing
  for (const BackgroundForward& forward : Look().running) {
    const base::Status stopped = StopForward(Context(), forward);
    EXPECT_TRUE(stopped.ok()) << stopped.error().ToString();
  }
  EXPECT_TRUE(one.Ended());
  EXPECT_TRUE(other.Ended());
  EXPECT_FALSE(HasFile("0a.json"));
  EXPECT_FALSE(HasFile("0b.json"));
}

/// The record names a process with this id that started at another time, or nobody holds its lock.
TEST_F(BackgroundForwards, StopLeavesProcessesOfOthersAlone) {
  Recorded bystander(Paths(), NoteFor("0a", 1, 7001));
  BackgroundForward seen = Look().running.front();
  const std::string pid = ":" + std::to_string(bystander.pid()) + ":";
  const auto at = seen.process.find(pid);
  ASSERT_NE(at, std::string::npos);
  BackgroundForward earlier = seen;
  earlier.process.replace(at, pid.size(), pid + "1");  // of another start
  EXPECT_TRUE(StopForward(Context(), earlier).ok());
  EXPECT_FALSE(bystander.Ended());
  EXPECT_TRUE(HasFile("0a.json"));  // its lock is held
  BackgroundForward unlocked = seen;
  unlocked.id = "0c";
  ASSERT_TRUE(base::WriteFileAtomic(ForwardFile(Paths(), "0c"), "{}").ok());
  EXPECT_TRUE(StopForward(Context(), unlocked).ok());
  EXPECT_FALSE(bystander.Ended());
  BackgroundForward elsewhere = seen;
  elsewhere.here = false;
  const base::Status refused = StopForward(Context(), elsewhere);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kFailedPrecondition);
  EXPECT_FALSE(bystander.Ended());
}

TEST_F(BackgroundForwards, OfAnotherMachineAreShownAndNotTouched) {
  ForwardNote note = NoteFor("0a", 1, 7001);
  note.forward.process = "elsewhere:boot/pid-[1]:4711:99:abcd";
  { const Recorded one(Paths(), note); }
  ASSERT_EQ(Look().running.size(), 1U);
  EXPECT_FALSE(Look().running.front().here);
  EXPECT_EQ(PidOf(Look().running.front()), 4711);
}

TEST_F(BackgroundForwards, WhatIsNoRecordIsRemovedUnlessItIsBeingWritten) {
  const std::map<std::string, std::string> bad = {
      {"0a", ""},
      {"0b", "[1]"},
      {"0c", R"({"process": "h:w:1:2:3", "ports": [{"local": 70000}]})"},
      {"0e", R"({"process": "x", "ports": []})"}};
  ASSERT_TRUE(base::EnsureDir(Paths().ForwardsDir()).ok());
  for (const auto& [id, text] : bad)
    ASSERT_TRUE(base::WriteFileAtomic(ForwardFile(Paths(), id), text).ok());
  const auto begun = ForwardRecord::Create(Paths(), "0d");
  ASSERT_TRUE(begun.ok());
  EXPECT_TRUE(Look().running.empty());
  for (const auto& [id, text] : bad) EXPECT_FALSE(HasFile(id + ".json")) << text;
  EXPECT_TRUE(HasFile("0d.json"));
}

TEST_F(BackgroundForwards, AreNamedByPortOrJob) {
  const auto of = [](const std::string& id, std::int64_t job, int port) {
    return NoteFor(id, job, port).forward;
  };
  const std::vector<BackgroundForward> all = {of("a", 1, 7001), of("b", 1, 7002),
                                              of("c", 7001, 7003)};
  const auto named = [&all](const std::string& word) {
    std::string ids;
    const auto found = ForwardsNamed(all, word);
    if (!found.ok()) return std::string(base::CodeName(found.error().code));
    for (const BackgroundForward& one : *found) ids += one.id;
    return ids;
  };
  EXPECT_EQ(named("all"), "abc");
  EXPECT_EQ(named("7002"), "b");
  EXPECT_EQ(named("127.0.0.1:7001"), "a");
  EXPECT_EQ(named("1"), "ab");
  EXPECT_EQ(named("000001"), "ab");
  EXPECT_EQ(named("007001"), "c");
  EXPECT_EQ(named("train"), "abc");
  EXPECT_EQ(named("7001"), base::CodeName(base::Code::kInvalidArgument));
  EXPECT_EQ(named("6006"), base::CodeName(base::Code::kNotFound));
  EXPECT_EQ(named(""), base::CodeName(base::Code::kNotFound));
  EXPECT_EQ(ForwardsNamed({}, "all")->size(), 0U);
  EXPECT_THAT(ForwardsNamed(all, "7001").error().hint, HasSubstr("127.0.0.1:7001 is the port"));
}

}  // namespace
}  // namespace jobman::client
