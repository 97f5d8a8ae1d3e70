#include "jobman/controller/slice_request.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace jobman::controller
