#include "ssh/host_keys.hpp"

#include <gtest/gtest.h>

namespace jobman::ssh {
namespace {

/// A host with several keys must show one that is known.
TEST(HostKeyAlgorithms, BeginWithTheTypesOfKnownKeys) {
  constexpr const char* kUsual =
      "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,"
      "rsa-sha2-256";
  ports::HostTarget target;
  EXPECT_EQ(HostKeyAlgorithms(target, {}), kUsual);
  EXPECT_EQ(HostKeyAlgorithms(target, "ssh-ed25519 AAAA"), kUsual);
  EXPECT_EQ(HostKeyAlgorithms(target, "ssh-rsa AAAA"),
            "rsa-sha2-512,rsa-sha2-256,ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,"
            "ecdsa-sha2-nistp521");
  target.vouched_keys = {{"ecdsa-sha2-nistp384", "AAAA"}, {"ssh-rsa", "BBBB"}};
  EXPECT_EQ(HostKeyAlgorithms(target, "ssh-ed25519 AAAA"),
            "ecdsa-sha2-nistp384,rsa-sha2-512,rsa-sha2-256,ssh-ed25519,ecdsa-sha2-nistp256,"
            "ecdsa-sha2-nistp521")
      << "what is vouched for counts, not what is pinned";
}

}  // namespace
}  // namespace jobman::ssh
