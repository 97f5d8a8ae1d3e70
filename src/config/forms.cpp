#include "config/forms.hpp"

#include <algorithm>
#include <cctype>

#include "config/names.hpp"
#include "jobman/base/regex.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/url.hpp"
#include "jobman/core/built_in.hpp"
#include "jobman/core/ssh_way.hpp"

namespace jobman::config {
namespace {

using base::Status;
using Text = std::string_view;

/// Whether the URL contains a login. Job files, listings and the store show URLs in clear.
bool HoldsUser(Text url) {
  url.remove_prefix(url.find("://") + 3);
  return url.substr(0, url.find_first_of("/?#")).find('@') != Text::npos;
}

Status CheckUrl(Text url) {
  if (!IsUrl(url))
    return base::InvalidArgument("\"" + std::string(url) + "\" is not an http(s) URL");
  if (HoldsUser(url)) {
    return base::InvalidArgument(
        "the URL contains a user or a password, which everybody would see",
        "keep it in a file, post: {file: PATH}, or send a secret: token: {file: PATH}");
  }
  const auto parsed = base::ParseUrl(url);
  return parsed.ok() ? base::Ok() : Status(base::InvalidArgument(parsed.error().message));
}

/// An address that is safe between < and > in SMTP and in a header.
Status CheckAddress(Text address) {
  const std::size_t at = address.find('@');
  const bool has_parts = at != Text::npos && at > 0 && at + 1 < address.size();
  const bool clean = std::none_of(address.begin(), address.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 32 || c == '<' || c == '>' || c == ',' || c == 127;
  });
  if (has_parts && clean) return base::Ok();
  return base::InvalidArgument("\"" + std::string(address) + "\" is not a mail address",
                               "for example: ada@example.com");
}

Status CheckPattern(Text pattern) {
  const auto regex = base::Regex::Compile(std::string(pattern));
  return regex.ok() ? base::Ok() : Status(regex.error());
}

Status CheckLabelName(Text key, Text /*value*/) {
  return CheckLabelKey(key);
}

Status CheckSliceLabelName(Text key, Text /*value*/) {
  JM_TRY(CheckLabelKey(key));
  if (!key.starts_with("jobman-")) return base::Ok();
  return base::InvalidArgument("\"" + std::string(key) + "\" is one of jobman's own labels",
                               "choose a key that does not begin with \"jobman-\"");
}

Status CheckMetadataName(Text key, Text /*value*/) {
  return CheckMetadataKey(key);
}

/// Empty: not given. One of another project is written in full, as the API has it:
/// QueuedResource.reservationName.
Status CheckReservation(Text name) {
  if (!name.starts_with("projects/")) return name.empty() ? base::Ok() : CheckResourceName(name);
  const auto form = base::Regex::Compile(
      "^projects/[a-z0-9.:-]+/locations/[a-z0-9-]+/reservations/[a-z][a-z0-9-]*$");
  if (form.ok() && form->Matches(name)) return base::Ok();
  return base::InvalidArgument("\"" + std::string(name) + "\" is not a whole name of a reservation",
                               "for example: projects/PROJECT/locations/ZONE/reservations/NAME");
}

/// Empty: none.
Status CheckNode(Text name) {
  return name.empty() ? base::Ok() : CheckResourceName(name);
}

/// The API takes the name, and what Compute Engine calls it itself, also as a URL. `collection`: a
/// pattern.
Status CheckPath(Text text, const std::string& collection) {
  if (text.find('/') == Text::npos) return text.empty() ? base::Ok() : CheckResourceName(text);
  const auto form =
      base::Regex::Compile("^(https://[a-z.]+/compute/[a-z0-9]+/)?projects/[a-z0-9.:-]+/" +
                           collection + "/[a-z][a-z0-9-]*$");
  if (form.ok() && form->Matches(text)) return base::Ok();
  return base::InvalidArgument(
      "\"" + std::string(text) + "\" is neither a name nor a path of Compute Engine",
      "write the name, or a path such as projects/my-project/global/networks/my-network");
}

Status CheckNetwork(Text text) {
  return CheckPath(text, "global/networks");
}

Status CheckSubnetwork(Text text) {
  return CheckPath(text, "regions/[a-z0-9-]+/subnetworks");
}

Status CheckServiceAccount(Text email) {
  const bool domain = email.substr(email.rfind('@') + 1).find('.') != Text::npos;
  if ((CheckAddress(email).ok() && domain) || email == "default" || email.empty())
    return base::Ok();
  return base::InvalidArgument(
      "\"" + std::string(email) + "\" is not the mail address of a service account",
      "for example: NAME@PROJECT.iam.gserviceaccount.com");
}

Status CheckEnvironment(Text name, Text value) {
  JM_TRY(CheckVariableName(name));
  return CheckVariable(name, value);
}

Status CheckSecretName(Text name) {
  Status status = CheckVariableName(name);
  if (!status.ok()) status.error().hint = "write the name of the variable, never its value";
  return status;
}

constexpr std::size_t kLongestFolder = 100;

bool IsFolderName(Text name) {
  const bool safe = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || Text("._-").find(c) != Text::npos;
  });
  const bool taken = name == "." || name.starts_with("..") || name == ".ssh" || name == ".jobman";
  return safe && !taken && !name.starts_with('-');
}

/// The name of a conda environment.
Status CheckFolderName(Text name) {
  if (IsFolderName(name) && name.size() <= kLongestFolder) return base::Ok();
  return base::InvalidArgument("\"" + std::string(name) + "\" is not the name of a folder",
                               "use letters, digits, -, _ and ., 100 at most");
}

/// A folder below the home folder of the hosts. Empty: not given.
Status CheckHomeFolder(Text path) {
  const auto parts = base::Split(path, '/');
  const bool named = std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return !part.empty() && IsFolderName(part);
  });
  if (path.empty() || (named && path.size() <= kLongestFolder)) return base::Ok();
  return base::InvalidArgument(
      "\"" + std::string(path) + "\" is not a folder below the home folder of the hosts",
      "write its path from there, such as train or envs/train, in letters, digits, -, _ and ., "
      "100 at most");
}

/// The file goes to ~/.ssh of the hosts under its own name.
Status CheckIdentityFile(Text path) {
  const Text name = path.substr(path.rfind('/') + 1);
  const bool taken = core::IsSshsOwnFile(name);
  const bool clean = std::none_of(name.begin(), name.end(),
                                  [](char c) { return static_cast<unsigned char>(c) < 32; });
  if (clean && !taken) return base::Ok();
  return base::InvalidArgument("\"" + std::string(name) + "\" would replace another file of ~/.ssh",
                               "give the key another name: it keeps it on the hosts");
}

/// Lines of ours mark where our part of ~/.ssh/config begins and ends.
Status CheckConfigEntry(Text text) {
  if (("\n" + std::string(text)).find("\n# jobman") == std::string::npos) return base::Ok();
  return base::InvalidArgument("a line begins with \"# jobman\"",
                               "jobman marks its part of ~/.ssh/config with such lines");
}

/// Empty: none.
Status CheckProxyJump(Text text) {
  if (text.empty()) return base::Ok();
  JM_TRY(core::ParseJumpHosts(text));
  return base::Ok();
}

/// Empty: none.
Status CheckProxyCommand(Text text) {
  if (text.empty()) return base::Ok();
  const core::ProxyTokens any;
  JM_TRY(core::ExpandProxyCommand(text, any));
  return base::Ok();
}

/// A folder of the hosts.
Status CheckHostFolder(Text path) {
  if (path.starts_with('/') || path.starts_with("~/")) return base::Ok();
  return base::InvalidArgument("\"" + std::string(path) + "\" is not an absolute path",
                               "begin with / or ~/: it is a folder of the hosts");
}

/// Of which host 0 exports what lies below.
Status CheckSharedFolder(Text path) {
  JM_TRY(CheckHostFolder(path));
  const bool odd = std::any_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) < 32 || c == '"' || c == '\\';
  });
  if (odd) {
    return base::InvalidArgument("\"" + std::string(path) + "\" has a character that no export can",
                                 "leave out quotes, backslashes and line breaks");
  }
  if (path.find_first_not_of("/.~") != Text::npos) return base::Ok();
  return base::InvalidArgument("\"" + std::string(path) + "\" cannot be shared",
                               "name a folder below it, such as /srv/shared");
}

/// What the code of the job is unpacked into. Containers mount it, so it has no colon.
Status CheckCodePath(Text path) {
  JM_TRY(CheckHostFolder(path));
  const bool clean = std::none_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) < 32 || c == 127 || c == ':';
  });
  std::size_t names = 0;
  for (const std::string& part : base::Split(path, '/')) {
    const bool named = !part.empty() && part != "~";
    if (part == "." || part == ".." || (names == 0 && named && part == ".jobman")) names = 100;
    if (named) ++names;
  }
  if (clean && names > 0 && names < 100) return base::Ok();
  return base::InvalidArgument(
      "\"" + std::string(path) + "\" cannot be the folder of the code",
      "write ~/NAME or /FOLDER/NAME, without \":\", \".\" and \"..\"; ~/.jobman is jobman's own");
}

/// What git takes for a repository, and not for an option. Everybody sees it.
Status CheckRepository(Text git) {
  const bool clean = std::none_of(git.begin(), git.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 32 || c == 127;
  });
  if (!clean || git.starts_with('-') || git.starts_with("ext::")) {
    return base::InvalidArgument("\"" + std::string(git) + "\" is not the URL of a repository",
                                 "for example: https://github.com/me/proj.git");
  }
  if (!IsUrl(git) || !HoldsUser(git)) return base::Ok();
  return base::InvalidArgument(
      "the URL contains a user or a password, which everybody would see",
      "leave it out: git asks your credential helper (git help credentials), or use ssh");
}

Status CheckRef(Text ref) {
  const bool clean = std::none_of(ref.begin(), ref.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 32 || c == 127 ||
           Text(":?*[\\^~").find(c) != Text::npos;
  });
  if (clean && !ref.empty() && !ref.starts_with('-') && ref.find("..") == Text::npos)
    return base::Ok();
  return base::InvalidArgument("\"" + std::string(ref) +
                               "\" is not the name of a branch, a tag or "
                               "a commit");
}

Status CheckIgnorePattern(Text pattern) {
  if (!base::Trim(pattern).empty() && pattern.find('\n') == Text::npos) return base::Ok();
  return base::InvalidArgument("a pattern is one line, and not empty", "for example: *.ckpt");
}

/// A folder of an NFS server.
Status CheckExport(Text text) {
  const std::size_t colon = text.find(":/");
  if (colon != Text::npos && colon > 0 && text.find_first_of(" \t\n") == Text::npos &&
      !text.starts_with('-')) {
    return base::Ok();
  }
  return base::InvalidArgument("\"" + std::string(text) + "\" is not SERVER:/FOLDER",
                               "for example: 10.130.0.2:/vol1");
}

Status CheckBucket(Text name) {
  const bool fine = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || Text("._-").find(c) != Text::npos;
  });
  if (fine && name.size() >= 3 && name.size() <= 222 && !name.starts_with('-')) return base::Ok();
  return base::InvalidArgument(
      "\"" + std::string(name) + "\" is not the name of a bucket",
      name.starts_with("gs://") ? "write the name alone, without gs://" : "for example: my-bucket");
}

/// -1 or a whole number.
Status CheckLimitNumber(Text text) {
  if (text == "-1" || base::ParseNumber(text)) return base::Ok();
  const bool digits = text.find_first_not_of("0123456789") == Text::npos;
  const std::string what = digits && !text.empty() ? "\" is too large" : "\" is not a whole number";
  return base::InvalidArgument("\"" + std::string(text) + what,
                               "write a number, or -1: without limit");
}

Status CheckPython(Text text) {
  if (text.starts_with("python")) text.remove_prefix(6);
  if (text.starts_with("3.") && base::ParseNumber(text.substr(2))) return base::Ok();
  return base::InvalidArgument("\"" + std::string(text) + "\" is not a version of Python 3",
                               "write \"3.10\", in quotes, or python3.10");
}

Status CheckImage(Text image) {
  const bool blank = image.find_first_of(" \t\n") != Text::npos;
  if (!blank && !image.starts_with('-')) return base::Ok();
  return base::InvalidArgument("\"" + std::string(image) + "\" is not the name of an image",
                               "for example: python:3.10");
}

/// NAME=VALUE, or NAME alone, as for docker run.
Status CheckContainerVariable(Text text) {
  Status status = CheckVariableName(text.substr(0, text.find('=')));
  if (!status.ok()) status.error().hint = "write NAME=VALUE, for example: HF_HOME=/data";
  return status;
}

struct Form {
  Text path;
  Status (*text)(Text) = nullptr;
  Status (*member)(Text name, Text value) = nullptr;
};

constexpr Form kForms[] = {
    {.path = "brevo_email.receiver", .text = &CheckAddress},
    {.path = "brevo_email.sender", .text = &CheckAddress},
    {.path = "code.exclude", .text = &CheckIgnorePattern},
    {.path = "code.git", .text = &CheckRepository},
    {.path = "code.path", .text = &CheckCodePath},
    {.path = "code.ref", .text = &CheckRef},
    {.path = "command.env", .member = &CheckEnvironment},
    {.path = "command.secrets[].name", .text = &CheckSecretName},
    {.path = "conda.name", .text = &CheckFolderName},
    {.path = "docker.env_vars", .text = &CheckContainerVariable},
    {.path = "docker.image", .text = &CheckImage},
    {.path = "docker.mount_dirs", .text = &CheckHostFolder},
    {.path = "gcsfuse.bucket_name", .text = &CheckBucket},
    {.path = "gcsfuse.cache.dir", .text = &CheckHostFolder},
    {.path = "gcsfuse.cache.file_cache_max_size_mb", .text = &CheckLimitNumber},
    {.path = "gcsfuse.cache.metadata_ttl_secs", .text = &CheckLimitNumber},
    {.path = "gcsfuse.cache.stat_cache_max_size_mb", .text = &CheckLimitNumber},
    {.path = "gcsfuse.cache.type_cache_max_size_mb", .text = &CheckLimitNumber},
    {.path = "gcsfuse.mount_path", .text = &CheckHostFolder},
    {.path = "job.environment", .member = &CheckEnvironment},
    {.path = "job.group", .text = &CheckJobName},
    {.path = "job.labels", .text = &CheckLabelValue, .member = &CheckLabelName},
    {.path = "job.name", .text = &CheckJobName},
    {.path = "job.remote_user", .text = &CheckLogin},
    {.path = "job.queue.prefix[].name", .text = &CheckStepName},
    {.path = "matrix", .member = &CheckEnvironment},
    {.path = "nfs.export", .text = &CheckExport},
    {.path = "nfs.path", .text = &CheckSharedFolder},
    {.path = "on.*[].brevo.receiver", .text = &CheckAddress},
    {.path = "on.*[].brevo.sender", .text = &CheckAddress},
    {.path = "on.*[].mail", .text = &CheckAddress},
    {.path = "on.*[].post", .text = &CheckUrl},
    {.path = "setup[].name", .text = &CheckStepName},
    {.path = "smtp.from", .text = &CheckAddress},
    {.path = "ssh.identities[].config_entry", .text = &CheckConfigEntry},
    {.path = "ssh.identities[].private_key", .text = &CheckIdentityFile},
    {.path = "ssh.identities[].public_key", .text = &CheckIdentityFile},
    {.path = "ssh.proxy_command", .text = &CheckProxyCommand},
    {.path = "ssh.proxy_jump", .text = &CheckProxyJump},
    {.path = "ssh.tpu_private_key", .text = &CheckIdentityFile},
    {.path = "ssh.tpu_public_key", .text = &CheckIdentityFile},
    {.path = "ssh.user", .text = &CheckLogin},
    {.path = "tpu.existing", .text = &CheckNode},
    {.path = "tpu.labels", .text = &CheckLabelValue, .member = &CheckSliceLabelName},
    {.path = "tpu.metadata", .member = &CheckMetadataName},
    {.path = "tpu.network", .text = &CheckNetwork},
    {.path = "tpu.project", .text = &CheckProject},
    {.path = "tpu.reservation", .text = &CheckReservation},
    {.path = "tpu.service_account", .text = &CheckServiceAccount},
    {.path = "tpu.subnetwork", .text = &CheckSubnetwork},
    {.path = "tpu.tags", .text = &CheckTag},
    {.path = "tpu.zone", .text = &CheckZone},
    {.path = "venv.name", .text = &CheckHomeFolder},
    {.path = "venv.python", .text = &CheckPython},
    {.path = "watchdog.bad_output[].match", .text = &CheckPattern},
};

/// The keys of another mount have the forms of the first one's.
std::string SameAs(Text path) {
  constexpr Text kMore = "gcsfuse.extra_mounts[].";
  return path.starts_with(kMore) ? "gcsfuse." + std::string(path.substr(kMore.size()))
                                 : std::string(path);
}

const Form* FindForm(Text row_path) {
  const std::string path = SameAs(row_path);
  const auto* found = std::find_if(std::begin(kForms), std::end(kForms),
                                   [&](const Form& form) { return form.path == path; });
  return found == std::end(kForms) ? nullptr : found;
}

}  // namespace

Status CheckForm(Text row_path, Text text) {
  const Form* form = FindForm(row_path);
  return form == nullptr || form->text == nullptr ? base::Ok() : form->text(text);
}

Status CheckMember(Text row_path, Text name, Text value) {
  const Form* form = FindForm(row_path);
  return form == nullptr || form->member == nullptr ? base::Ok() : form->member(name, value);
}

Status CheckVariableName(Text name) {
  if (base::IsEnvName(name)) return base::Ok();
  return base::InvalidArgument("\"" + std::string(name) + "\" is not a variable name",
                               "names consist of letters, digits and _");
}

bool IsUrl(Text text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

}  // namespace jobman::config
