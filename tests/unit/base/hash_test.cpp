#include "jobman/base/hash.hpp"

#include <gtest/gtest.h>

namespace jobman::base {
namespace {

// FIPS 180-2, appendix B.
TEST(Sha256Hex, GivesThePublishedVectors) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfNothingIsThatOfTheEmptyText) {
  Sha256 hash;
  hash.Add("");
  const Sha256 copy = hash;
  EXPECT_EQ(hash.Hex(), Sha256Hex(""));
  EXPECT_EQ(copy.Hex(), Sha256Hex(""));
  hash = copy;
  hash.Add("abc");
  EXPECT_EQ(hash.Hex(), Sha256Hex("abc"));
  EXPECT_EQ(copy.Hex(), Sha256Hex(""));
}

// RFC 4648, section 10.
TEST(Base64, GivesThePublishedVectors) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foob"), "Zm9vYg==");
  EXPECT_EQ(Base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64(std::string_view("\xff\xfe\x00", 3)), "//4A");
}

TEST(Base64, BlocksJoinWithoutPaddingBetween) {
  const std::string bytes((std::size_t{3} << 20) + 1, 'f');
  const std::string text = Base64(bytes);
  EXPECT_EQ(text.size(), (std::size_t{4} << 20) + 4);
  EXPECT_EQ(text.find('='), text.size() - 2);
}

TEST(KeyFingerprint, IsThatOfSshKeygen) {
  EXPECT_EQ(KeyFingerprint("ssh-ed25519 "
                           "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"),
            "ED25519 SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU");
  for (const char* text : {"", "none", "ssh-ed25519 !"}) EXPECT_EQ(KeyFingerprint(text), text);
}

}  // namespace
}  // namespace jobman::base
