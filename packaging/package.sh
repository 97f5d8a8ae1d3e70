#!/bin/sh
# package.sh BUILD OUT: makes the tarball and the .deb of a release build, in the folder OUT.
# ./bootstrap.sh package runs it, and check.sh after it.
#
# The tarball is for machines with an older C library, or another distribution: it has every shared
# library that the programs load, with the loader. The .deb has none of them, and depends on packages.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
[ $# -eq 2 ] || { echo "usage: package.sh BUILD OUT" >&2; exit 2; }
build=$(CDPATH='' cd -- "$1" && pwd -P)
mkdir -p -- "$2"
out=$(CDPATH='' cd -- "$2" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 130' INT TERM HUP
umask 022

programs="jobman jobman-sim"
version=$("$build/bin/jobman" --quiet version)
machine=$(uname -m)
name="jobman-$version-linux-$machine"
# Two builds of one commit give the same files.
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)}

say() { printf 'package: %s\n' "$*"; }
fail() {
  printf 'package: %s\n' "$*" >&2
  exit 1
}

# libraries PROGRAM...: the paths of what they load, one a line; the loader among them.
libraries() {
  for program in "$@"; do ldd "$program"; done |
    sed -n -e 's/^.* => \(\/[^ ]*\) (0x.*$/\1/p' -e 's/^[[:space:]]*\(\/[^ ]*\) (0x.*$/\1/p' | sort -u
}

# What jobman opens only when it is needed (docs/adr/0033-curl-when-needed.md), as a program that loads it.
opener="$work/opener"
echo 'int main(void) { return 0; }' |
  ${CC:-gcc} -x c - -o "$opener" -Wl,--no-as-needed -l:libcurl.so.4 -l:libssh.so.4 -l:libcrypto.so.3

# owner FILE: the package that it is from; on a merged /usr dpkg may know it by either path.
owner() {
  real=$(readlink -f -- "$1")
  for path in "$1" "$real" "/usr$1" "${real#/usr}"; do
    found=$(dpkg-query -S "$path" 2>/dev/null | head -n 1) || continue
    [ -n "$found" ] || continue
    printf '%s\n' "${found%%:*}"
    return 0
  done
  fail "no package owns $1: its licence is not known"
}

# Completions, configurations and documents, below $1/share; laid out as in the source, for the links
# among them.
add_shared() {
  mkdir -p "$1/share/doc/jobman/tests/golden/data"
  DESTDIR="$work/installed" cmake --install "$build" --prefix /p >/dev/null
  cp -R "$work/installed/p/share/." "$1/share/"
  cp "$root/README.md" "$root/CONTRIBUTING.md" "$1/share/doc/jobman/"
  cp -R "$root/configs" "$root/docs" "$1/share/doc/jobman/"
  cp -R "$root/tests/stories" "$1/share/doc/jobman/tests/"
  cp "$root/tests/golden/data/cloud_errors.txt" "$1/share/doc/jobman/tests/golden/data/"
}

# Host modules for names of users and machines (nss_sss, nss_ldap) may be older than glibc 2.34, and
# want these by name. Theirs would not fit our libc.
glibc_parts="libpthread.so.0 libdl.so.2 librt.so.1 libutil.so.1 libresolv.so.2 libnss_files.so.2
libnss_dns.so.2 libanl.so.1"

make_tree() {
  tree="$work/$name"
  lib="$tree/lib/jobman"
  mkdir -p "$tree/bin" "$lib" "$tree/share/jobman" "$tree/share/doc/jobman/licences"
  ${CC:-gcc} -std=gnu11 -Wall -Wextra -Os -static -s "$root/packaging/launcher.c" -o "$tree/bin/jobman"
  ln "$tree/bin/jobman" "$tree/bin/jobman-sim"
  : >"$work/owners"
  for program in $programs; do
    strip -o "$lib/$program" "$build/bin/$program"
    libraries "$build/bin/$program" "$opener"
  done | sort -u >"$work/libraries"
  libc=$(grep '/libc\.so\.6$' "$work/libraries")
  for part in $glibc_parts; do
    [ ! -e "${libc%/*}/$part" ] || echo "${libc%/*}/$part"
  done >>"$work/libraries"
  sort -u "$work/libraries" | while IFS= read -r library; do
    case ${library##*/} in
      ld-linux*) cp -L "$library" "$lib/jobman-ld.so" ;;
      *) cp -L "$library" "$lib/" ;;
    esac
    owner "$library" >>"$work/owners"
  done
  [ -x "$lib/jobman-ld.so" ] || fail "the programs have no loader of glibc"
  add_shared "$tree"
  ln -s ../doc/jobman/configs "$tree/share/jobman/configs"
  cp /etc/ssl/certs/ca-certificates.crt "$tree/share/jobman/"
  cp "$root/packaging/install.sh" "$tree/"
  chmod 755 "$tree/install.sh"
  # What is compiled in, too.
  printf '%s\n' ca-certificates nlohmann-json3-dev libcli11-dev libasio-dev libcpp-httplib-dev \
    libspdlog-dev libmd-dev >>"$work/owners"
  add_licences "$tree/share/doc/jobman/licences"
  (cd "$tree" && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2) >"$work/sums"
  printf '%s-%s\n' "$version" "$(sha256sum "$work/sums" | cut -c 1-12)" >"$tree/share/jobman/build-id"
}

add_licences() {
  {
    echo "The files in lib/jobman are unchanged ones of these packages; their sources are at"
    echo "https://snapshot.debian.org and, for Ubuntu, https://launchpad.net/ubuntu. Each may be replaced"
    echo "by another version of the same library. bin/jobman contains parts of glibc (libc6)."
    echo
    sort -u "$work/owners" | while IFS= read -r package; do
      # shellcheck disable=SC2016  # dpkg-query's own variables
      dpkg-query -W -f='${Package} ${Version}\n' "$package" 2>/dev/null | head -n 1 || continue
      cp -L "/usr/share/doc/$package/copyright" "$1/$package" ||
        fail "/usr/share/doc/$package/copyright is missing: the licence must come along"
    done
  } >"$1/README"
}

make_tarball() {
  (cd "$work" && tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner \
    -cf - "$name" | gzip -n -9) >"$out/$name.tar.gz.new"
  mv -f "$out/$name.tar.gz.new" "$out/$name.tar.gz"
  (cd "$out" && sha256sum "$name.tar.gz") >"$out/$name.tar.gz.sha256"
  say "$out/$name.tar.gz, $(du -k "$out/$name.tar.gz" | cut -f 1) KiB"
}

# depends PROGRAM...: for the field Depends.
depends() {
  if command -v dpkg-shlibdeps >/dev/null 2>&1; then
    mkdir -p "$work/shlibs/debian"
    printf 'Source: jobman\n\nPackage: jobman\nArchitecture: any\n' >"$work/shlibs/debian/control"
    (cd "$work/shlibs" && dpkg-shlibdeps -O "$@") | sed -n 's/^shlibs:Depends=//p'
    return
  fi
  # Without dpkg-dev: what is loaded, at least as new as here.
  libraries "$@" | while IFS= read -r library; do owner "$library"; done | sort -u |
    while IFS= read -r package; do
      # shellcheck disable=SC2016
      dpkg-query -W -f='${Package} (>= ${Version})\n' "$package" | head -n 1
    done | paste -s -d , | sed 's/,/, /g'
}

make_deb() {
  deb="$work/deb"
  arch=$(dpkg --print-architecture)
  mkdir -p "$deb/DEBIAN" "$deb/usr/bin"
  for program in $programs; do strip -o "$deb/usr/bin/$program" "$build/bin/$program"; done
  add_shared "$deb/usr"
  ln -s configs "$deb/usr/share/doc/jobman/examples"
  gzip -n -9 "$deb/usr/share/man/man1/jobman.1"
  needs=$(depends "$deb/usr/bin/jobman" "$deb/usr/bin/jobman-sim" "$opener")
  [ -n "$needs" ] || fail "the dependencies of the .deb cannot be computed"
  cat >"$deb/DEBIAN/control" <<END
Package: jobman
Version: $version
Architecture: $arch
Maintainer: jobman developers <jobman@localhost>
Installed-Size: $(du -k -s "$deb/usr" | cut -f 1)
Depends: $needs
Recommends: ca-certificates, openssh-client
Suggests: openssh-server, bubblewrap
Section: utils
Priority: optional
Description: TPU VM lifecycle and job manager
 Runs jobs on Cloud TPU VMs: requests the slice, runs setup steps and a command on
 every host over SSH, brings back logs and exit codes, and starts again after a
 preemption. With a simulator of the service, jobman-sim, to try it for nothing.
END
  (cd "$deb" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k 2) >"$deb/DEBIAN/md5sums"
  SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group -Zxz --build "$deb" "$out/jobman_${version}_$arch.deb" >/dev/null
  say "$out/jobman_${version}_$arch.deb, $(du -k "$out/jobman_${version}_$arch.deb" | cut -f 1) KiB"
}

make_tree
make_tarball
make_deb
