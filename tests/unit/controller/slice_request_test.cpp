#include "jobman/controller/slice_request.hpp"

#include <gtest/gtest.h>

#include "tests/support/public_keys.hpp"

namespace jobman::controller {
namespace {

std::string KeysOf(const core::SliceRequest& request) {
  return request.tpu.metadata.at("ssh-keys");
}

TEST(WithLogin, AddsTheLineThatComputeEngineUnderstands) {
  const auto request = WithLogin({}, "ann", "ssh-ed25519 AAAA ann@laptop\n");
  EXPECT_EQ(KeysOf(request), "ann:ssh-ed25519 AAAA ann");
}

TEST(WithLogin, KeepsTheKeysOfTheJobFileAndRepeatsNone) {
  core::SliceRequest request;
  request.tpu.metadata["ssh-keys"] = "bob:ssh-rsa BBBB bob";
  request = WithLogin(std::move(request), "ann", "ssh-ed25519 AAAA");
  request = WithLogin(std::move(request), "ann", "ssh-ed25519 AAAA");
  EXPECT_EQ(KeysOf(request), "bob:ssh-rsa BBBB bob\nann:ssh-ed25519 AAAA ann");
}

TEST(WithGuests, AddsThoseWhoAreLetInToTheJob) {
  const std::vector<core::Guest> guests = {test::Ann({"train"}), test::Bob({"eval"})};
  const auto request =
      WithGuests(WithLogin({}, "ada", "ssh-ed25519 AAAA"), guests, core::JobId{7}, "train");
  EXPECT_EQ(KeysOf(request), "ada:ssh-ed25519 AAAA ada\n" + core::LoginOf(guests[0]));
  EXPECT_TRUE(WithGuests({}, guests, core::JobId{7}, "x").tpu.metadata.empty());
}

TEST(WithGuests, AddsNobodyUnderOsLogin) {
  core::SliceRequest request;
  request.tpu.metadata["enable-oslogin"] = "true";
  request = WithGuests(std::move(request), {test::Ann()}, core::JobId{7}, "train");
  EXPECT_FALSE(request.tpu.metadata.contains("ssh-keys"));
}

TEST(KeptLogins, AreTheJobsOwnAndThoseOfItsFile) {
  core::JobSpec spec;
  spec.ssh.user = "ada";
  spec.tpu.metadata["ssh-keys"] = "bob:ssh-rsa BBBB bob";
  const std::string kept = KeptLogins(spec, "ssh-ed25519 AAAA ada@laptop");
  EXPECT_TRUE(core::HasLogin(kept, "ada:ssh-ed25519 AAAA"));
  EXPECT_TRUE(core::HasLogin(kept, "bob:ssh-rsa BBBB x"));
}

TEST(LoginsOfNodes, WithoutTheJobsOwnKeyItsUserLosesNone) {
  core::JobSpec spec;
  spec.ssh.user = "ann";
  spec.ssh.private_key = "/home/ann/key";
  std::vector<core::Guest> guests = {test::Ann(), test::Bob()};
  for (core::Guest& guest : guests) {
    guest.leaving = true;
    guest.left_on = {core::JobId{7}};
  }
  const auto unsure =
      LoginsOfNodes(guests, core::JobId{7}, "train", spec, base::NotFound("no such file"));
  EXPECT_EQ(unsure.change.remove, std::vector{core::LoginOf(test::Bob())});
  ASSERT_TRUE(unsure.unsure);
  EXPECT_EQ(unsure.unsure->message,
            "the job's own key /home/ann/key cannot be read here: no such file");
  const auto sure =
      LoginsOfNodes(guests, core::JobId{7}, "train", spec, std::string("ssh-ed25519 AAAA"));
  EXPECT_EQ(sure.change.remove.size(), 2U);
  EXPECT_FALSE(sure.unsure);
}

}  // namespace
}  // namespace jobman::controller
