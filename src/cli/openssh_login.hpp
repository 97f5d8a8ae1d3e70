#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"
#include "jobman/core/job.hpp"

namespace jobman::cli {

struct OpenSshLogin {
  int host = 0;
  std::vector<std::string> words = {};  ///< a command in place of a shell
  bool terminal = false;                ///< one for the command, too
  std::string instead = {};             ///< what to use without an OpenSSH client
};

/// kFailedPrecondition if OpenSSH's client would refuse this user, who has no passwd entry.
base::Status CheckUserIsKnown(const std::string& instead);

/// This process becomes OpenSSH's client, logged in to the host by the key that is pinned. Returns
/// only with an error.
base::Error BecomeOpenSsh(App& app, const client::Context& context, const core::Job& job,
                          const OpenSshLogin& login);

}  // namespace jobman::cli
