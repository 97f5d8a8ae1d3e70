#include "jobman/client/os_login.hpp"

#include <utility>

#include "client/kept_project.hpp"
#include "client/no_answer.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/ssh_way.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::client {
namespace {

base::Error NoOsLogin() {
  return {.code = base::Code::kFailedPrecondition,
          .message = "ssh.os_login: this cloud has no OS Login",
          .hint = "leave it out: without it, the hosts get the job's key by their metadata"};
}

/// Programs and shells are given it.
base::Status CheckName(const std::string& user) {
  if (core::IsPlainWord(user)) return base::Ok();
  return base::InvalidArgument(
      "ssh.os_login: OS Login answered with \"" + user + "\", which is not a login name",
      "see the account's own: gcloud compute os-login describe-profile");
}

base::Task<base::Result<core::NodeSeen>> SeeNode(Context context, core::JobSpec spec) {
  JM_CO_ASSIGN_OR_RETURN(const CloudClient cloud,
                         co_await context.open_cloud(context.paths, spec.cloud));
  const core::Place place{.project = spec.tpu.project, .zone = spec.tpu.zone};
  auto asked = cloud.slices->GetNode(place, spec.tpu.existing);
  std::string what = "node " + spec.tpu.existing;
  co_return co_await base::WithTimeout(std::move(asked), kOfferAnswer, std::move(what));
}

/// What the project says; no, if that cannot be seen.
base::Task<base::Result<bool>> ProjectAsksForIt(Context context, core::JobSpec spec) {
  if (!context.open_projects) co_return false;
  const auto api = context.open_projects(context.loop->get_executor(), spec.cloud);
  if (!api.ok() || !*api) co_return false;
  const auto view = co_await LookAtProject(context, *api, spec);
  if (!view.ok() && DoesNotAnswer(view.error())) co_return view.error();
  co_return view.ok() && view->os_login;
}

}  // namespace

base::Task<base::Result<NodesLogin>> AskForNodesLogin(Context context, core::JobSpec spec) {
  JM_CO_ASSIGN_OR_RETURN(const core::NodeSeen node, co_await SeeNode(context, spec));
  if (node.os_login) co_return NodesLogin{.asks = *node.os_login, .by_node = true};
  JM_CO_ASSIGN_OR_RETURN(const bool asks, co_await ProjectAsksForIt(context, spec));
  co_return NodesLogin{.asks = asks};
}

base::Task<base::Result<std::string>> LetKeyIn(Context context, core::JobSpec* spec) {
  if (!spec->ssh.os_login) co_return std::string();
  std::shared_ptr<ports::LoginApi> logins;
  if (context.open_logins) {
    JM_CO_ASSIGN_OR_RETURN(logins, context.open_logins(context.loop->get_executor(), spec->cloud));
  }
  if (!logins) co_return NoOsLogin();
  ports::KeyToImport key{.project = spec->tpu.project,
                         .expires = context.Now() + kImportedKeyLives};
  JM_CO_ASSIGN_OR_RETURN(key.line, ssh::PublicKeyLine(spec->ssh.private_key));
  auto login = co_await logins->ImportKey(std::move(key));
  if (!login.ok()) co_return std::move(login).error().With("ssh.os_login");
  JM_CO_TRY(CheckName(login->user));
  spec->ssh.user = login->user;
  co_return "OS Login: the job's key is in the login profile of " + login->account +
      "; hosts log it in as " + login->user;
}

}  // namespace jobman::client
