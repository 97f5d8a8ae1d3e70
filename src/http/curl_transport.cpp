#include "jobman/http/curl_transport.hpp"

#include <algorithm>
#include <array>

#include "http/ca_bundle.hpp"
#include "http/curl_handles.hpp"
#include "http/curl_library.hpp"
#include "http/curl_loop.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/url.hpp"

namespace jobman::http {
namespace {

using base::Error;

/// An exchange that libcurl's callbacks write to. Its address must not change.
struct Exchange {
  Request request = {};
  Response response = {};
  std::size_t max_body = 0;
  std::size_t max_headers = 0;
  std::size_t header_bytes = 0;
  bool too_large = false;
  std::array<char, CURL_ERROR_SIZE> detail = {};
  UniqueEasy easy = {};
  UniqueHeaderList headers = {};
};

/// Returning less than was offered makes libcurl end the exchange.
std::size_t OnBody(char* bytes, std::size_t size, std::size_t count, void* target) {
  auto* exchange = static_cast<Exchange*>(target);
  std::string& body = exchange->response.body;
  if (body.size() + size * count > exchange->max_body) {
    exchange->too_large = true;
    return 0;
  }
  body.append(bytes, size * count);
  return size * count;
}

std::size_t OnHeader(char* bytes, std::size_t size, std::size_t count, void* target) {
  auto* exchange = static_cast<Exchange*>(target);
  const std::string_view line(bytes, size * count);
  exchange->header_bytes += line.size();
  if (exchange->header_bytes > exchange->max_headers) {
    exchange->too_large = true;
    return 0;
  }
  Headers& headers = exchange->response.headers;
  // A status line starts over: earlier headers belong to a 1xx response or a proxy.
  if (line.starts_with("HTTP/")) headers.clear();
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos && !line.starts_with("HTTP/")) {
    headers.emplace_back(base::Trim(line.substr(0, colon)), base::Trim(line.substr(colon + 1)));
  }
  return line.size();
}

/// A line break in a value, such as a quota project's of a broken file, would begin another header.
/// The value is not quoted: it may be a secret.
base::Status CheckHeaders(const Headers& headers) {
  const auto is_control = [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; };
  for (const auto& [name, value] : headers) {
    const bool bad = std::any_of(name.begin(), name.end(), is_control) ||
                     std::any_of(value.begin(), value.end(), is_control);
    if (bad) {
      return base::InvalidArgument("the value of the header " + base::CleanLine(name) +
                                       " contains a line break or another control character",
                                   "check where it is from: an environment variable, or a file "
                                   "with credentials");
    }
  }
  return base::Ok();
}

void SetHeaders(Exchange& exchange) {
  curl_slist* list = nullptr;
  for (const auto& [name, value] : exchange.request.headers) {
    list = curl_slist_append(list, (name + ": " + value).c_str());
  }
  // Without this a large body waits a second for "100 Continue".
  list = curl_slist_append(list, "Expect:");
  exchange.headers.reset(list);
  curl_easy_setopt(exchange.easy.get(), CURLOPT_HTTPHEADER, list);
}

void SetMethod(const Exchange& exchange) {
  CURL* easy = exchange.easy.get();
  const Request& request = exchange.request;
  if (request.method == "GET") {
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    return;
  }
  if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    return;
  }
  if (request.method == "POST" || !request.body.empty()) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void SetProtocols(CURL* easy, const Request& request, const base::Url& url) {
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
  // With HTTP/2, share one connection instead of opening several.
  if (url.scheme == "https") curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  UseCaBundle(easy);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  // A proxy from the environment cannot reach this machine's loopback.
  if (request.direct || base::IsLoopback(url.host)) curl_easy_setopt(easy, CURLOPT_PROXY, "");
}

void SetLimits(CURL* easy, const Request& request, const CurlOptions& options) {
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
  // Otherwise ending an exchange waits for the thread that resolves its host name.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
  const auto whole = std::max(request.timeout, Duration{1});
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(whole.count()));
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::min(whole, options.connect_timeout).count()));
}

void SetCallbacks(Exchange& exchange) {
  CURL* easy = exchange.easy.get();
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange.detail.data());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &OnHeader);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
}

Result<std::unique_ptr<Exchange>> Prepare(Request request, const base::Url& url,
                                          const CurlOptions& options) {
  JM_TRY(CheckHeaders(request.headers));
  auto exchange = std::make_unique<Exchange>();
  exchange->request = std::move(request);
  exchange->max_body = options.max_response_bytes;
  exchange->max_headers = options.max_header_bytes;
  exchange->easy.reset(curl_easy_init());
  if (exchange->easy == nullptr) return base::Internal("libcurl gives no handle: out of memory");
  CURL* easy = exchange->easy.get();
  curl_easy_setopt(easy, CURLOPT_URL, exchange->request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
  SetProtocols(easy, exchange->request, url);
  SetLimits(easy, exchange->request, options);
  SetMethod(*exchange);
  SetHeaders(*exchange);
  SetCallbacks(*exchange);
  return exchange;
}

Result<Response> Finish(Exchange& exchange, const base::Url& url, CURLcode code,
                        const CurlOptions& options) {
  const std::string peer = url.host + " port " + std::to_string(url.port);
  if (exchange.too_large) {
    return Error{.code = base::Code::kOutOfRange,
                 .message = peer + ": the answer is larger than " +
                            std::to_string(options.max_response_bytes >> 20U) +
                            " MiB or has more than " +
                            std::to_string(options.max_header_bytes >> 10U) + " KiB of headers",
                 .hint =
                     "no service of Google answers like that: see what else could answer "
                     "there, a proxy (HTTPS_PROXY) or another endpoint"};
  }
  if (code != CURLE_OK) {
    return ToError(exchange.easy.get(), code, peer, exchange.detail.data());
  }
  long status = 0;
  curl_easy_getinfo(exchange.easy.get(), CURLINFO_RESPONSE_CODE, &status);
  exchange.response.status = static_cast<int>(status);
  return std::move(exchange.response);
}

class CurlTransport final : public Transport {
 public:
  CurlTransport(std::shared_ptr<CurlLoop> loop, CurlOptions options)
      : loop_(std::move(loop)), options_(std::move(options)) {}

  Task<Result<Response>> Send(Request request) override {
    JM_CO_ASSIGN_OR_RETURN(const base::Url url, base::ParseUrl(request.url));
    JM_CO_ASSIGN_OR_RETURN(auto exchange, Prepare(std::move(request), url, options_));
    JM_CO_ASSIGN_OR_RETURN(const CURLcode code, co_await Perform(loop_, exchange->easy.get()));
    co_return Finish(*exchange, url, code, options_);
  }

 private:
  std::shared_ptr<CurlLoop> loop_;
  CurlOptions options_;
};

}  // namespace

std::string DefaultUserAgent() {
  return "jobman/" JOBMAN_VERSION;
}

std::string CurlVersion() {
  return OpenCurlLibrary().ok() ? curl_version_info(CURLVERSION_NOW)->version : "not installed";
}

base::Result<std::unique_ptr<Transport>> MakeCurlTransport(asio::any_io_executor executor,
                                                           CurlOptions options) {
  JM_TRY(StartCurl());
  UniqueMulti multi(curl_multi_init());
  if (multi == nullptr) return base::Internal("libcurl gives no multi handle: out of memory");
  curl_multi_setopt(multi.get(), CURLMOPT_MAX_HOST_CONNECTIONS, options.max_host_connections);
  curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, options.max_idle_connections);
  curl_multi_setopt(multi.get(), CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  auto loop = std::make_shared<CurlLoop>(std::move(executor), std::move(multi));
  std::unique_ptr<Transport> transport =
      std::make_unique<CurlTransport>(std::move(loop), std::move(options));
  return transport;
}

}  // namespace jobman::http
