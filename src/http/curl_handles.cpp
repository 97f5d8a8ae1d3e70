#include "http/curl_handles.hpp"

#include <system_error>

#include "http/curl_library.hpp"

namespace jobman::http {
namespace {

using base::Code;
using base::Error;
using base::Reason;

/// "Connection refused" says more than "Couldn't connect to server".
std::string CauseOf(CURL* easy, CURLcode code, const std::string& detail) {
  long os_error = 0;
  curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_error);
  if (code == CURLE_COULDNT_CONNECT && os_error != 0) {
    return std::generic_category().message(static_cast<int>(os_error));
  }
  return detail.empty() ? curl_easy_strerror(code) : detail;
}

std::string HintFor(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return "check this machine's network and DNS";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return "check this machine's clock and its CA certificates (package ca-certificates)";
    default:  // libcurl's list is open
      return "";
  }
}

Error LateError(CURL* easy, const std::string& peer, const std::string& cause) {
  curl_off_t sent_after = 0;
  curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &sent_after);
  const bool connected = sent_after > 0;
  return {.code = Code::kDeadlineExceeded,
          .message =
              peer + (connected ? ": no complete answer in time: " : ": cannot connect: ") + cause,
          .reason = connected ? Reason::kNone : Reason::kUnreachable};
}

}  // namespace

base::Status StartCurl() {
  JM_TRY(OpenCurlLibrary());
  static const CURLcode kStarted = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kStarted == CURLE_OK) return base::Ok();
  return base::Internal(std::string("libcurl cannot start: ") + curl_easy_strerror(kStarted));
}

Error ToError(CURL* easy, CURLcode code, const std::string& peer, const std::string& detail) {
  const std::string cause = CauseOf(easy, code, detail);
  if (code == CURLE_OPERATION_TIMEDOUT) return LateError(easy, peer, cause);
  if (code == CURLE_URL_MALFORMAT) return base::InvalidArgument("unusable URL: " + cause);
  return {.code = Code::kUnavailable,
          .message = "no answer from " + peer + ": " + cause,
          .reason = Reason::kUnreachable,
          .hint = HintFor(code)};
}

}  // namespace jobman::http
