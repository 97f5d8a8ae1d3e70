#include "jobman/core/guest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/support/public_keys.hpp"

namespace jobman::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string WhyNoKey(std::string_view text) {
  const auto key = ParsePublicKey(text);
  return key.ok() ? "it is one" : key.error().message + "; " + key.error().hint;
}

TEST(PublicKey, IsReadFromItsLine) {
  const auto key = ParsePublicKey(std::string("  ") + test::kEd25519Key + "\tann@my laptop\r\n");
  ASSERT_TRUE(key.ok()) << key.error().ToString();
  EXPECT_EQ(key->type + " " + key->data, test::kEd25519Key);
  EXPECT_EQ(key->comment, "ann@my laptop");
  EXPECT_EQ(FingerprintOf(*key), test::kEd25519Print) << "as ssh-keygen -l shows it";
  EXPECT_EQ(FingerprintOf(ParsePublicKey(test::kEcdsaKey).value()), test::kEcdsaPrint);
}

TEST(PublicKey, APrivateKeyIsRefusedAndNotRepeated) {
  const std::string text =
      "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE KEY-----\n";
  EXPECT_THAT(WhyNoKey(text), AllOf(HasSubstr("this is a private key"), HasSubstr(".pub"),
                                    Not(HasSubstr("b3BlbnNz"))));
  EXPECT_THAT(WhyNoKey("PuTTY-User-Key-File-3: ssh-ed25519\n"), HasSubstr("a private key"));
}

TEST(PublicKey, OnlyOneLineWithoutOptionsIsTaken) {
  const std::string key = test::kEd25519Key;
  EXPECT_THAT(WhyNoKey(key + " ann\n" + key + " bob"), HasSubstr("it has several lines"));
  EXPECT_THAT(WhyNoKey(key + " ann\rroot:" + key), HasSubstr("it has several lines"));
  EXPECT_THAT(WhyNoKey("no-pty,command=\"true\" " + key), HasSubstr("options before the key"));
  EXPECT_THAT(WhyNoKey("ann:" + key), HasSubstr("does not begin with a type"));
  EXPECT_THAT(WhyNoKey(key + " \x1b[31m"), HasSubstr("cannot be printed"));
  EXPECT_THAT(WhyNoKey(key + " \xff"), HasSubstr("cannot be printed"));
  EXPECT_THAT(WhyNoKey(key + " " + std::string(10'000, 'x')), HasSubstr("too long"));
}

TEST(PublicKey, GarbageIsRefused) {
  const std::string key = test::kEd25519Key;
  EXPECT_THAT(WhyNoKey(" \n"), HasSubstr("there is no text"));
  EXPECT_THAT(WhyNoKey("hello"), HasSubstr("does not begin with a type"));
  EXPECT_THAT(WhyNoKey("ssh-ed25519"), HasSubstr("damaged"));
  EXPECT_THAT(WhyNoKey(key.substr(0, key.size() - 1)), HasSubstr("damaged"));
  EXPECT_THAT(WhyNoKey("ssh-rsa " + key.substr(12)), HasSubstr("of another type"));
  EXPECT_THAT(WhyNoKey(key.substr(0, 40) + "!" + key.substr(41)), HasSubstr("damaged"));
  EXPECT_THAT(WhyNoKey("ssh-dss AAAAB3NzaC1kc3M="), HasSubstr("no DSA keys"));
  EXPECT_THAT(WhyNoKey("ssh-ed25519-cert-v01@openssh.com AAAA"), HasSubstr("a certificate"));
  EXPECT_THAT(WhyNoKey("---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----"),
              HasSubstr("ssh-keygen -i"));
}

TEST(GuestUser, IsALoginNameOfAHost) {
  for (const char* good : {"ann", "_ann", "ann-b_2", "a"}) {
    EXPECT_TRUE(CheckGuestUser(good).ok()) << good;
  }
  for (const char* bad :
       {"", "root", "Ann", "2ann", "-ann", "ann:x", "ann b", "ann\nroot", "ann/.."}) {
    EXPECT_FALSE(CheckGuestUser(bad).ok()) << bad;
  }
  EXPECT_FALSE(CheckGuestUser(std::string(33, 'a')).ok());
  EXPECT_EQ(UserInComment({.comment = "ann@laptop"}), "ann");
  EXPECT_EQ(UserInComment({.comment = "Ann's key"}), "");
  EXPECT_EQ(UserInComment({}), "");
}

TEST(Guest, IsLetInToEveryJobOrToThoseThatAreNamed) {
  EXPECT_TRUE(IsLetIn(test::Ann(), JobId{7}, "train"));
  const Guest some = test::Ann({"sweep-*", "42"});
  EXPECT_TRUE(IsLetIn(some, JobId{7}, "sweep-3"));
  EXPECT_TRUE(IsLetIn(some, JobId{42}, "train"));
  EXPECT_FALSE(IsLetIn(some, JobId{7}, "train"));
  EXPECT_TRUE(MeansJob("000042", JobId{42}, "x"));
  Guest leaving = test::Ann();
  leaving.leaving = true;
  EXPECT_FALSE(IsLetIn(leaving, JobId{7}, "train"));
}

TEST(Guest, IsFoundByUserAndKeyWhateverElseIsRecorded) {
  const std::vector<Guest> guests = {test::Bob(), test::Ann({"sweep-*"})};
  EXPECT_EQ(FindLogin(guests, test::Ann()), guests[1]);
  EXPECT_EQ(FindLogin(guests, test::GuestWith(test::kEd25519Key, "eve")), std::nullopt);
  Guest left = test::Ann({"sweep-*"});
  left.left_on = {JobId{7}};
  EXPECT_TRUE(HasLeft(left, JobId{7}));
  EXPECT_FALSE(HasLeft(left, JobId{8}));
}

TEST(Guest, WordsOfJobsArePlain) {
  EXPECT_TRUE(CheckJobWord("sweep-*").ok());
  EXPECT_FALSE(CheckJobWord("").ok());
  EXPECT_FALSE(CheckJobWord("a\nb").ok());
  EXPECT_FALSE(CheckJobWord("\xff").ok());
  EXPECT_FALSE(CheckJobWord(std::string(200, 'a')).ok());
}

TEST(Guest, ReadsBackAsItWasWritten) {
  Guest guest = test::Ann({"sweep-*", "42"});
  guest.added_at = base::FromMillis(1'767'268'800'123);
  guest.leaving = true;
  guest.left_on = {JobId{3}, JobId{4}};
  EXPECT_EQ(GuestFromJson(GuestToJson(guest)).value(), guest);
  base::Json newer = GuestToJson(guest);
  newer["until"] = "tomorrow";
  EXPECT_EQ(GuestFromJson(newer).error().reason, base::Reason::kNewerStore)
      << "what limits a guest must not be lost";
  EXPECT_FALSE(GuestFromJson(newer).error().hint.empty());
  EXPECT_FALSE(GuestFromJson(base::Json::array()).ok());
}

TEST(Logins, AreChangedAndTheRestStays) {
  const std::string keys = "eve:ssh-rsa BBBB eve\n\nada:ssh-rsa CCCC google-ssh {\"a\":1}";
  EXPECT_EQ(ChangedLogins(keys, {.add = {"ada:ssh-rsa CCCC ada"}}), keys) << "it is there";
  EXPECT_EQ(ChangedLogins(keys, {.add = {"ann:ssh-rsa AAAA ann"}}),
            keys + "\nann:ssh-rsa AAAA ann");
  EXPECT_EQ(ChangedLogins(keys, {.remove = {"ada:ssh-rsa CCCC ada"}}), "eve:ssh-rsa BBBB eve\n");
  EXPECT_EQ(ChangedLogins(keys, {.remove = {"ada:ssh-rsa BBBB"}}), keys)
      << "of another user, the key is another login";
  EXPECT_EQ(ChangedLogins("", {.add = {"a:t d a", "b:t d b"}}), "a:t d a\nb:t d b");
  EXPECT_EQ(ChangedLogins("x:t d\n", {.add = {"a:t d a"}}), "x:t d\na:t d a");
}

TEST(Logins, OfAJobFollowTheGuests) {
  Guest gone = test::Bob();
  gone.leaving = true;
  gone.left_on = {JobId{7}};
  const std::vector<Guest> guests = {test::Ann(), gone};
  const LoginChange here = LoginsFor(guests, JobId{7}, "train", "");
  EXPECT_THAT(here.add, ElementsAre(LoginOf(test::Ann())));
  EXPECT_THAT(here.remove, ElementsAre(LoginOf(gone)));
  EXPECT_THAT(LoginsFor(guests, JobId{8}, "train", "").remove, IsEmpty());
  EXPECT_THAT(LoginsFor(guests, JobId{7}, "train", LoginOf(gone)).remove, IsEmpty())
      << "jobman's own login stays";
  EXPECT_EQ(LoginOf(test::Ann()), std::string("ann:") + test::kEd25519Key + " ann");
}

}  // namespace
}  // namespace jobman::core
