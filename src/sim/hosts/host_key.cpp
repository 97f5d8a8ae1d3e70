#include "sim/hosts/host_key.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "jobman/base/check.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/hash.hpp"

namespace jobman::sim {

namespace {

constexpr std::string_view kType = "ssh-ed25519";
using Key32 = std::array<unsigned char, 32>;

/// A uint32 in SSH's encoding: most significant byte first.
std::string Word(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

std::string SshString(std::string_view bytes) {
  return Word(static_cast<std::uint32_t>(bytes.size())) + std::string(bytes);
}

std::string Bytes(const Key32& key) {
  return {key.begin(), key.end()};
}

/// The unencrypted form of openssh/PROTOCOL.key.
std::string PrivateBlob(const std::string& public_blob, const Key32& seed, const Key32& open,
                        const std::string& comment) {
  std::uint32_t check = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&check), sizeof check);
  std::string secret = Word(check) + Word(check) + SshString(kType) + SshString(Bytes(open)) +
                       SshString(Bytes(seed) + Bytes(open)) + SshString(comment);
  for (char pad = 1; secret.size() % 8 != 0; ++pad) secret += pad;
  return std::string("openssh-key-v1\0", 15) + SshString("none") + SshString("none") +
         SshString("") + Word(1) + SshString(public_blob) + SshString(secret);
}

std::string Armor(const std::string& blob) {
  const std::string base64 = base::Base64(blob);
  std::string text = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
  for (std::size_t i = 0; i < base64.size(); i += 70) text += base64.substr(i, 70) + "\n";
  return text + "-----END OPENSSH PRIVATE KEY-----\n";
}

}  // namespace

HostKey MakeHostKey(const std::string& comment) {
  const base::UniqueHandle<EVP_PKEY, EVP_PKEY_free> key(
      EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  JM_CHECK(key != nullptr, "OpenSSL makes no ed25519 key");
  Key32 seed{};
  Key32 open{};
  std::size_t seed_size = seed.size();
  std::size_t open_size = open.size();
  JM_CHECK(EVP_PKEY_get_raw_private_key(key.get(), seed.data(), &seed_size) == 1, "no private key");
  JM_CHECK(EVP_PKEY_get_raw_public_key(key.get(), open.data(), &open_size) == 1, "no public key");
  const std::string public_blob = SshString(kType) + SshString(Bytes(open));
  return {.public_base64 = base::Base64(public_blob),
          .private_file = Armor(PrivateBlob(public_blob, seed, open, comment))};
}

}  // namespace jobman::sim
