// Files of keys: a public key that somebody gives, and the private key in a service account's file.
// What is read is one line that reads the same again; what is refused is never repeated.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "auth/jwt.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/guest.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

/// Longer keys are slow to sign with, which is no finding.
constexpr std::size_t kLargestKey = 2048;

void ReadPublic(const std::string& text) {
  const auto key = core::ParsePublicKey(text);
  if (!key.ok()) {
    fuzz::Expect(key.error().code == base::Code::kInvalidArgument, "it is refused as an argument");
    fuzz::Expect(!key.error().hint.empty(), "it is said what to give");
    return;
  }
  const std::string line = key->type + " " + key->data + " " + key->comment;
  fuzz::Expect(
      std::none_of(line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }),
      "it is one line of printable text");
  const auto again = core::ParsePublicKey(line);
  fuzz::Expect(again.ok() && *again == *key, "it reads the same again");
  fuzz::Expect(!core::FingerprintOf(*key).empty(), "it has a fingerprint");
}

void SignWith(const std::string& pem) {
  const base::Json header = {{"alg", "RS256"}};
  const base::Json claims = {{"iss", "runner@lab.com"}};
  const auto jwt = auth::SignJwt(header, claims, pem);
  if (jwt.ok()) {
    fuzz::Expect(base::Split(*jwt, '.').size() == 3, "a JWT has three parts");
    fuzz::Expect(jwt->find_first_of("+/= \n") == std::string::npos, "it is base64url");
    return;
  }
  // Both texts are fixed.
  fuzz::Expect(base::Contains(jwt.error().message, "\"private_key\""), "it says what is wrong");
  fuzz::Expect(jwt.error().message.size() < 100, "it repeats nothing of the key");
}

/// A key that is binary within, so that mutations reach what reads it.
std::string Wrapped(const std::string& bytes) {
  return "-----BEGIN PRIVATE KEY-----\n" + base::Base64(bytes) + "\n-----END PRIVATE KEY-----\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  ReadPublic(text);
  if (text.size() > kLargestKey) return 0;
  SignWith(text);
  SignWith(Wrapped(text));
  return 0;
}
