// Addresses of job files and hooks. Whether a secret may be sent there in clear is decided by what
// base::ParseUrl() reads, so libcurl, which connects, must read the same machine.
#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "jobman/base/strings.hpp"
#include "jobman/base/url.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

std::string Part(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  const CURLUcode got = curl_url_get(url, part, &text, CURLU_DEFAULT_PORT);
  const std::unique_ptr<char, decltype(&curl_free)> owned(text, &curl_free);
  return got == CURLUE_OK ? text : std::string{};
}

void ExpectCurlAgrees(const std::string& text, const base::Url& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> read(curl_url(), &curl_url_cleanup);
  if (curl_url_set(read.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return;
  std::string host = base::ToLower(Part(read.get(), CURLUPART_HOST));
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  fuzz::Expect(Part(read.get(), CURLUPART_PORT) == std::to_string(url.port), "the same port");
  fuzz::Expect(Part(read.get(), CURLUPART_SCHEME) == url.scheme, "the same scheme");
  if (base::IsLoopback(url.host))
    fuzz::Expect(base::IsLoopback(host), "curl stays on this machine");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  for (const std::string& whole : {text, "http://" + text}) {
    const auto url = base::ParseUrl(whole);
    if (!url.ok()) continue;
    fuzz::Expect(!url->host.empty() && url->target.starts_with('/'), "a host and a path");
    fuzz::Expect(url->host.find('@') == std::string::npos, "no password");
    ExpectCurlAgrees(whole, *url);
    if (base::ParseEndpoint(whole).ok())
      fuzz::Expect(whole.find_first_of("?#") == std::string::npos, "paths can be appended");
  }
  return 0;
}
