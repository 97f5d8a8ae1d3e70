// A request was accepted, and its slice comes late or never.
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SliceAwaited : public RehearsalInEachWay {
 protected:
  /// The request is given up and sent again, without using a budget.
  void ComesAnew(const std::string& why) {
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EXPECT_THAT(History(), AllOf(HasSubstr(why), HasSubstr(": trying again in ")));
    EXPECT_EQ(Attempt(), 2);
    EXPECT_EQ(Creates(), 2 * way().Requests());
    EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
    EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
  }
};
/// Without and with a queued resource.
class NodesAwaited : public SliceAwaited {};
class QueueAwaited : public SliceAwaited {};

TEST_P(NodesAwaited, NoCapacity) {
  Sim({"fault", "nodes.create", "stockout"});
  Create("true", way().Settings());
  ComesAnew("There is no more capacity in the zone \"us-central2-b\"");
}

/// They request one at a time with growing waits, not fifty times as often as one job.
class FiftyJobs : public Rehearsal {};

TEST_F(FiftyJobs, WaitForAZoneTogether) {
  Sim({"set", "stock.us-central2-b/v4=0"});
  Create("true", kDirectly.Settings());
  EXPECT_TRUE(WhySays("There is no more capacity"));
  const std::string file = place().JobFile("other", 1, "true");
  std::vector<std::string> remove = {"delete", "--wait"};
  for (int job = 0; job < 49; ++job) {
    const Ran ran = Jobman({"-q", "create", file, "--set", "tpu.allocation_mode=tpu-vm"});
    ASSERT_EQ(ran.code, 0) << ran.All();
    remove.emplace_back(base::Trim(ran.out));
  }
  for (std::size_t job = 2; job < remove.size(); ++job) {
    ASSERT_TRUE(place().Reaches(remove[job], "BACKOFF")) << remove[job];
  }
  EXPECT_THAT(Jobman({"why", remove.back()}).out, HasSubstr("was just refused"));
  EXPECT_LE(Creates(), 12) << "by fifty jobs";
  EXPECT_EQ(Jobman(remove).code, 0);
}

TEST_P(QueueAwaited, ARequestThatFailsWithAnInternalError) {
  Sim({"fault", "queuedResources.create", "opaque"});
  Create("true", way().Settings());
  ComesAnew("an internal error has occurred");
}

TEST_P(QueueAwaited, ARequestThatFailsDuringProvisioning) {
  Sim({"fault", "queuedResources.create", "gives_up"});
  Create("true", way().Settings());
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_EQ(Creates(), 2);
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
}

/// Like a DNS failure, or another PATH in cron: the job waits, and loses nothing.
class NoToken : public Rehearsal {};

TEST_F(NoToken, IsAwaited) {
  // By its address: `cloud: local` uses the simulator's own token only.
  const base::Path token = place().path() / "token";
  const std::string good = base::ReadFile(place().SimTokenFile()).value_or("");
  ASSERT_TRUE(base::WriteFileAtomic(token, good).ok());
  const auto sim = base::ParseJson(base::ReadFile(place().home() / "sim/sim.json").value_or(""));
  const std::string port = std::to_string(base::GetInt(*sim, "ssh_port"));
  Sim({"set", "stock.us-central2-b/v4=0"});
  Create("true", kDirectly.Settings({"cloud.endpoint=" + place().SimEndpoint(),
                                     "cloud.token_command=cat " + token.string(),
                                     "ssh.port=" + port, "tpu.project=sim"}));
  ASSERT_TRUE(WhySays("There is no more capacity"));
  ASSERT_EQ(Jobman({"controller", "stop"}).code, 0);  // it keeps a token for an hour
  ASSERT_TRUE(std::filesystem::remove(token));
  place().StartController({"--poll", "1"});
  EXPECT_TRUE(WhySays("run it by hand"));
  EXPECT_NE(StateOf(), "FAILED");
  ASSERT_TRUE(base::WriteFileAtomic(token, good).ok());
  Sim({"set", "stock.us-central2-b/v4=8"});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
}

TEST_P(QueueAwaited, ARequestThatFailsForAnotherReason) {
  Sim({"fault", "queuedResources.create", "waits_forever"});
  Create("true", way().Settings());
  ASSERT_TRUE(Reaches("WAITING"));
  Sim({"fail", Slice(), "--code", "9", "--message", "the network is not there"});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_THAT(History(), HasSubstr("the network is not there: trying again in "));
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 1");
  EXPECT_EQ(Creates(), 2);
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
}

TEST_P(QueueAwaited, DaysInTheQueue) {
  Sim({"fault", "queuedResources.create", "waits_forever"});
  Create("true", way().Settings());
  const std::string wanted = way().nodes > 1 ? "2 x v4-8" : "v4-8";
  EXPECT_TRUE(WhySays("capacity for " + wanted + " in us-central2-b, for 3"));  // seconds
  EXPECT_EQ(StateOf(), "WAITING");
  EXPECT_EQ(Creates(), way().Requests());
  EXPECT_EQ(Deletes(), 0) << "it keeps its place in the queue";
  Sim({"calm"});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_EQ(Attempt(), 1);
}

TEST_P(QueueAwaited, ValidUntilADurationExpires) {
  Sim({"fault", "queuedResources.create", "waits_forever"});
  Create("true", way().Settings({"tpu.valid_until=20s"}));
  EXPECT_TRUE(WhySays("tpu.valid_until ends the wait in "));
  ComesAnew("slice " + Slice() + " found no capacity within tpu.valid_until, 20s");
}

TEST_P(QueueAwaited, ValidUntilATimeExpires) {
  Sim({"fault", "queuedResources.create", "waits_forever"});
  const auto now = std::chrono::time_point_cast<base::Duration>(std::chrono::system_clock::now());
  const std::string until = base::FormatRfc3339(now + std::chrono::seconds{30});
  Create("true", way().Settings({"tpu.valid_until=" + until}));
  EXPECT_TRUE(WhySays("tpu.valid_until ends the wait in "));
  ASSERT_TRUE(Reaches("FAILED"));
  EXPECT_EQ(ExitCode(), 4);
  EXPECT_THAT(Jobman({"why", id()}).out,
              AllOf(HasSubstr("tpu.valid_until, " + until + ", has passed"),
                    HasSubstr("create the job again with a later tpu.valid_until")));
  EXPECT_EQ(Creates(), way().Requests());
  ASSERT_TRUE(place().Until("the dead slice to be deleted", [&] { return Deletes() > 0; }));
  EXPECT_EQ(Jobman({"resume", id(), "--wait"}).code, 4) << "the request would be refused";
  EXPECT_EQ(Creates(), way().Requests());
}

/// With --provisioning-limit 20 s instead of an hour.
class SliceThatDoesNotCome : public SliceAwaited {
 protected:
  static void SetUpTestSuite() { StartSuite({"--provisioning-limit", "20"}); }
};

TEST_P(SliceThatDoesNotCome, IsGivenUp) {
  Sim({"fault", "*.create", "provisions_forever"});
  Create("true", way().Settings());
  EXPECT_TRUE(WhySays("PROVISIONING"));
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_THAT(History(), HasSubstr("slice " + Slice() + " was not ready within 20s: trying again"));
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 1");
  EXPECT_EQ(Creates(), 2 * way().Requests());
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
}

TEST_P(SliceAwaited, LostBeforeItsFirstUse) {
  Sim({"fault", "*.create", "provisions_forever"});
  Create("true", way().Settings());
  ASSERT_TRUE(Reaches("PROVISIONING"));
  Sim({"preempt", way().Node(Slice())});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_THAT(History(), HasSubstr(" before it was used: trying again"));
  // A queued resource that is suspended before use found no capacity.
  EXPECT_EQ(Spent(),
            way().direct ? "preemption 1, failure 0, infra 0" : "preemption 0, failure 0, infra 0");
  EXPECT_EQ(Creates(), 2 * way().Requests());
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
}

class SliceRepaired : public RehearsalInEachWay {};

TEST_P(SliceRepaired, BeforeItWasReady) {
  Sim({"fault", "*.create", "provisions_forever"});
  Create("true", way().Settings());
  ASSERT_TRUE(Reaches("PROVISIONING"));
  Sim({"show", way().Node(Slice()), "state=REPAIRING"});
  if (way().direct) {  // otherwise the state of the queued resource counts
    EXPECT_TRUE(WhySays("slice " + Slice() + " is REPAIRING"));
  }
  Sim({"calm"});
  Sim({"show", way().Node(Slice()), "state=null"});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_EQ(Attempt(), 1);
  EXPECT_EQ(Deletes(), 0);
}

TEST_P(SliceAwaited, NotFoundRightAfterItsCreate) {
  Sim({"set", "guesses.create_visible_after=3s"});
  Create("true", way().Settings());
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  Sim({"set", "guesses.create_visible_after=0"});
  EXPECT_EQ(Attempt(), 1);
  EXPECT_EQ(Creates(), way().Requests());
  EXPECT_EQ(Deletes(), 0);
}

// libcurl repeats a request when a kept connection breaks, and a listing may precede the answer. In
// any case there is one slice.
TEST_P(SliceAwaited, ACreateWhoseAnswerIsLost) {
  Sim({"fault", "*.create", "drop_reply", "--times", "10"});
  Create("true", way().Settings());
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_THAT(Cloud(), AllOf(HasSubstr(Slice(1)), Not(HasSubstr(Slice(2)))));
  EXPECT_EQ(Attempt(), 1);
  EXPECT_EQ(Deletes(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, SliceAwaited, kEachWay, NameOf);
INSTANTIATE_TEST_SUITE_P(Ways, SliceThatDoesNotCome, kEachWay, NameOf);
INSTANTIATE_TEST_SUITE_P(Ways, SliceRepaired, kEachWay, NameOf);
INSTANTIATE_TEST_SUITE_P(Ways, NodesAwaited, testing::Values(kDirectly, kDirectTwo), NameOf);
INSTANTIATE_TEST_SUITE_P(Ways, QueueAwaited, testing::Values(kQueued, kQueuedTwo), NameOf);

}  // namespace
}  // namespace jobman::test
