// What is written to a log: URLs and bodies with secrets in them, of any form.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "http/escaped.hpp"
#include "jobman/http/redact.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

/// A character in one of the ways in which a peer may write it.
std::string Escape(char c, std::uint8_t way) {
  const auto byte = static_cast<unsigned>(static_cast<unsigned char>(c));
  switch (way % 10) {
    case 0:
      return fmt::format("%{:02X}", byte);
    case 1:
      return fmt::format("\\u{:04x}", byte);
    case 2:
      return fmt::format("&#{};", byte);
    case 3:
      return fmt::format("&#x{:x};", byte);
    case 4:
      return fmt::format("\\x{:02x}", byte);
    case 5:
      return fmt::format("%25{:02x}", byte);
    case 6:
      return fmt::format("\\\\u{:04X}", byte);
    case 7:
      return fmt::format("&amp;#{};", byte);
    case 8:
      return fmt::format("\\\\\\\\u{:04x}", byte);
    default:
      return {c};
  }
}

/// The input says how the peer escapes each character of the token, and what stands around it.
void ExpectNoEcho(const std::string& text) {
  const std::string token = "q9XzLw3/Vb+7_Tt2-RrKk0";
  std::string echo;
  for (std::size_t i = 0; i < token.size(); ++i) {
    echo += Escape(token[i], i < text.size() ? static_cast<std::uint8_t>(text[i]) : 9);
  }
  const std::string shown = http::WithoutEscaped(text + echo + text, token);
  fuzz::Expect(shown.find(http::kRedacted) != std::string::npos, "an escaped token is blanked");
  fuzz::Expect(shown.find(echo) == std::string::npos, "nothing of it is left");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  const std::string token = "ya29.a0AfH6SMBx-secret_part";
  const std::string kept = http::RedactText(text + " " + token + " end");
  fuzz::Expect(kept.find(token) == std::string::npos, "a token is blanked");
  fuzz::Expect(http::RedactText(kept) == kept, "a second pass finds nothing");
  const std::string url = http::RedactUrl("https://host/p?a=b&access_token=hunter2&x=" + text);
  fuzz::Expect(url.find("&access_token=hunter2") == std::string::npos, "a parameter is blanked");
  http::RedactBody(text);
  ExpectNoEcho(text);
  return 0;
}
