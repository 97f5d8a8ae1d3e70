#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace jobman::base {

/// SHA-256 in lower-case hexadecimal, 64 characters.
std::string Sha256Hex(std::string_view bytes);

/// SHA-256 of a text that comes in pieces. Copies go on from the same text.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256& other);
  Sha256& operator=(const Sha256& other);
  void Add(std::string_view bytes);
  /// Of what was added so far; as Sha256Hex().
  std::string Hex() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Standard base64 with padding.
std::string Base64(std::string_view bytes);
/// "ED25519 SHA256:...", as ssh-keygen -l shows it, of a public key "ssh-ed25519 AAAA..."; the text
/// itself if it is none.
std::string KeyFingerprint(std::string_view key);

}  // namespace jobman::base
