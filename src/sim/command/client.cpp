#include "sim/command/client.hpp"

#include <httplib.h>

#include <algorithm>

namespace jobman::sim {

base::Result<Json> Ask(const SimFile& file, const std::string& method, const std::string& what,
                       const Json& body, std::chrono::seconds patience) {
  constexpr std::chrono::seconds kConnect{5};
  httplib::Client client(file.endpoint);
  client.set_connection_timeout(std::min(kConnect, patience).count());
  client.set_read_timeout(patience.count());
  client.set_bearer_token_auth(file.token);
  const std::string path = "/sim/" + what;
  const auto result = method == "GET"
                          ? client.Get(path)
                          : client.Post(path, body.dump(), "application/json; charset=UTF-8");
  if (!result) {
    return base::Error{.code = base::Code::kUnavailable,
                       .message = "the simulator at " + file.endpoint + " does not answer",
                       .reason = base::Reason::kUnreachable,
                       .hint = "start it with `jobman-sim up --detach`"};
  }
  const auto reply = ParseJson(result->body);
  if (!reply) return base::Internal("the simulator answered " + result->body);
  if (result->status == 200) return *reply;
  return base::InvalidArgument(Text(Member(*reply, "error"), "message"));
}

base::Result<SimFile> FindRunning(const base::Path& dir) {
  const auto file = ReadSimFile(dir);
  if (!file.ok() && file.error().code == base::Code::kPermissionDenied) return file.error();
  if (!file.ok()) {
    return base::NotFound("no simulator runs in " + dir.string(),
                          "start one with `jobman-sim up --detach`");
  }
  // Without the lock, the file outlived its simulator: something else may listen at the endpoint.
  if (!IsHeld(dir)) {
    return base::NotFound("the simulator of " + dir.string() + " is gone",
                          "start it with `jobman-sim up --detach`");
  }
  // It may be starting; only an answer with the pid is proof.
  const auto status = Ask(*file, "GET", "status");
  if (status.ok() && Number(*status, "pid") == file->pid) return *file;
  return base::Error{.code = base::Code::kUnavailable,
                     .message = "the simulator of " + dir.string() + " does not answer",
                     .reason = base::Reason::kUnreachable,
                     .hint = "it may be unplugged for a time, or just starting"};
}

Json StatusAtOnce(const base::Path& dir) {
  const auto file = ReadSimFile(dir);
  if (!file.ok() || !IsHeld(dir)) return {};
  const auto status = Ask(*file, "GET", "status", Json::object(), std::chrono::seconds{1});
  return status.ok() ? *status : Json();
}

}  // namespace jobman::sim
