#include "sim/hosts/full_disk.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

constexpr auto kTryLimit = std::chrono::seconds(10);

/// Enters namespaces in which mounts are allowed, and private.
std::string MountNamespace() {
  return geteuid() == 0 ? "unshare --mount" : "unshare --user --map-root-user --mount";
}

/// Back to the user's own number.
std::string OwnUser() {
  if (geteuid() == 0) return {};
  return fmt::format("unshare --user --map-user={} --map-group={} ", geteuid(), getegid());
}

}  // namespace

base::Status TryFullDisk() {
  std::vector<std::string> words = {"/bin/sh", "-c",
                                    MountNamespace() + " mount -t tmpfs none /tmp && " +
                                        MountNamespace() + " " + OwnUser() + "true"};
  asio::io_context loop;
  JM_ASSIGN_OR_RETURN(const auto ended,
                      base::RunTask(loop, base::WithTimeout(base::RunProcess(std::move(words)),
                                                            kTryLimit, "unshare")));
  if (ended.exit_code == 0) return base::Ok();
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message =
                         "no full disk here, since a process may not have mounts of its "
                         "own: " +
                         std::string(base::Trim(ended.err)),
                     .hint =
                         "as root it may; or give --dir a small file system, which all hosts "
                         "can fill"};
}

std::string FullDiskScript() {
  return fmt::format(R"(#!/bin/sh
# full LOGIN: runs LOGIN with a home folder on a full disk. With more words: within the namespaces.
[ $# -gt 1 ] || exec {0} "$0" "$1" inside
new=
die() {{
  [ -z "$new" ] || {{ umount "$new"; rmdir "$new"; }} 2>/dev/null
  echo "jobman-sim: no full disk: $1" >&2
  exit 1
}}
size=$(du -sk "$HOME" | cut -f1)
[ "$size" -le 262144 ] || die "the home has $size KiB, of which 262144 can be copied"
new=$(mktemp -d "$TMPDIR/full.XXXXXX") || die "no folder for it"
mount -t tmpfs -o "size=$((size + 1024))k,mode=0700" none "$new" || die "no tmpfs"
# A file of a running job may vanish meanwhile.
cp -R --preserve=mode,timestamps,links "$HOME/." "$new/" 2>/dev/null
ls -A "$new" | grep -q . || ! ls -A "$HOME" | grep -q . || die "the home cannot be copied"
most=$(((size + 2048) * 1024)) # more than fits
head -c "$most" /dev/zero >"$new/.other-users-files" 2>/dev/null
mount --bind "$new" "$HOME" || die "it cannot take the place of the home"
umount "$new" && rmdir "$new"
cd "$HOME" || die "no home"
exec {1}"$1" full
)",
                     MountNamespace(), OwnUser());
}

}  // namespace jobman::sim
