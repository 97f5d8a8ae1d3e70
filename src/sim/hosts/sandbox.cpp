#include "sim/hosts/sandbox.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "jobman/base/strings.hpp"
#include "sim/hosts/host_disk.hpp"

namespace jobman::sim {

namespace {

/// Of /etc, what programs read and everybody may: no accounts, keys, passwords or configuration of
/// services. A file that does not exist here is left out.
constexpr const char* kSystemFiles[] = {"/etc/alternatives",    "/etc/bash.bashrc",
                                        "/etc/ca-certificates", "/etc/ca-certificates.conf",
                                        "/etc/debian_version",  "/etc/gai.conf",
                                        "/etc/host.conf",       "/etc/inputrc",
                                        "/etc/ld.so.cache",     "/etc/ld.so.conf",
                                        "/etc/ld.so.conf.d",    "/etc/localtime",
                                        "/etc/magic",           "/etc/mime.types",
                                        "/etc/os-release",      "/etc/profile",
                                        "/etc/profile.d",       "/etc/protocols",
                                        "/etc/resolv.conf",     "/etc/services",
                                        "/etc/ssh/moduli",      "/etc/ssl/certs",
                                        "/etc/ssl/openssl.cnf", "/etc/terminfo",
                                        "/etc/timezone",        "/sys/devices/system"};

/// Settings of the kernel. Under root's simulator a host has root's user id, which for these files
/// needs no capability: /proc/sys/kernel/core_pattern names a program that the kernel runs as root.
constexpr const char* kKernelFiles[] = {"/proc/acpi", "/proc/bus",          "/proc/fs",
                                        "/proc/irq",  "/proc/mtrr",         "/proc/scsi",
                                        "/proc/sys",  "/proc/sysrq-trigger"};

/// /bin, /lib and their like: links into /usr, or folders where the two are not merged.
void AddPrograms(std::vector<std::string>& words) {
  words.insert(words.end(), {"--ro-bind", "/usr", "/usr"});
  for (const char* name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code ignored;
    if (std::filesystem::is_symlink(name, ignored)) {
      const std::string target = std::filesystem::read_symlink(name, ignored).string();
      words.insert(words.end(), {"--symlink", target, name});
    } else if (std::filesystem::is_directory(name, ignored)) {
      words.insert(words.end(), {"--ro-bind", name, name});
    }
  }
}

}  // namespace

std::vector<std::string> SandboxWords(const base::Path& bwrap) {
  std::vector<std::string> words = {bwrap.string()};
  const std::string own = fmt::format(
      "--die-with-parent --unshare-all --share-net --unshare-user --uid {0} --gid {0} "
      "--new-session --cap-drop ALL",
      kSandboxUid);
  for (std::string& word : base::Split(own, ' ')) words.push_back(std::move(word));
  AddPrograms(words);
  words.insert(words.end(), {"--dev", "/dev", "--proc", "/proc"});
  for (const char* file : kKernelFiles) words.insert(words.end(), {"--ro-bind-try", file, file});
  for (const char* file : kSystemFiles) words.insert(words.end(), {"--ro-bind-try", file, file});
  // Of /usr, the only folder for configuration: under root's simulator a host could read what only
  // root may.
  std::error_code ignored;
  const char* const configuration = "/usr/local/etc";
  if (std::filesystem::is_directory(configuration, ignored)) {
    words.insert(words.end(), {"--tmpfs", configuration});
  }
  for (const char* folder : {"/run", "/root", "/var/tmp"}) {
    words.insert(words.end(), {"--tmpfs", folder});
  }
  words.insert(words.end(), {"--symlink", "/run", "/var/run"});
  for (const char* folder : {"/mnt", "/opt", "/srv", "/var/log"}) {
    words.insert(words.end(), {"--dir", folder});
  }
  return words;
}

std::vector<std::string> SandboxSeal() {
  return {"--remount-ro", "/"};
}

}  // namespace jobman::sim
