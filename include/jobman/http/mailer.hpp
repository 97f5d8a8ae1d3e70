#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jobman/base/task.hpp"

namespace jobman::http {

struct MailServer {
  enum class Tls {
    kStartTls,  ///< STARTTLS, required
    kTls,       ///< TLS from the first byte
    kNone,
  };
  std::string host = {};
  int port = 587;
  Tls tls = Tls::kStartTls;
  std::string user = {};  ///< empty: no login
  std::string password = {};
};

struct Mail {
  std::string from = {};  ///< bare addresses
  std::vector<std::string> to = {};
  std::string text = {};  ///< headers and body, lines ending in CRLF
  base::Duration timeout = std::chrono::seconds{60};
};

/// Sends mail to a server over SMTP. OK: the server has accepted it. Errors: kUnavailable when
/// there was no answer or a temporary refusal (4yz), kFailedPrecondition for a permanent one (5yz),
/// kUnauthenticated when the login was refused. Messages name host, port and cause, never the
/// password.
class Mailer {
 public:
  virtual ~Mailer() = default;
  virtual base::Task<base::Status> Send(MailServer server, Mail mail) = 0;
};
/// Over libcurl, driven by the loop. Must be destroyed before the loop's io_context.
base::Result<std::unique_ptr<Mailer>> MakeCurlMailer(asio::any_io_executor executor);

}  // namespace jobman::http
