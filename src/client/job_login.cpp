#include "client/job_login.hpp"

#include <optional>
#include <string>
#include <utility>

#include "jobman/client/compute_check.hpp"
#include "jobman/client/os_login.hpp"

namespace jobman::client {
namespace {

bool IsOnSameNode(const core::JobSpec& one, const core::JobSpec& other) {
  return one.tpu.existing == other.tpu.existing && one.tpu.project == other.tpu.project &&
         one.tpu.zone == other.tpu.zone && one.cloud == other.cloud;
}

/// OS Login knows the same key of the same account from another job.
bool HasLoginOf(const core::JobSpec& other, const core::JobSpec& spec) {
  return other.ssh.os_login && spec.ssh.os_login && other.cloud == spec.cloud &&
         other.tpu.project == spec.tpu.project && other.ssh.private_key == spec.ssh.private_key;
}

std::string FollowedText(const std::string& node, const NodesLogin& login) {
  return "node " + node + " asks for OS Login, by " +
         (login.by_node ? "its own metadata" : "the project's metadata") +
         ", under which hosts ignore keys in metadata: the job follows it (ssh.os_login: true)";
}

std::string NoAnswerText(const std::string& node, const base::Error& error, bool keeps) {
  const char* const then = keeps ? "; the job keeps it (ssh.os_login: true)"
                                 : "; if it does, and hosts refuse the login: ssh.os_login: true";
  return "whether node " + node + " asks for OS Login could not be checked: " + error.ToString() +
         then;
}

/// Of the job's node; empty if the job does not follow one.
struct NodeFollowed {
  std::string why = {};                  ///< ssh.os_login was set
  std::optional<std::string> user = {};  ///< who logs in, if that is known: no key need be imported
};

/// The node did not say anything: what it said when the job was created holds.
void KeepLogin(const core::JobSpec* present, const base::Error& error, CheckedFile& checked,
               NodeFollowed& followed) {
  core::JobSpec& spec = checked.loaded.spec;
  const bool keeps = present != nullptr && IsOnSameNode(*present, spec) && present->ssh.os_login;
  checked.notes.push_back(NoAnswerText(spec.tpu.existing, error, keeps));
  if (!keeps) return;
  spec.ssh.os_login = true;
  if (HasLoginOf(*present, spec)) followed.user = present->ssh.user;
}

/// The pointers must outlive the coroutine.
base::Task<NodeFollowed> FollowNode(Context context, CheckedFile* checked, LoginSources sources) {
  NodeFollowed followed;
  core::JobSpec& spec = checked->loaded.spec;
  if (!sources.may_follow || spec.tpu.existing.empty() || !context.open_cloud) co_return followed;
  const CheckedFile* const earlier = sources.earlier;
  // Kept for the next file, even if this one does not follow.
  if (earlier != nullptr && IsOnSameNode(earlier->loaded.spec, spec)) {
    checked->node_login = earlier->node_login;
  }
  if (spec.ssh.os_login || UserIsChosen(checked->loaded)) co_return followed;
  const bool known = checked->node_login.has_value();
  if (!known && !sources.may_ask) co_return followed;
  if (!known) {
    const auto asked = co_await AskForNodesLogin(std::move(context), spec);
    if (!asked.ok()) {
      // Each of many files would wait as long.
      if (asked.error().code == base::Code::kDeadlineExceeded) checked->cloud_is_slow = true;
      KeepLogin(sources.present, asked.error(), *checked, followed);
      co_return followed;
    }
    checked->node_login = *asked;
  }
  const NodesLogin& login = *checked->node_login;
  if (!login.asks) co_return followed;
  spec.ssh.os_login = true;
  followed.why = FollowedText(spec.tpu.existing, login);
  // For each element of an array it is said once.
  if (!known) checked->notes.push_back(followed.why);
  co_return followed;
}

}  // namespace

base::Task<base::Status> SettleLogin(Context context, CheckedFile* checked, LoginSources sources) {
  const NodeFollowed followed = co_await FollowNode(context, checked, sources);
  core::JobSpec& spec = checked->loaded.spec;
  const CheckedFile* const earlier = sources.earlier;
  if (earlier != nullptr && HasLoginOf(earlier->loaded.spec, spec)) {
    spec.ssh.user = earlier->loaded.spec.ssh.user;
    co_return base::Ok();
  }
  if (followed.user) {
    spec.ssh.user = *followed.user;
    co_return base::Ok();
  }
  auto login = co_await LetKeyIn(std::move(context), &spec);
  if (!login.ok()) {
    // Notes are not shown with an error, and the user never wrote ssh.os_login.
    base::Error error = std::move(login).error();
    if (!followed.why.empty()) error.message += "; " + followed.why;
    co_return error;
  }
  if (!login->empty()) checked->notes.push_back(*std::move(login));
  co_return base::Ok();
}

}  // namespace jobman::client
