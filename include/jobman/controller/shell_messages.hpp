#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/result.hpp"
#include "jobman/ports/host_shell.hpp"

/// The bodies of frames that are more than text.
namespace jobman::controller {

/// Of the frames and of what they mean. To be counted up with each change of either: another
/// version is refused, and the command then uses connections of its own.
inline constexpr int kShellVersion = 2;

/// What is to run on which host.
struct ShellRequest {
  ports::HostTarget target = {};
  std::string command = {};
  std::optional<base::Duration> limit = {};  ///< as in RemoteCommand
  std::optional<base::Duration> silence = {};
  std::optional<base::Duration> linger = {};
  std::string agent = {};  ///< SSH_AUTH_SOCK of the one who asks
  bool confirm = false;    ///< a request that is taken is answered at once, by kAccepted
  friend bool operator==(const ShellRequest&, const ShellRequest&) = default;
};

std::string Encode(const ShellRequest& request);
/// kUnimplemented for another version; kInvalidArgument if it makes no sense: no address, a port
/// that is none, a text with a line break where none may be.
base::Result<ShellRequest> ParseRequest(std::string_view body);

/// An error with all its members, shortened if it would not fit a frame.
std::string Encode(const base::Error& error);
/// kInternal if the body is no error.
base::Error ParseError(std::string_view body);

}  // namespace jobman::controller
