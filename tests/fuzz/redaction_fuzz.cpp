// What is written to a log: URLs and bodies with secrets in them, of any form.
#include <cstddef>
#include <cstdint>

#include "jobman/http/redact.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  const std::string token = "ya29.a0AfH6SMBx-secret_part";
  const std::string kept = http::RedactText(text + " " + token + " end");
  fuzz::Expect(kept.find(token) == std::string::npos, "a token is blanked");
  fuzz::Expect(http::RedactText(kept) == kept, "a second pass finds nothing");
  const std::string url = http::RedactUrl("https://host/p?a=b&access_token=hunter2&x=" + text);
  fuzz::Expect(url.find("&access_token=hunter2") == std::string::npos, "a parameter is blanked");
  http::RedactBody(text);
  return 0;
}
