#include "ssh/host_keys.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "ssh/error_map.hpp"
#include "ssh/way.hpp"

namespace jobman::ssh {
namespace {

using base::Result;
using Key = base::UniqueHandle<ssh_key_struct, ssh_key_free>;

/// "ssh-ed25519 AAAA..."
std::string KeyText(const ssh_key key) {
  const char* type = ssh_key_type_to_char(ssh_key_type(key));
  if (const char* curve = ssh_pki_key_ecdsa_name(key);
      curve != nullptr && base::Contains(curve, "ecdsa"))
    type = curve;
  char* text = nullptr;
  if (type == nullptr || ssh_pki_export_pubkey_base64(key, &text) != SSH_OK) return "";
  std::string line = std::string(type) + " " + text;
  ssh_string_free_char(text);
  return line;
}

Result<std::string> ServerKey(ssh_session session) {
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(session, &raw) != SSH_OK)
    return base::Internal("the server showed no host key");
  const Key key(raw);
  return KeyText(key.get());
}

constexpr std::array<std::string_view, 6> kAlgorithms = {
    "ssh-ed25519",         "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521", "rsa-sha2-512",        "rsa-sha2-256"};

/// Of the keys that sign with it.
std::string_view KeyTypeOf(std::string_view algorithm) {
  return algorithm.starts_with("rsa-") ? "ssh-rsa" : algorithm;
}

std::string TypeOf(const std::string& key) {
  return key.substr(0, key.find(' '));
}

/// The end of a key is enough to recognise it.
std::string Shortened(const std::string& key) {
  return key.size() <= 40 ? key : TypeOf(key) + " ..." + key.substr(key.size() - 16);
}

std::string Expected(const ports::HostTarget& target) {
  std::vector<std::string> keys;
  for (const auto& [type, text] : target.vouched_keys) keys.push_back(Shortened(type + " " + text));
  return base::Join(keys, " or ");
}

}  // namespace

std::string HostKeyAlgorithms(const ports::HostTarget& target,
                              const std::optional<std::string>& pinned) {
  const std::string pinned_type = pinned ? TypeOf(*pinned) : "";
  const auto is_wanted = [&](std::string_view type) {
    if (target.vouched_keys.empty()) return type == pinned_type;
    return std::any_of(target.vouched_keys.begin(), target.vouched_keys.end(),
                       [type](const auto& key) { return key.first == type; });
  };
  std::string first, rest;  // made for each connection: one text each, no lists
  for (const std::string_view algorithm : kAlgorithms) {
    std::string& list = is_wanted(KeyTypeOf(algorithm)) ? first : rest;
    if (!list.empty()) list += ',';
    list += algorithm;
  }
  if (first.empty() || rest.empty()) return first + rest;
  return first + "," + rest;
}

Result<std::string> CheckHostKey(ssh_session session, const ports::HostTarget& target,
                                 const std::optional<std::string>& pinned) {
  const auto endpoint = [&target] { return EndpointOf(target); };  // for errors only
  JM_ASSIGN_OR_RETURN(std::string shown, ServerKey(session));
  if (!target.vouched_keys.empty()) {
    const auto vouched = target.vouched_keys.find(TypeOf(shown));
    if (vouched == target.vouched_keys.end() || shown != vouched->first + " " + vouched->second)
      return KeyChanged(endpoint(), Expected(target), Shortened(shown));
  } else if (pinned && *pinned != shown) {
    return KeyChanged(endpoint(), Shortened(*pinned), Shortened(shown));
  } else if (!pinned && !target.first_sight) {
    return base::Error{.code = base::Code::kUnavailable,
                       .message = "the host key of " + endpoint() +
                                  " could not be fetched from the cloud" +
                                  (target.unvouched.empty() ? "" : ": " + target.unvouched)};
  } else if (!pinned && target.strict) {
    return base::Error{
        .code = base::Code::kFailedPrecondition,
        .message = "nobody vouches for the host key of " + endpoint() + ": " +
                   (target.unvouched.empty() ? "the cloud was not asked" : target.unvouched) +
                   "; and ssh.host_keys is strict",
        .hint =
            "have the node publish its keys (guest attributes), or set ssh.host_keys: "
            "first-use"};
  }
  return shown;
}

}  // namespace jobman::ssh
