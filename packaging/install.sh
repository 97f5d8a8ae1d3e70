#!/bin/sh
# Installs jobman for one user, without root: into ~/.local, or --prefix. It comes with the tarball.
#
# Each version has a folder of its own, PREFIX/lib/jobman/VERSION; what is in PREFIX/bin and PREFIX/share
# are links into it. An upgrade makes the new folder, tries it, and then changes the links, so that a
# controller that runs meanwhile keeps its files. The version before stays, too: on a home that several
# machines share, a controller of another machine may use it.
set -eu

usage() {
  cat <<END
usage: ./install.sh [--prefix DIR] [TARBALL]
       ./install.sh [--prefix DIR] --uninstall

Installs the unpacked package that this script is in, or TARBALL, into DIR (default: \$PREFIX, else
~/.local). To upgrade, run the newer one. --uninstall removes the program; jobs and logs stay.
END
}

say() { printf '%s\n' "$*"; }
fail() {
  printf 'install: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
prefix=${PREFIX:-}
uninstall=
tarball=
while [ $# -gt 0 ]; do
  case $1 in
    --prefix)
      [ $# -ge 2 ] || { usage >&2; exit 2; }
      prefix=$2
      shift
      ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --uninstall) uninstall=yes ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *)
      [ -z "$tarball" ] || { usage >&2; exit 2; }
      tarball=$1
      ;;
  esac
  shift
done
if [ -z "$prefix" ]; then
  [ -n "${HOME:-}" ] || fail "HOME is not set" "say where to install: --prefix DIR"
  prefix=$HOME/.local
fi
case $prefix in
  *[:\;]*) fail "the loader cannot find libraries in a folder with \":\" or \";\" in its name: $prefix" \
    "choose another one with --prefix" ;;
esac

new=
unpacked=
leave() {
  [ -z "$new" ] || rm -rf -- "$new"
  [ -z "$unpacked" ] || rm -rf -- "$unpacked"
}
trap leave EXIT
trap 'exit 130' INT TERM HUP

# Below PREFIX, and where each leads to in the folder of a version.
links="bin/jobman bin/jobman-sim share/man/man1/jobman.1
share/bash-completion/completions/jobman share/zsh/site-functions/_jobman
share/fish/vendor_completions.d/jobman.fish
share/bash-completion/completions/jobman-sim share/zsh/site-functions/_jobman-sim
share/fish/vendor_completions.d/jobman-sim.fish"

# is_ours LINK: a link into a version's folder. Everything else is somebody else's.
is_ours() {
  [ -L "$prefix/$1" ] || return 1
  case $(readlink -- "$prefix/$1") in */lib/jobman/*) return 0 ;; esac
  return 1
}

# in_use FOLDER: prints a process of this machine whose program is there; /proc shows our own.
in_use() {
  for process in /proc/[0-9]*; do
    program=$(readlink -- "$process/exe" 2>/dev/null) || continue
    case $program in "$1"/*) printf '%s\n' "${process#/proc/}"; return 0 ;; esac
  done
  return 1
}

# The folders of versions, one a line; nothing else that may lie there.
versions() {
  for folder in "$prefix"/lib/jobman/*; do
    [ ! -f "$folder/share/jobman/build-id" ] || printf '%s\n' "$folder"
  done
}

remove_all() {
  prefix=$(CDPATH='' cd -- "$prefix" 2>/dev/null && pwd -P) || { say "nothing is installed in $prefix"; exit 0; }
  if process=$(in_use "$prefix/lib/jobman"); then
    fail "jobman is running: process $process" \
      "run: jobman controller uninstall; jobman controller stop; jobman-sim down" "then this again"
  fi
  found=
  for link in $links; do
    is_ours "$link" || continue
    rm -f -- "$prefix/$link"
    found=yes
  done
  versions | while IFS= read -r folder; do rm -rf -- "$folder"; done
  if [ -d "$prefix/lib/jobman" ]; then
    rmdir -- "$prefix/lib/jobman" 2>/dev/null || say "left, as it is not from here: $prefix/lib/jobman"
    found=yes
  fi
  [ -n "$found" ] || { say "nothing is installed in $prefix"; exit 0; }
  say "jobman is removed from $prefix"
  say "its jobs and logs stay, in \$JOBMAN_HOME or ~/.local/state/jobman; slices in the cloud, too"
}

find_package() {
  if [ -n "$tarball" ]; then
    [ -f "$tarball" ] || fail "there is no file $tarball"
    unpacked=$(mktemp -d)
    tar -xzf "$tarball" -C "$unpacked" || fail "$tarball cannot be unpacked" "download it again"
    here=$(echo "$unpacked"/jobman-*)
  fi
  if [ ! -f "$here/share/jobman/build-id" ] || [ ! -x "$here/bin/jobman" ]; then
    fail "$here is not the package of jobman" "unpack the tarball, and run the install.sh in it"
  fi
  id=$(cat "$here/share/jobman/build-id")
}

# A folder of this version that is complete and has been tried, or none.
put_folder() {
  folder=$prefix/lib/jobman/$id
  if [ -d "$folder" ]; then
    say "jobman $id is there already"
    return 0
  fi
  new=$prefix/lib/jobman/.new-$id-$$
  cp -R -- "$here" "$new" || fail "the package cannot be copied to $new" "free some space there"
  "$new/bin/jobman" --version >/dev/null ||
    fail "jobman does not run from $prefix" "is it a file system for programs, and this the right machine?"
  # Somebody else may have been faster, with the same files.
  mv -- "$new" "$folder" 2>/dev/null || [ -d "$folder" ] || fail "$folder cannot be made"
  [ ! -d "$new" ] || rm -rf -- "$new"
  rm -rf -- "$folder/.new-$id-$$"
  new=
}

# Renaming replaces a link at once: there is no moment without the program.
put_links() {
  for link in $links; do
    [ -e "$folder/$link" ] || continue
    mkdir -p -- "$prefix/${link%/*}"
    ln -s -- "$folder/$link" "$prefix/$link.new-$$"
    mv -f -- "$prefix/$link.new-$$" "$prefix/$link"
  done
}

# The version before stays; earlier ones go when nothing on this machine uses them.
remove_older() {
  versions | while IFS= read -r old; do
    case $old in "$folder" | "$before") continue ;; esac
    if process=$(in_use "$old"); then
      say "kept, since process $process uses it: $old"
    else
      rm -rf -- "$old"
    fi
  done
}

tell() {
  say "jobman $id is installed: $prefix/bin/jobman"
  if [ -n "$before" ] && [ "$before" != "$folder" ] && process=$(in_use "$before"); then
    say "process $process still is the version before; to change over: jobman controller stop"
  fi
  case ":${PATH:-}:" in
    *":$prefix/bin:"*) ;;
    *) say "add this line to ~/.profile:  export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
  say "for zsh's completion, before compinit in ~/.zshrc:  fpath+=($prefix/share/zsh/site-functions)"
  say "to try it: jobman init, jobman --help, man jobman"
}

if [ -n "$uninstall" ]; then
  [ -z "$tarball" ] || { usage >&2; exit 2; }
  remove_all
  exit 0
fi
find_package
mkdir -p -- "$prefix/lib/jobman" || fail "$prefix cannot be written to" "choose another place with --prefix"
prefix=$(CDPATH='' cd -- "$prefix" && pwd -P)
for link in $links; do
  if [ -e "$prefix/$link" ] || [ -L "$prefix/$link" ]; then
    is_ours "$link" || fail "$prefix/$link is not from this installer" "move it away, or choose another --prefix"
  fi
done
before=
if [ -L "$prefix/bin/jobman" ]; then
  before=$(readlink -- "$prefix/bin/jobman")
  before=${before%/bin/jobman}
fi
put_folder
put_links
[ "$before" = "$folder" ] || remove_older
tell
