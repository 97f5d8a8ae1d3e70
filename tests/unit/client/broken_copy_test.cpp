// Copies that break off, and go on from what arrived.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "client/copy_parts.hpp"
#include "tests/unit/client/copy_fixture.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// The connection breaks after all was sent: nobody knows whether it arrived.
TEST_F(CopyTest, WithoutAnAnswerNothingGetsItsName) {
  shell_ = &hosts_;
  hosts_.LoseAnswers(1, 1);  // that of receive
  Write(Here("a"), "A");
  const auto context = Context();
  const CopyPlan plan{.to_hosts = true, .sources = {Here("a")}, .to = "new"};
  const auto copied = CopyToHosts(context, Hosts(1), plan, {});
  ASSERT_TRUE(copied.ok()) << copied.error().ToString();
  ASSERT_TRUE(copied->hosts[0].error);
  EXPECT_THAT(copied->hosts[0].error->hint, HasSubstr("is kept in .jobman-cp-"));
  EXPECT_FALSE(fs::exists(hosts_.HomeOf("h0") / "new"));
  const auto again = CopyToHosts(context, Hosts(1), plan, {});
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  ASSERT_FALSE(again->hosts[0].error) << again->hosts[0].error->ToString();
  EXPECT_EQ(again->hosts[0].bytes, 0) << "all had arrived";
  EXPECT_EQ(again->hosts[0].resumed, again->bytes);
  EXPECT_THAT(NamesIn(hosts_.HomeOf("h0")), ElementsAre("new"));
}

/// Hosts whose connection breaks in the middle: after so many bytes of input or output.
class BreakingShell final : public ports::HostShell {
 public:
  explicit BreakingShell(ports::HostShell* hosts) : hosts_(hosts) {}
  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override {
    if (!command.pace || breaks == 0)
      co_return co_await hosts_->Run(target, std::move(command), std::move(out), std::move(err));
    --breaks;
    const std::shared_ptr<ports::Pace> pace = std::exchange(command.pace, nullptr);
    while (command.input.size() < after) {
      JM_CO_ASSIGN_OR_RETURN(const auto piece, pace->NextInput());
      if (piece && piece->empty()) break;
      if (piece) command.input += *piece;
      if (!piece) co_await base::Yield();
    }
    command.input.resize(lost ? 0 : std::min(command.input.size(), after));
    std::size_t room = after;
    const ports::ByteSink some = [&room, &out](std::string_view bytes) -> base::Status {
      const std::string_view part = bytes.substr(0, room);
      room -= part.size();
      return out && !part.empty() ? out(part) : base::Ok();
    };
    JM_CO_TRY(co_await hosts_->Run(target, std::move(command), some, std::move(err)));
    base::Error broke{.code = base::Code::kUnavailable,
                      .message = target->address + ": the connection broke",
                      .reason = base::Reason::kConnectionBroke};
    co_return broke;
  }
  void Drop(const ports::HostTarget&) override {}
  int breaks = 1;
  bool lost = false;  ///< what is sent never arrives
  std::size_t after = 1'000'000;

 private:
  ports::HostShell* hosts_;
};

/// A copy of 3 MB in both directions that breaks after 1 MB.
class BrokenCopy : public CopyTest {
 protected:
  BrokenCopy() { shell_ = &breaking_; }
  /// Text in which no part is like another.
  static std::string Text(int seed) {
    std::string text;
    while (text.size() < 3'000'000) text += std::to_string(seed++) + "\n";
    return text;
  }
  Copied::Host Copy(const CopyPlan& plan) {
    const auto context = Context();
    auto copied = plan.to_hosts ? CopyToHosts(context, Hosts(1), plan, {})
                                : CopyFromHosts(context, Hosts(1), plan, false, {});
    EXPECT_TRUE(copied.ok()) << copied.error().ToString();
    return copied.ok() ? copied->hosts.at(0) : Copied::Host{};
  }
  base::Path There(const std::string& name) { return hosts_.HomeOf("h0") / name; }
  /// The copy of `from` to `to`, and what is left beside it when it broke off.
  void GoesOn(const CopyPlan& plan, const base::Path& from, const base::Path& to) {
    Write(from, Text(1));
    fs::create_directories(to.parent_path());
    const Copied::Host broke = Copy(plan);
    ASSERT_TRUE(broke.error);
    EXPECT_EQ(broke.error->reason, base::Reason::kConnectionBroke);
    EXPECT_THAT(broke.error->hint, HasSubstr("is kept in .jobman-cp-"));
    EXPECT_FALSE(fs::exists(to));
    EXPECT_THAT(NamesIn(to.parent_path()), ElementsAre(testing::StartsWith(".jobman-cp-")));
    const Copied::Host done = Copy(plan);
    ASSERT_FALSE(done.error) << done.error->ToString();
    EXPECT_EQ(done.resumed, 1'000'000);
    EXPECT_GT(done.bytes, 2'000'000);
    EXPECT_LT(done.bytes, 2'100'000);
    EXPECT_TRUE(Read(to) == Read(from));
    EXPECT_THAT(NamesIn(to.parent_path()), ElementsAre(to.filename().string()));
  }
  /// Never the beginning of one version and the end of another.
  void BeginsAnewForAnotherVersion(const CopyPlan& plan, const base::Path& from,
                                   const base::Path& to) {
    Write(from, Text(1));
    fs::create_directories(to.parent_path());
    EXPECT_TRUE(Copy(plan).error);
    Write(from, Text(2));
    const Copied::Host done = Copy(plan);
    ASSERT_FALSE(done.error) << done.error->ToString();
    EXPECT_EQ(done.resumed, 0);
    EXPECT_GT(done.bytes, 3'000'000);
    EXPECT_TRUE(Read(to) == Text(2));
    EXPECT_THAT(NamesIn(to.parent_path()), ElementsAre(to.filename().string()));
  }
  CopyPlan Up() { return {.to_hosts = true, .sources = {Here("big")}, .to = ""}; }
  CopyPlan Down() { return {.sources = {"big"}, .to = Here()}; }
  BreakingShell breaking_{&hosts_};
};

TEST_F(BrokenCopy, ToAHostGoesOnFromWhatArrived) {
  GoesOn(Up(), Here("big"), There("big"));
}
TEST_F(BrokenCopy, FromAHostGoesOnFromWhatArrived) {
  GoesOn(Down(), There("big"), Here("big"));
}
TEST_F(BrokenCopy, ToAHostBeginsAnewWhenTheFileChanged) {
  BeginsAnewForAnotherVersion(Up(), Here("big"), There("big"));
}
TEST_F(BrokenCopy, FromAHostBeginsAnewWhenTheFileChanged) {
  BeginsAnewForAnotherVersion(Down(), There("big"), Here("big"));
}

/// As after the host lost power: the length is there, the content is not.
TEST_F(BrokenCopy, WhatArrivedIsComparedAndNotTrusted) {
  Write(Here("big"), Text(1));
  EXPECT_TRUE(Copy(Up()).error);
  for (const auto& one : fs::directory_iterator(hosts_.HomeOf("h0"))) {
    const auto size = fs::file_size(one.path() / "archive");
    ASSERT_EQ(size, 1'000'000U);
    Write(one.path() / "archive", std::string(size, '\0'));
  }
  const Copied::Host done = Copy(Up());
  ASSERT_FALSE(done.error) << done.error->ToString();
  EXPECT_EQ(done.resumed, 0);
  EXPECT_TRUE(Read(There("big")) == Text(1));
}

/// Two hosts with one folder: what the first of them made there is the target of the second, too,
/// also when it goes on with what it has in a later call.
class SharedTarget : public BrokenCopy {
 protected:
  SharedTarget() {
    Write(Here("dir/big"), Text(1));
    fs::create_directories(Here("shared"));
  }
  CopyPlan Plan() { return {.to_hosts = true, .sources = {Here("dir")}, .to = Here("shared/new")}; }
  std::vector<Copied::Host> CopyToBoth(const CopyPlan& plan, const CopyProgress& progress = {}) {
    const auto context = Context();
    auto copied = CopyToHosts(context, Hosts(2), plan, progress);
    EXPECT_TRUE(copied.ok()) << copied.error().ToString();
    return copied.ok() ? copied->hosts : std::vector<Copied::Host>(2);
  }
  void ExpectWhole(const std::vector<Copied::Host>& hosts) {
    for (const Copied::Host& host : hosts) {
      EXPECT_FALSE(host.error) << host.host << ": " << host.error->ToString();
    }
    EXPECT_THAT(NamesIn(Here("shared")), ElementsAre("new")) << "nothing is left beside it";
    EXPECT_THAT(NamesIn(Here("shared/new")), ElementsAre("big"));
    EXPECT_TRUE(Read(Here("shared/new/big")) == Text(1));
  }
};

TEST_F(SharedTarget, BothHostsGiveItTheSameName) {
  breaking_.breaks = 0;
  ExpectWhole(CopyToBoth(Plan()));
  for (const Copied::Host& host : CopyToBoth(Plan())) EXPECT_FALSE(host.error);
  EXPECT_THAT(NamesIn(Here("shared/new")), ElementsAre("big", "dir")) << "as with cp itself";
}

TEST_F(SharedTarget, AHostThatComesLateFindsWhatTheOtherMade) {
  breaking_.breaks = 0;
  hosts_.Unplug("h1");
  CopyPlan plan = Plan();
  plan.patience = std::chrono::minutes{1};
  ExpectWhole(CopyToBoth(plan, [this](const CopyState&) {
    if (fs::exists(Here("shared/new"))) hosts_.PlugIn("h1");
  }));
}

TEST_F(SharedTarget, ACopyThatBrokeOffGoesOnToTheSameName) {
  const auto broke = CopyToBoth(Plan());
  const int late = broke[0].error ? 0 : 1;
  EXPECT_TRUE(broke[static_cast<std::size_t>(late)].error);
  EXPECT_FALSE(broke[static_cast<std::size_t>(1 - late)].error);
  EXPECT_THAT(NamesIn(Here("shared/new")), ElementsAre("big"));
  const auto done = CopyToBoth(Plan());
  ExpectWhole(done);
  EXPECT_EQ(done[static_cast<std::size_t>(late)].resumed, 1'000'000);
}

/// One host was ended while it gave the copy its name; what it had unpacked is not whole.
TEST_F(SharedTarget, ACommitThatWasEndedHasTheSameNameStill) {
  breaking_.breaks = 0;
  Write(Here("shared/new/big"), "half");
  Write(Here("shared/" + CopyFolder(Context(), Plan()) + "-0/unpacked/dir/more"), "half");
  ExpectWhole(CopyToBoth(Plan()));
}

/// The first call reached one host of the two, and left its mark there. The second broke off, and
/// the source was changed before the third: what the second left is of no use.
TEST_F(SharedTarget, WhatIsOfNoUseAnyMoreStillTellsTheName) {
  breaking_.breaks = 0;
  Write(Here("shared/new/big"), "of the first call");
  Write(Here("shared/" + CopyFolder(Context(), Plan()) + "-0/archive"), "of the second");
  ExpectWhole(CopyToBoth(Plan()));
}

volatile std::sig_atomic_t terms = 0;

/// Hosts may share the folder: the number of a process there is somebody else's here.
TEST_F(BrokenCopy, WhoHoldsTheFolderOnAnotherHostIsNotKilledHere) {
  Write(Here("big"), Text(1));
  EXPECT_TRUE(Copy(Up()).error);
  const base::Path scratch = fs::directory_iterator(hosts_.HomeOf("h0"))->path();
  const base::UniqueFd lock(open((scratch / "lock").c_str(), O_RDWR | O_TRUNC | O_CLOEXEC));
  ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
  dprintf(lock.get(), "%d boot-of-another-host\n", static_cast<int>(getpid()));
  std::signal(SIGTERM, [](int) { terms = terms + 1; });
  const Copied::Host refused = Copy(Up());
  std::signal(SIGTERM, SIG_DFL);
  EXPECT_EQ(terms, 0);
  ASSERT_TRUE(refused.error);
  EXPECT_THAT(refused.error->message, HasSubstr("another copy of the same is at work there"));
}

TEST_F(BrokenCopy, WithPatienceTheSameCallGoesOn) {
  Write(Here("big"), Text(1));
  CopyPlan plan = Up();
  plan.patience = std::chrono::minutes{1};
  const Copied::Host done = Copy(plan);
  ASSERT_FALSE(done.error) << done.error->ToString();
  EXPECT_EQ(done.resumed, 1'000'000);
  EXPECT_TRUE(Read(There("big")) == Text(1));
}

/// It is given to the connection each time, but the host never has more.
TEST_F(BrokenCopy, PatienceEndsWhenNothingArrives) {
  breaking_.breaks = 1'000'000;
  breaking_.lost = true;
  Write(Here("big"), Text(1));
  CopyPlan plan = Up();
  plan.patience = std::chrono::seconds{1};
  EXPECT_TRUE(Copy(plan).error);
}

TEST_F(BrokenCopy, WhatNobodyTookUpAgainIsRemovedADayLater) {
  Write(Here("big"), Text(1));
  Write(Here("other"), "other");
  EXPECT_TRUE(Copy(Up()).error);
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours{25};
  for (const auto& one : fs::directory_iterator(hosts_.HomeOf("h0"))) {
    for (const auto& part : fs::directory_iterator(one.path()))
      fs::last_write_time(part.path(), old);
    fs::last_write_time(one.path(), old);
  }
  EXPECT_FALSE(Copy({.to_hosts = true, .sources = {Here("other")}, .to = ""}).error);
  EXPECT_THAT(NamesIn(hosts_.HomeOf("h0")), ElementsAre("other"));

  breaking_.breaks = 1;
  Write(There("big"), Text(1));
  fs::create_directories(Here("in"));
  EXPECT_TRUE(Copy({.sources = {"big"}, .to = Here("in")}).error);
  for (const auto& one : fs::directory_iterator(Here("in")))
    fs::last_write_time(one.path() / "archive", old);
  EXPECT_FALSE(Copy({.sources = {"other"}, .to = Here("in")}).error);
  EXPECT_THAT(NamesIn(Here("in")), ElementsAre("other"));
}

TEST_F(CopyTest, AnInterruptKeepsWhatArrivedAndTheNextCallUsesIt) {
  shell_ = &hosts_;
  Write(Here("a"), "A");
  const base::Path there = hosts_.HomeOf("h0");
  const auto context = Context();
  const CopyPlan plan{.to_hosts = true, .sources = {Here("a")}, .to = ""};
  int told = 0;
  const auto copied = CopyToHosts(context, Hosts(2), plan, [&](const CopyState&) {
    if (++told == 1) ::raise(SIGINT);
  });
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().code, base::Code::kCancelled);
  EXPECT_THAT(copied.error().message,
              testing::AllOf(HasSubstr("interrupted; 0 of 2 hosts have the copy"),
                             HasSubstr("is kept in " + CopyFolder(context, plan))));
  EXPECT_FALSE(fs::exists(there / "a"));
  const auto again = CopyToHosts(context, Hosts(2), plan, {});
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  ASSERT_FALSE(again->hosts[0].error) << again->hosts[0].error->ToString();
  EXPECT_EQ(Read(there / "a"), "A");
  EXPECT_THAT(NamesIn(there), ElementsAre("a"));
}

}  // namespace
}  // namespace jobman::client
