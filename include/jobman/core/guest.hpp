#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/core/job.hpp"

/// People who are let in to the hosts of slices beside the job's own login (ADR 27).
namespace jobman::core {

/// An SSH public key, as a line of an OpenSSH ".pub" file has it.
struct PublicKey {
  std::string type = {};     ///< "ssh-ed25519"
  std::string data = {};     ///< base64
  std::string comment = {};  ///< one line of printable UTF-8; may be empty
  friend bool operator==(const PublicKey&, const PublicKey&) = default;
};
/// Reads the line "TYPE DATA COMMENT". kInvalidArgument, with what to give instead: a private key,
/// several lines, options of an authorized_keys file, a certificate, a type that hosts do not take,
/// data that are not of that type, control characters. No message repeats the text.
base::Result<PublicKey> ParsePublicKey(std::string_view text);
/// "SHA256:...", as ssh-keygen -l shows it.
std::string FingerprintOf(const PublicKey& key);

/// A public key that may log in to the hosts of jobs as `user`.
struct Guest {
  std::string user = {};
  PublicKey key = {};
  /// Which jobs: their numbers, and patterns of names, for later jobs too. Empty: every job.
  std::vector<std::string> jobs = {};
  TimePoint added_at = {};  ///< when they were last let in to more jobs
  /// Is being taken away: no node gets the key any more.
  bool leaving = false;
  /// Jobs that the guest is not let in to any more, and whose nodes may still have the key.
  std::vector<JobId> left_on = {};
  friend bool operator==(const Guest&, const Guest&) = default;
};

/// kInvalidArgument unless it is a name that hosts make an account for: not root, which Compute
/// Engine lets nobody log in as by default. Source: Compute Engine documentation, "Add SSH keys to
/// VMs".
base::Status CheckGuestUser(std::string_view user);
/// The user that the comment of a key names, as of "ann@laptop"; empty if it names none.
std::string UserInComment(const PublicKey& key);
/// kInvalidArgument unless the word can stand in Guest::jobs.
base::Status CheckJobWord(std::string_view word);

/// The line of the metadata `ssh-keys`, "USER:TYPE DATA USER", without an end. Source: Compute
/// Engine documentation, "Add SSH keys to VMs".
std::string LoginOf(const Guest& guest);
/// Whether both are the same key of the same user, whatever jobs they are for.
bool IsSameLogin(const Guest& one, const Guest& other);
/// The record of the same key of the same user; nothing if there is none.
std::optional<Guest> FindLogin(const std::vector<Guest>& guests, const Guest& login);
/// Whether nodes of the job may still have the key, which is to be taken away there.
bool HasLeft(const Guest& guest, JobId job);
/// Whether the guest's key is to be on the nodes of that job.
bool IsLetIn(const Guest& guest, JobId job, std::string_view name);
/// Whether a word of Guest::jobs means the job: its number, "42" or "000042", or a pattern of its
/// name.
bool MeansJob(std::string_view word, JobId job, std::string_view name);

/// Lines of the metadata `ssh-keys` to add and to take away.
struct LoginChange {
  std::vector<std::string> add = {};
  std::vector<std::string> remove = {};
  bool empty() const { return add.empty() && remove.empty(); }
  friend bool operator==(const LoginChange&, const LoginChange&) = default;
};
/// Whether `keys`, a value of `ssh-keys`, has the login of `line`: the same user and key, whatever
/// follows them.
bool HasLogin(std::string_view keys, std::string_view line);
/// `keys` after the change. What it does not name stays as it is; a login that is there is not
/// added again.
std::string ChangedLogins(std::string_view keys, const LoginChange& change);
/// What the nodes of that job need to agree with `guests`. Logins that `kept` has, a value of
/// `ssh-keys`, are never taken away: the job's own, and those of its job file.
LoginChange LoginsFor(const std::vector<Guest>& guests, JobId job, std::string_view name,
                      std::string_view kept);

/// The key of metadata that has hosts log people in by their Google account. Set for a node, it
/// counts more than the project's. Source: Compute Engine documentation, "Set up OS Login".
inline constexpr const char* kEnableOsLogin = "enable-oslogin";
/// Whether metadata have a key whose value Compute Engine takes for true: TRUE, Y, Yes or 1, in any
/// case. Source: Compute Engine documentation, "Boolean values" of metadata.
bool IsTrueIn(const std::map<std::string, std::string>& metadata, const std::string& key);

base::Json GuestToJson(const Guest& guest);
/// kNewerStore for what this version does not understand.
base::Result<Guest> GuestFromJson(const base::Json& json);

}  // namespace jobman::core
