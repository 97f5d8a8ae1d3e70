#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace jobman::test {

/// A script in place of the program gcsfuse, version 3: it mounts a local folder with bindfs, and
/// refuses what the real one refuses. bindfs says where a mount comes from with a path, gcsfuse
/// with the name of the bucket.
///
/// It lies in a folder beside buckets/, whose folders are the buckets, and arguments, to which it
/// adds its own. Beside it, too: unknown, with flags that it does not know, as an older version;
/// and down, with which there is no network.
inline constexpr const char* kGcsfuse = R"sh(#!/bin/sh
home=$(dirname "$0")/..
known=' anonymous-access app-name billing-project cache-dir client-protocol config-file
 custom-endpoint dir-mode enable-nonexistent-type-cache file-cache-cache-file-for-range-read
 file-cache-download-chunk-size-mb file-cache-enable-parallel-downloads
 file-cache-max-parallel-downloads file-cache-max-size-mb file-cache-parallel-downloads-per-file
 file-mode foreground gid http-client-timeout ignore-interrupts implicit-dirs
 kernel-list-cache-ttl-secs key-file limit-bytes-per-sec limit-ops-per-sec log-file log-format
 log-severity max-conns-per-host max-idle-conns-per-host max-retry-attempts max-retry-sleep
 metadata-cache-negative-ttl-secs metadata-cache-ttl-secs only-dir rename-dir-limit
 retry-multiplier sequential-read-size-mb stat-cache-capacity stat-cache-max-size-mb
 stat-cache-ttl temp-dir token-url type-cache-max-size-mb type-cache-ttl uid '
fail() { echo "Error: $*"; exit 1; }
printf '%s\n' "$*" >>"$home/arguments"
[ ! -e "$home/down" ] || fail 'dial tcp: lookup storage.googleapis.com: no such host'
options=,no-allow-other
while [ $# -gt 0 ]; do
  case $1 in
    -o) [ "$2" != allow_other ] || options=; options=$options,$2; shift ;;
    --*)
      name=${1%%=*}
      echo $known | tr ' ' '\n' | grep -qxe "${name#--}" || fail "unknown flag: $name"
      ! grep -qxse "${name#--}" "$home/unknown" || fail "unknown flag: $name"
      ;;
    *) break ;;
  esac
  shift
done
[ $# = 2 ] || fail 'gcsfuse takes one or two arguments'
[ -d "$2" ] || fail "canonicalizing mount point: stat $2: no such file or directory"
[ -z "$(ls -A "$2")" ] || fail 'fusermount: mountpoint is not empty'
[ -d "$home/buckets/$1" ] ||
  fail "SetUpBucket: Error in iterating through objects: storage: bucket doesn't exist"
exec bindfs -o "subtype=gcsfuse$options" "$home/buckets/$1" "$2"
)sh";

/// Why no folder can be mounted here; empty if one can.
inline std::string WhyNoMounts() {
  if (access("/dev/fuse", R_OK | W_OK) != 0) return "/dev/fuse cannot be used here";
  if (std::system("command -v bindfs >/dev/null") != 0) return "bindfs is not installed";
  const int tried = std::system(
      "dir=$(mktemp -d) && mkdir $dir/a $dir/b && bindfs -o no-allow-other $dir/a $dir/b && "
      "{ fusermount -u $dir/b || fusermount3 -u $dir/b; } 2>/dev/null; code=$?; rm -rf $dir/a; "
      "rmdir $dir/b $dir; exit $code");
  return tried == 0 ? "" : "folders cannot be mounted here";
}

/// Writes the script as `folder`/tools/gcsfuse, and makes buckets/ with `buckets` beside tools/.
inline void InstallGcsfuse(const std::filesystem::path& folder,
                           const std::vector<std::string>& buckets) {
  for (const std::string& bucket : buckets)
    std::filesystem::create_directories(folder / "buckets" / bucket);
  std::filesystem::create_directories(folder / "tools");
  std::ofstream(folder / "tools/gcsfuse") << kGcsfuse;
  std::filesystem::permissions(folder / "tools/gcsfuse", std::filesystem::perms::owner_all);
}

}  // namespace jobman::test
