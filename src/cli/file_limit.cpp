#include "cli/file_limit.hpp"

#include <fmt/format.h>

#include "jobman/ssh/file_limit.hpp"

namespace jobman::cli {
namespace {

/// For the terminal, the store, libraries while they are loaded, and a few hosts.
constexpr std::int64_t kLeastFiles = 32;

constexpr const char* kRaiseHardLimit = "raise the hard limit of open files (ulimit -Hn)";

bool Fit(std::int64_t limit, std::size_t hosts) {
  return hosts <= static_cast<std::size_t>(ssh::HostsWithin(limit));
}

base::Result<std::int64_t> RaisedLimit() {
  const std::int64_t limit = ssh::RaiseFileLimit();
  if (limit >= kLeastFiles) return limit;
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = fmt::format("the limit of open files is {}; connections to hosts "
                                            "need {} at least",
                                            limit, kLeastFiles),
                     .hint = kRaiseHardLimit};
}

}  // namespace

base::Status MakeRoomForHosts(App& app, std::size_t hosts) {
  JM_ASSIGN_OR_RETURN(const std::int64_t limit, RaisedLimit());
  if (Fit(limit, hosts)) return base::Ok();
  app.Say(
      fmt::format("jobman: warning: the limit of open files is {}, too low for {} hosts at once: "
                  "they are served {} at a time\n  {}",
                  limit, hosts, ssh::HostsWithin(limit), kRaiseHardLimit));
  return base::Ok();
}

base::Status MakeRoomForAll(const std::string& what, const std::string& without,
                            std::size_t hosts) {
  JM_ASSIGN_OR_RETURN(const std::int64_t limit, RaisedLimit());
  if (Fit(limit, hosts)) return base::Ok();
  return base::Error{
      .code = base::Code::kFailedPrecondition,
      .message = fmt::format("the limit of open files is {}, too low for {} hosts at once, as {} "
                             "needs: the most is {}",
                             limit, hosts, what, ssh::HostsWithin(limit)),
      .hint = fmt::format("{}, choose fewer hosts (-w), or {}", kRaiseHardLimit, without)};
}

}  // namespace jobman::cli
