#include <optional>

#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "sim/service/tpu_service.hpp"

// The part of the Cloud OS Login API with which a client reads the login profile and imports its
// key, and the answer that tells whose a token is. There is one account, whose every token is.

namespace jobman::sim {

namespace {

constexpr const char* kAccount = "sim@example.com";
/// Made of the account as Compute Engine does. Source: Compute Engine documentation, "Add SSH keys
/// to VMs".
constexpr const char* kPosixName = "sim_example_com";
constexpr std::string_view kUsers = "/v1/users/";
constexpr std::string_view kImport = ":importSshPublicKey";
constexpr std::string_view kProfile = "/loginProfile";

/// The account of "/v1/users/ACCOUNT" with `what` behind it; nothing for other paths.
std::optional<std::string> AccountIn(std::string_view path, std::string_view what) {
  if (!path.starts_with(kUsers) || !path.ends_with(what)) return std::nullopt;
  path.remove_prefix(kUsers.size());
  if (path.size() < what.size()) return std::nullopt;
  path.remove_suffix(what.size());
  return std::string(path);
}

/// An account without a key has no POSIX name yet: the first import gives it one. Source: Cloud OS
/// Login API v1, users.importSshPublicKey and LoginProfile.
Json ProfileOf(const std::vector<std::string>& lines) {
  Json profile = {{"name", kAccount}};
  for (const std::string& line : lines) {
    const std::string key = line.substr(line.find(':') + 1);
    const std::string fingerprint = base::Sha256Hex(key);
    profile["sshPublicKeys"][fingerprint] = {
        {"key", key},
        {"fingerprint", fingerprint},
        {"name", std::string("users/") + kAccount + "/sshPublicKeys/" + fingerprint}};
    profile["posixAccounts"] =
        Json::array({{{"primary", true},
                      {"username", kPosixName},
                      {"operatingSystemType", "LINUX"},
                      {"homeDirectory", std::string("/home/") + kPosixName}}});
  }
  return profile;
}

}  // namespace

bool TpuService::IsOsLogin(const std::string& path) {
  return path == "/tokeninfo" || AccountIn(path, kImport) || AccountIn(path, kProfile);
}

Reply TpuService::OsLogin(const Request& request, std::string& method) {
  if (request.path == "/tokeninfo") {
    method = "oauth2.tokeninfo";
    return {.body = {{"email", kAccount}, {"expires_in", "3599"}}};
  }
  if (request.method == "GET" && AccountIn(request.path, kProfile) == kAccount) {
    method = "oslogin.users.getLoginProfile";
    return {.body = ProfileOf(nodes_.profile_keys())};
  }
  method = "oslogin.users.importSshPublicKey";
  if (request.method != "POST" || AccountIn(request.path, kImport) != kAccount) {
    return ToReply({.code = base::Code::kPermissionDenied,
                    .message = "The caller may change its own login profile only."});
  }
  const auto body = ParseObject(request.body);
  const std::string key(base::Trim(body ? Text(*body, "key") : std::string()));
  if (key.empty() || base::Contains(key, "\n")) {
    return ToReply({.code = base::Code::kInvalidArgument, .message = "Invalid SSH public key."});
  }
  nodes_.AddProfileKey(std::string(kPosixName) + ":" + key);
  return {.body = {{"loginProfile", ProfileOf(nodes_.profile_keys())}}};
}

}  // namespace jobman::sim
