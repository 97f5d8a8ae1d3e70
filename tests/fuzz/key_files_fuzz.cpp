// Files of keys: a public key that somebody gives, the private key in a service account's file, and
// the one that jobman logs in to hosts with.
// What is read is one line that reads the same again; what is refused is never repeated.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "auth/jwt.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/guest.hpp"
#include "jobman/ssh/keys.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

/// Longer keys are slow to sign with, which is no finding.
constexpr std::size_t kLargestKey = 2048;

bool IsOnePrintableLine(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

void ReadPublic(const std::string& text) {
  const auto key = core::ParsePublicKey(text);
  if (!key.ok()) {
    fuzz::Expect(key.error().code == base::Code::kInvalidArgument, "it is refused as an argument");
    fuzz::Expect(!key.error().hint.empty(), "it is said what to give");
    return;
  }
  const std::string line = key->type + " " + key->data + " " + key->comment;
  fuzz::Expect(IsOnePrintableLine(line), "it is one line of printable text");
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

/// A file for one text after the other, which only its user may read.
class KeyFile {
 public:
  KeyFile() {
    // An agent would make every key usable.
    ::unsetenv("SSH_AUTH_SOCK");
    std::ofstream{path_};
    std::filesystem::permissions(
        path_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;
  ~KeyFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& Holding(const std::string& text) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
    return path_;
  }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("jobman-fuzz-" + base::RandomHex(6));
};

/// Without a passphrase: a file may ask for so many rounds that one takes minutes, no finding.
void LogInWith(const std::string& text) {
  static const KeyFile file;
  const std::filesystem::path& path = file.Holding(text);
  const auto usable = ssh::CheckUsable(path, {});
  const auto line = ssh::PublicKeyLine(path);
  fuzz::Expect(usable.ok() == line.ok(), "what can be used has a public half");
  if (line.ok()) {
    fuzz::Expect(IsOnePrintableLine(*line), "it is one line of printable text");
    return;
  }
  const base::Error& error = usable.error();
  fuzz::Expect(error.reason == base::Reason::kKeyUnreadable, "it is the key's fault");
  fuzz::Expect(!error.hint.empty(), "it is said what to do");
  fuzz::Expect(error.message.size() < path.string().size() + 100, "it repeats nothing of the key");
}

/// A key that is binary within, so that mutations reach what reads it.
std::string Wrapped(const std::string& bytes, const std::string& kind = "") {
  const std::string what = kind + "PRIVATE KEY-----\n";
  return "-----BEGIN " + what + base::Base64(bytes) + "\n-----END " + what;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  ReadPublic(text);
  if (text.size() > kLargestKey) return 0;
  SignWith(text);
  SignWith(Wrapped(text));
  LogInWith(text);
  LogInWith(Wrapped(text, "OPENSSH "));
  return 0;
}
