// keys: what is asked and refused, and how it is shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/views/guests.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/lend.hpp"
#include "tests/support/public_keys.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class KeysCommands : public testing::Test {
 protected:
  KeysCommands() {
    world_.open_cloud = Lend(cloud_);
    world_.fill = [this](MemoryStore& store) {
      const auto id = store.Create(JobBuilder().Build(), "", world_.clock.Now());
      core::Job job = *store.Get(*id);
      job.wish_new = false;
      job.attempt = 1;
      job.state = core::Running{};
      job = WithHosts(job, 2);
      cloud_.AddNode({.id = job.slice->ref.name, .zone = job.slice->ref.place.zone});
      EXPECT_TRUE(store.Commit({.job = job}, 0).ok());
      for (const core::Guest& guest : guests_) EXPECT_TRUE(store.SetGuest({}, guest).ok());
    };
  }
  std::string File(const std::string& text) {
    const auto file = world_.paths().home / "key.pub";
    std::ofstream(file) << text;
    return file.string();
  }
  std::string AnnFile() { return File(std::string(kEd25519Key) + " ann@laptop\n"); }

  CliWorld world_;
  FakeSliceApi cloud_{world_.clock};
  std::vector<core::Guest> guests_ = {};
};

TEST_F(KeysCommands, ARecordThatCannotBeUsedIsNamedAndKeepsNobodyElse) {
  guests_ = {Bob()};
  const core::Guest ann = GuestWith(kEd25519Key, "ann");
  world_.fill = [fill = world_.fill, ann](MemoryStore& store) {
    fill(store);
    const base::Error damaged{.code = base::Code::kDataLoss,
                              .message = "the record of ann is damaged",
                              .hint = "drop it"};
    store.unread_guests = {{.login = {.user = ann.user, .key = ann.key}, .error = damaged}};
  };
  const int damaged = world_.Run({"keys", "remove", "ann", "--yes"}).exit_code;
  EXPECT_NE(damaged, 0);
  const auto listed = world_.Run({"keys", "list"});
  EXPECT_EQ(listed.exit_code, damaged);
  EXPECT_THAT(listed.out, HasSubstr("bob"));
  EXPECT_THAT(listed.err, HasSubstr("the record of ann is damaged; drop it"));
  const auto quiet = world_.Run({"keys", "list", "-q"});
  EXPECT_EQ(quiet.exit_code, damaged);
  EXPECT_THAT(quiet.err, HasSubstr("the record of ann is damaged")) << "an error is told";
  const auto again = world_.Run({"keys", "add", AnnFile(), "--yes"});
  EXPECT_EQ(again.exit_code, damaged);
  EXPECT_THAT(again.err, HasSubstr("the record of ann is damaged"));
  const auto other = world_.Run({"keys", "add", AnnFile(), "--user", "eve", "--yes"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  const auto removed = world_.Run({"keys", "remove", "bob", "--yes"});
  EXPECT_EQ(removed.exit_code, 0) << removed.err;
  EXPECT_THAT(removed.out, HasSubstr("is let in no more"));
}

TEST_F(KeysCommands, RemoveTakesAwayWhatItCanAndTellsTheRest) {
  guests_ = {Bob()};
  world_.fill = [fill = world_.fill](MemoryStore& store) {
    fill(store);
    const base::Error damaged{.code = base::Code::kDataLoss, .message = "another of bob's"};
    store.unread_guests = {{.login = GuestWith(kEd25519Key, "bob"), .error = damaged}};
  };
  const auto removed = world_.Run({"keys", "remove", "bob", "--yes"});
  EXPECT_NE(removed.exit_code, 0);
  EXPECT_THAT(removed.out, HasSubstr("is let in no more"));
  EXPECT_THAT(removed.err, HasSubstr("another of bob's"));
}

TEST_F(KeysCommands, AddSaysWhoIsLetInAndWhere) {
  const auto ended = world_.Run({"keys", "add", AnnFile()});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, std::string("ann (ED25519 ") + kEd25519Print +
                           ") is let in to every job\n"
                           "JOB     NAME   NODE             RESULT\n"
                           "000001  train  train-000001-a1  has the key\n");
  EXPECT_THAT(cloud_.LoginsOf("train-000001-a1"),
              testing::ElementsAre(std::string("ann:") + kEd25519Key + " ann"));
}

TEST_F(KeysCommands, AKeyCanBeALineAndItsUserBeNamed) {
  const auto ended =
      world_.Run({"keys", "add", kEd25519Key, "--user", "eve", "--job", "sweep-*,0001", "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const base::Json json = base::ParseJson(ended.out).value_or(base::Json());
  const base::Json& guest = json["guests"][0];
  EXPECT_EQ(guest["user"], "eve");
  EXPECT_EQ(guest["fingerprint"], kEd25519Print);
  EXPECT_EQ(guest["jobs"], base::Json({"sweep-*", "1"}));
  EXPECT_EQ(guest["nodes"][0]["outcome"], "done");
  EXPECT_TRUE(guest["nodes"][0]["error"].is_null());
}

TEST_F(KeysCommands, WhatIsNoKeyOrNoUserIsRefused) {
  const auto refusal = [&](std::vector<std::string> args) {
    const auto ended = world_.Run(std::move(args));
    EXPECT_EQ(ended.exit_code, 2);
    return ended.err;
  };
  EXPECT_THAT(refusal({"keys", "add", File("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n")}),
              AllOf(HasSubstr("key.pub: this is a private key"), Not(HasSubstr("b3Blbn"))));
  EXPECT_THAT(refusal({"keys", "add", File(std::string(kEd25519Key) + "\n" + kEcdsaKey)}),
              HasSubstr("it has several lines"));
  EXPECT_THAT(refusal({"keys", "add", kEd25519Key}), HasSubstr("--user NAME"));
  EXPECT_THAT(refusal({"keys", "add", kEd25519Key, "--user", "root"}), HasSubstr("as root"));
  EXPECT_THAT(refusal({"keys", "add", kEd25519Key, "--user", "a\nb"}), HasSubstr("no login name"));
  EXPECT_THAT(refusal({"keys", "add", kEd25519Key, "-u", "a", "--job", "a\nb"}),
              HasSubstr("no number, name or pattern"));
  EXPECT_EQ(world_.Run({"keys", "add", "nothing.pub"}).exit_code, 3);
  EXPECT_EQ(world_.Run({"keys", "add", kEd25519Key, "-u", "a", "--job", "7"}).exit_code, 3);
}

TEST_F(KeysCommands, ANodeThatFailsSetsTheExitCode) {
  cloud_.AddFault({.call = "ChangeLogins",
                   .error = {.code = base::Code::kPermissionDenied, .message = "not allowed"}});
  const auto ended = world_.Run({"keys", "add", AnnFile()});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.out, HasSubstr("train-000001-a1  not allowed"));
  EXPECT_THAT(ended.err, HasSubstr("tried again by: the same command"));
}

TEST_F(KeysCommands, OnATerminalTheUserIsAsked) {
  world_.around.err_tty = true;
  std::string asked;
  world_.on_ask = [&](MemoryStore&, const std::string& question) {
    asked = question;
    return false;
  };
  EXPECT_EQ(world_.Run({"keys", "add", AnnFile(), "--job", "train"}).exit_code, 1);
  EXPECT_EQ(asked, std::string("let ann (ED25519 ") + kEd25519Print + ") in, with sudo, to train?");
  EXPECT_THAT(cloud_.LoginsOf("train-000001-a1"), IsEmpty());
  EXPECT_EQ(world_.Run({"keys", "add", AnnFile(), "--yes"}).exit_code, 0);
}

TEST_F(KeysCommands, RemoveTakesAllKeysOfAUserOrOne) {
  guests_ = {Ann(), Bob(), GuestWith(kEcdsaKey, "ann")};
  const auto ended = world_.Run({"keys", "remove", "ann"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr(std::string(kEd25519Print) + ") is let in no more\n"),
                               HasSubstr(std::string(kEcdsaPrint) + ") is let in no more\n"),
                               HasSubstr("has the key no more")));
  const auto one = world_.Run({"keys", "rm", AnnFile(), "-q"});
  EXPECT_EQ(one.out, std::string("ann ") + kEd25519Print + "\n");
  EXPECT_EQ(world_.Run({"keys", "remove", "eve"}).exit_code, 3);
  EXPECT_THAT(world_.Run({"keys", "remove", "bob", "--job", "train"}).err,
              HasSubstr("bob is let in to every job"));
}

TEST_F(KeysCommands, RemoveFromAJobPassesOverKeysThatWereNotLetInByIt) {
  guests_ = {Ann({"train"}), GuestWith(kEcdsaKey, "ann", {"eval"})};
  const auto ended = world_.Run({"keys", "remove", "ann", "--job", "train"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr(std::string(kEd25519Print) + ") is let in no more\n"),
                               Not(HasSubstr(kEcdsaPrint))));
  EXPECT_THAT(ended.err, HasSubstr(std::string(kEcdsaPrint) + " stays:"));
  const auto none = world_.Run({"keys", "remove", "ann", "--job", "sweep"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.out, "");
}

TEST_F(KeysCommands, WhatWasRemovedBeforeAnErrorIsShown) {
  guests_ = {GuestWith(kEcdsaKey, "ann"), Ann()};
  world_.fill = [this, fill = world_.fill](MemoryStore& store) {
    fill(store);
    cloud_.before_change_of_logins = [&store] { EXPECT_TRUE(store.SetGuest(Ann(), {}).ok()); };
  };
  const auto ended = world_.Run({"keys", "remove", "ann"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.out, HasSubstr(std::string(kEcdsaPrint) + ") is let in no more\n"));
  EXPECT_THAT(ended.err, HasSubstr("another command has changed the guest meanwhile"));
}

TEST_F(KeysCommands, AFileThatIsCalledLikeAGuestDoesNotHideThem) {
  guests_ = {Bob()};
  guests_[0].key.comment = File("no key");
  EXPECT_EQ(world_.Run({"keys", "remove", guests_[0].key.comment}).exit_code, 0);
}

TEST_F(KeysCommands, WhatTheSameCommandCannotMendIsNotToldToBeTriedAgain) {
  cloud_.AddFault({.call = "ChangeLogins",
                   .error = {.code = base::Code::kFailedPrecondition, .message = "not like this"}});
  const auto ended = world_.Run({"keys", "add", AnnFile()});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.out, HasSubstr("not like this"));
  EXPECT_THAT(ended.err, Not(HasSubstr("tried again")));
}

TEST_F(KeysCommands, ListSaysHowTakingAwayIsTriedAgain) {
  core::Guest leaving = Bob();
  leaving.leaving = true;
  leaving.left_on = {core::JobId{1}};
  guests_ = {Ann(), leaving};
  const auto ended = world_.Run({"keys", "list"});
  EXPECT_THAT(ended.err, AllOf(HasSubstr("jobman keys remove"), HasSubstr(kEcdsaPrint),
                               Not(HasSubstr(kEd25519Print))));
}

TEST_F(KeysCommands, ListFitsIntoATerminal) {
  const auto none = world_.Run({"keys", "list"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("nobody is let in"));
  core::Guest leaving = Bob();
  leaving.leaving = true;
  leaving.left_on = {core::JobId{1}, core::JobId{2}};
  guests_ = {Ann({"a-long-name-of-a-sweep-*", "another-long-name-of-a-sweep-*"}), leaving};
  world_.around.locale = "C";
  world_.around.columns = "80";
  const auto ended = world_.Run({"keys", "list"});
  for (const std::string& line : base::Split(ended.out, '\n')) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_THAT(ended.out, HasSubstr("ann   ED25519  UvhPTnMZULksvwREMH/XqGDntoOURZIfeCU/Kpc1nzc  "));
  const base::Json json =
      base::ParseJson(world_.Run({"keys", "list", "--json"}).out).value_or(base::Json());
  EXPECT_EQ(json["guests"][1]["leaving"], true);
  EXPECT_EQ(json["guests"][1]["left_on"], base::Json({1, 2}));
  EXPECT_EQ(json["guests"][0]["key"], kEd25519Key);
}

TEST(GuestViews, TypesOfKeysAreShort) {
  using cli::views::KeyTypeWord;
  EXPECT_EQ(KeyTypeWord(Ann().key), "ED25519");
  EXPECT_EQ(KeyTypeWord(Bob().key), "ECDSA");
  EXPECT_EQ(KeyTypeWord({.type = "sk-ssh-ed25519@openssh.com", .data = "AAAA"}), "ED25519-SK");
  EXPECT_EQ(KeyTypeWord({.type = "sk-ecdsa-sha2-nistp256@openssh.com", .data = "AAAA"}),
            "ECDSA-SK");
}

}  // namespace
}  // namespace jobman::test
