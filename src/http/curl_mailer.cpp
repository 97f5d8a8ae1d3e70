#include <algorithm>
#include <array>

#include "http/ca_bundle.hpp"
#include "http/curl_handles.hpp"
#include "http/curl_loop.hpp"
#include "jobman/http/mailer.hpp"

namespace jobman::http {
namespace {

/// A mail being sent, read by libcurl's callbacks. Its address must not change.
struct Posting {
  Mail mail = {};
  std::size_t sent = 0;
  std::array<char, CURL_ERROR_SIZE> detail = {};
  UniqueEasy easy = {};
  UniqueHeaderList recipients = {};
};

std::size_t GiveText(char* buffer, std::size_t size, std::size_t count, void* source) {
  auto* posting = static_cast<Posting*>(source);
  const std::string& text = posting->mail.text;
  const std::size_t part = std::min(size * count, text.size() - posting->sent);
  const std::size_t given = text.copy(buffer, part, posting->sent);
  posting->sent += given;
  return given;
}

void SetMailServer(CURL* easy, const MailServer& server) {
  const bool v6 = server.host.find(':') != std::string::npos;
  const std::string host = v6 ? "[" + server.host + "]" : server.host;
  const std::string scheme = server.tls == MailServer::Tls::kTls ? "smtps://" : "smtp://";
  curl_easy_setopt(easy, CURLOPT_URL, (scheme + host + ":" + std::to_string(server.port)).c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
#else
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_SMTP | CURLPROTO_SMTPS);
#endif
  if (server.tls == MailServer::Tls::kStartTls) {
    curl_easy_setopt(easy, CURLOPT_USE_SSL, static_cast<long>(CURLUSESSL_ALL));
  }
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  UseCaBundle(easy);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");  // those of the environment are for HTTP
  if (server.user.empty()) return;
  curl_easy_setopt(easy, CURLOPT_USERNAME, server.user.c_str());
  curl_easy_setopt(easy, CURLOPT_PASSWORD, server.password.c_str());
}

void SetMail(Posting& posting) {
  CURL* easy = posting.easy.get();
  const Mail& mail = posting.mail;
  curl_easy_setopt(easy, CURLOPT_MAIL_FROM, ("<" + mail.from + ">").c_str());
  curl_slist* list = nullptr;
  for (const std::string& to : mail.to) list = curl_slist_append(list, ("<" + to + ">").c_str());
  posting.recipients.reset(list);
  curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, list);
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, &GiveText);
  curl_easy_setopt(easy, CURLOPT_READDATA, &posting);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, posting.detail.data());
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  const auto limit = static_cast<long>(std::max(mail.timeout, base::Duration{1}).count());
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, limit);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, std::min(limit, 10'000L));
}

base::Error MailError(CURL* easy, CURLcode code, const std::string& peer,
                      const std::string& detail) {
  base::Error error = ToError(easy, code, peer, detail);
  long reply = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &reply);
  if (code == CURLE_LOGIN_DENIED) {
    return {.code = base::Code::kUnauthenticated,
            .message = peer + " refused the login",
            .hint = "check smtp.user and smtp.password"};
  }
  if (code == CURLE_USE_SSL_FAILED) {
    return {.code = base::Code::kFailedPrecondition,
            .message = peer + " does not offer STARTTLS",
            .hint =
                "smtp.tls: tls for a port that begins with TLS, none for a server on this "
                "machine"};
  }
  if (reply < 400) return error;
  error.code = reply >= 500 ? base::Code::kFailedPrecondition : base::Code::kUnavailable;
  error.message = peer + " did not take the mail: it answered " + std::to_string(reply);
  if (!detail.empty()) error.message += " (" + detail + ")";
  error.reason = base::Reason::kNone;
  return error;
}

class CurlMailer final : public Mailer {
 public:
  explicit CurlMailer(std::shared_ptr<CurlLoop> loop) : loop_(std::move(loop)) {}

  base::Task<base::Status> Send(MailServer server, Mail mail) override {
    Posting posting{.mail = std::move(mail)};
    posting.easy.reset(curl_easy_init());
    if (posting.easy == nullptr) co_return base::Internal("libcurl gives no handle: out of memory");
    SetMailServer(posting.easy.get(), server);
    SetMail(posting);
    JM_CO_ASSIGN_OR_RETURN(const CURLcode code, co_await Perform(loop_, posting.easy.get()));
    if (code == CURLE_OK) co_return base::Ok();
    const std::string peer = server.host + " port " + std::to_string(server.port);
    co_return MailError(posting.easy.get(), code, peer, posting.detail.data());
  }

 private:
  std::shared_ptr<CurlLoop> loop_;
};

}  // namespace

base::Result<std::unique_ptr<Mailer>> MakeCurlMailer(asio::any_io_executor executor) {
  JM_TRY(StartCurl());
  UniqueMulti multi(curl_multi_init());
  if (multi == nullptr) return base::Internal("libcurl gives no multi handle: out of memory");
  auto loop = std::make_shared<CurlLoop>(std::move(executor), std::move(multi));
  return std::unique_ptr<Mailer>(std::make_unique<CurlMailer>(std::move(loop)));
}

}  // namespace jobman::http
