#pragma once

#include <libssh/libssh.h>

#include <string>

#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"

namespace jobman::ssh {

using base::Error;

/// "10.0.0.1:22", "[::1]:22": named in every message.
std::string Endpoint(const std::string& address, int port);

/// Nothing listens, or the server closes the connection before the login.
Error Refused(const std::string& endpoint, const std::string& why);
/// No answer in time.
Error TimedOut(const std::string& endpoint, const std::string& why);
/// An established connection broke.
Error Broken(const std::string& endpoint, const std::string& why);
/// The host lets us in, but the command did not answer within `limit`. It may go on.
Error NoAnswer(const std::string& endpoint, base::Duration limit);
/// The host does not accept our keys.
Error AuthDenied(const std::string& endpoint, const std::string& user, const std::string& tried);
/// Our ssh-agent, which listens at `socket`, does not answer.
Error AgentSilent(const std::string& endpoint, const std::string& socket);
/// The host key differs from the pinned or vouched one.
Error KeyChanged(const std::string& endpoint, const std::string& expected,
                 const std::string& shown);
/// libssh reports an error during the login: kHostAuth when the server allows no more tries, else
/// kHostRefused.
Error LoginFailed(const std::string& endpoint, ssh_session session);
Error KeyUnreadable(const std::string& message, const std::string& hint);
/// A failed TCP connect by its errno.
Error FromConnect(const std::string& endpoint, int error_number);
/// libssh's error text for the session; it begins with a small letter.
std::string SessionError(ssh_session session);

}  // namespace jobman::ssh
