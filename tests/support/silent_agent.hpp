#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>

#include "jobman/base/files.hpp"
#include "jobman/base/handle.hpp"

namespace jobman::test {

/// An ssh-agent that accepts connections and never answers; SSH_AUTH_SOCK names it.
class SilentAgent {
 public:
  explicit SilentAgent(const base::Path& folder, int backlog = 64)
      : path_(folder / "silent-agent"), fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path_.string().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_.get(), backlog), 0);
    ::setenv("SSH_AUTH_SOCK", path_.c_str(), 1);
  }
  ~SilentAgent() { ::unsetenv("SSH_AUTH_SOCK"); }
  SilentAgent(const SilentAgent&) = delete;
  SilentAgent& operator=(const SilentAgent&) = delete;

 private:
  base::Path path_;
  base::UniqueFd fd_;
};

}  // namespace jobman::test
