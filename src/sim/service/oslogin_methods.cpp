#include <optional>

#include "jobman/base/strings.hpp"
#include "sim/service/tpu_service.hpp"

// The part of the Cloud OS Login API with which a client imports its key, and the answer that tells
// whose a token is. There is one account, whose every token is.

namespace jobman::sim {

namespace {

constexpr const char* kAccount = "sim@example.com";
/// Made of the account as Compute Engine does. Source: Compute Engine documentation, "Add SSH keys
/// to VMs".
constexpr const char* kPosixName = "sim_example_com";
constexpr std::string_view kUsers = "/v1/users/";
constexpr std::string_view kImport = ":importSshPublicKey";

/// The account of "/v1/users/ACCOUNT:importSshPublicKey"; nothing for other paths.
std::optional<std::string> ImporterOf(std::string_view path) {
  if (!path.starts_with(kUsers) || !path.ends_with(kImport)) return std::nullopt;
  path.remove_prefix(kUsers.size());
  if (path.size() < kImport.size()) return std::nullopt;
  path.remove_suffix(kImport.size());
  return std::string(path);
}

}  // namespace

bool TpuService::IsOsLogin(const std::string& path) {
  return path == "/tokeninfo" || ImporterOf(path).has_value();
}

Reply TpuService::OsLogin(const Request& request, std::string& method) {
  if (request.path == "/tokeninfo") {
    method = "oauth2.tokeninfo";
    return {.body = {{"email", kAccount}, {"expires_in", "3599"}}};
  }
  method = "oslogin.users.importSshPublicKey";
  if (request.method != "POST" || ImporterOf(request.path) != kAccount) {
    return ToReply({.code = base::Code::kPermissionDenied,
                    .message = "The caller may change its own login profile only."});
  }
  const auto body = ParseObject(request.body);
  const std::string key(base::Trim(body ? Text(*body, "key") : std::string()));
  if (key.empty() || base::Contains(key, "\n")) {
    return ToReply({.code = base::Code::kInvalidArgument, .message = "Invalid SSH public key."});
  }
  nodes_.AddProfileKey(std::string(kPosixName) + ":" + key);
  const Json account = {{"primary", true},
                        {"username", kPosixName},
                        {"operatingSystemType", "LINUX"},
                        {"homeDirectory", std::string("/home/") + kPosixName}};
  const Json profile = {{"name", kAccount}, {"posixAccounts", Json::array({account})}};
  return {.body = {{"loginProfile", profile}}};
}

}  // namespace jobman::sim
