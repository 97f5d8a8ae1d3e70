// Files of credentials, and what servers of tokens answer: secrets go nowhere in clear and into no
// message, and what is taken for a token can be sent in a header.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "auth/credentials.hpp"
#include "auth/exchange.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/url.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

constexpr const char* kOrigin = "the credentials in FILE";
constexpr const char* kSecret = "MADE-UP-SECRET-0123456789";

bool IsControl(unsigned char c) {
  return c < ' ' || c == 0x7f;
}

/// An error says whose it is, in one line.
void ExpectTold(const base::Error& error) {
  fuzz::Expect(error.code == base::Code::kUnauthenticated, "no token, for good");
  fuzz::Expect(error.message.starts_with(kOrigin), "it names the file");
  fuzz::Expect(std::none_of(error.message.begin(), error.message.end(), IsControl), "one line");
}

void ExpectNotInClear(const std::string& address) {
  const auto url = base::ParseUrl(address);
  fuzz::Expect(url.ok() && !url->IsOpen(), "https, or this machine");
}

void ExpectSound(const auth::UserLogin& login) {
  ExpectNotInClear(login.token_url);
  fuzz::Expect(
      !login.client_id.empty() && !login.client_secret.empty() && !login.refresh_token.empty(),
      "a login is whole");
}

void ExpectSound(const auth::ServiceKey& key) {
  ExpectNotInClear(key.token_url);
  fuzz::Expect(!key.email.empty() && !key.private_key.empty(), "a key is whole");
}

void ExpectSound(const auth::Federation& federation) {
  ExpectNotInClear(federation.token_url);
  const auth::SubjectSource& subject = federation.subject;
  fuzz::Expect(!federation.audience.empty() && !subject.place.empty(), "it has a source");
  fuzz::Expect(
      subject.timeout >= std::chrono::seconds{5} && subject.timeout <= std::chrono::minutes{2},
      "a command ends");
}

void ExpectSound(const auth::MachineAccount&) {
  fuzz::Expect(false, "no file names the machine's account");
}

void ReadFile(const std::string& text) {
  const auto found = auth::ParseCredentials(text, kOrigin);
  if (!found.ok()) {
    ExpectTold(found.error());
    return;
  }
  std::visit([](const auto& login) { ExpectSound(login); }, found->login);
  fuzz::Expect(found->impersonations.size() <= 5, "a chain has an end");
  for (const auth::Impersonation& one : found->impersonations) {
    ExpectNotInClear(one.url);
    fuzz::Expect(!one.Account().empty(), "an account to act as");
  }
}

/// The same file with secrets that can be recognized: an error does not tell them.
void ReadMarked(const std::string& text) {
  auto json = base::ParseJson(text);
  if (!json.ok() || !json->is_object() || text.find(kSecret) != std::string::npos) return;
  for (const char* key : {"client_secret", "refresh_token", "private_key"}) (*json)[key] = kSecret;
  if (json->contains("source_credentials") && (*json)["source_credentials"].is_object())
    (*json)["source_credentials"]["refresh_token"] = kSecret;
  const auto found = auth::ParseCredentials(json->dump(), kOrigin);
  if (found.ok()) return;
  const std::string told = found.error().ToString() + found.error().hint;
  fuzz::Expect(told.find(kSecret) == std::string::npos, "no secret is told");
}

void ReadAnswer(const std::string& text) {
  const base::TimePoint sent = base::FromMillis(1'767'225'600'000);
  const auth::Asker asker{.origin = kOrigin, .kind = "u", .cure = "log in again"};
  const auto token = auth::ParseAnswer(text, sent, asker);
  if (!token.ok()) {
    ExpectTold(token.error());
    return;
  }
  const std::string& value = token->value;
  fuzz::Expect(!value.empty(), "a token is not empty");
  fuzz::Expect(
      std::all_of(value.begin(), value.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; }),
      "a token fits into a header");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  ReadFile(text);
  ReadMarked(text);
  ReadAnswer(text);
  return 0;
}
