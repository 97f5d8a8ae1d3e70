#!/bin/sh
# What `jobman cp` runs on a host, with `sh -c`.
#
#   pack PATH...                 writes an archive of the files and folders to stdout
#   unpack NAME DST one|many     unpacks the archive on stdin into the folder NAME, beside the place
#                                where its content will be
#   commit NAME DST one|many     moves that content to its place: files replace files, folders are merged
#   discard NAME DST one|many    removes the folder
#
# DST is a folder that takes the content under its own names or, if there is none, the new name of
# the one thing that was sent. Between unpack and commit jobman learns whether all was sent, so no
# partial file ever has its final name. The exit code of pack is 3 if a PATH does not exist; it
# is tar's otherwise. The first line on stderr says what is wrong.
LC_ALL=C
export LC_ALL
unset TAR_OPTIONS

jc_fail() {
  printf '%s\n' "$*" >&2
  exit 2
}

# jc_place DST one|many: sets jc_into, a folder that exists, and jc_name, empty for their own names.
jc_place() {
  jc_into=$1
  jc_name=
  [ ! -d "$1" ] || return 0
  [ "$2" = one ] || jc_fail "$1: No such directory, which several files or folders need"
  case $1 in */) jc_fail "$1: No such directory" ;; esac
  jc_name=${1##*/}
  jc_into=${1%/*}
  [ -n "$jc_into" ] || jc_into=/
  [ -d "$jc_into" ] || jc_fail "$jc_into: No such directory"
}

jc_drop() {
  [ -d "$1" ] || return 0
  find "$1" -type d ! -perm -700 -exec chmod u+rwx {} +
  rm -rf "$1"
}

# What ends the session must not end this.
jc_end() {
  trap '' TERM HUP INT PIPE
  jc_drop "$jc_scratch"
}

jc_unpack() {
  # What a connection that broke long ago left behind.
  find "$jc_into" -maxdepth 1 -name '.jobman-cp-*' -mtime +1 -exec rm -rf {} + 2>/dev/null
  jc_said=$(mkdir -m 700 "$jc_scratch" 2>&1) || jc_fail "$jc_into: ${jc_said##*: }"
  trap jc_end EXIT
  trap 'exit 143' TERM HUP INT
  tar --extract --file=- --directory="$jc_scratch" --preserve-permissions --no-same-owner || exit 2
  trap - EXIT
}

# jc_merge FROM TO: moves the content of a folder into another one.
jc_merge() (
  find "$1" -mindepth 1 -maxdepth 1 ! -type d -exec mv -f -t "$2" -- {} + || exit 2
  for jc_one in "$1"/*/ "$1"/.[!.]*/ "$1"/..?*/; do
    jc_one=${jc_one%/}
    if [ ! -d "$jc_one" ] || [ -L "$jc_one" ]; then continue; fi
    jc_move "$jc_one" "$2/${jc_one##*/}" || exit 2
  done
)

# jc_move FROM TO: gives a file or folder its final name.
jc_move() {
  if [ -d "$1" ] && [ ! -L "$1" ]; then
    if [ -d "$2" ]; then
      jc_merge "$1" "$2"
      return
    fi
    [ ! -e "$2" ] || jc_fail "$2: Not a directory, and a directory would take its place"
  elif [ -d "$2" ] && [ ! -L "$2" ]; then
    jc_fail "$2: Is a directory, and a file would take its place"
  fi
  mv -f -T -- "$1" "$2"
}

jc_commit() {
  trap jc_end EXIT
  # What cannot be written to cannot be moved either.
  find "$jc_scratch" -type d ! -perm -700 -exec chmod u+rwx {} +
  if [ -z "$jc_name" ]; then
    jc_merge "$jc_scratch" "$jc_into"
    return
  fi
  for jc_only in "$jc_scratch"/* "$jc_scratch"/.[!.]* "$jc_scratch"/..?*; do
    [ -e "$jc_only" ] || [ -L "$jc_only" ] || continue
    jc_move "$jc_only" "$jc_into/$jc_name" || return
  done
}

jc_pack() {
  for jc_path; do
    shift
    [ -e "$jc_path" ] || [ -L "$jc_path" ] || {
      printf '%s: No such file or directory\n' "$jc_path" >&2
      exit 3
    }
    jc_path=${jc_path%/}
    jc_parent=${jc_path%/*}
    jc_parent=$(cd "${jc_parent:-/}" && pwd) || exit 2
    set -- "$@" "--directory=$jc_parent" "./${jc_path##*/}"
  done
  exec tar --create --file=- --format=gnu --hard-dereference --numeric-owner "$@"
}

jc_verb=$1
shift
case $jc_verb in
  pack) jc_pack "$@" ;;
  *)
    jc_place "$2" "$3"
    jc_scratch=$jc_into/$1
    case $jc_verb in
      unpack) jc_unpack ;;
      commit) jc_commit ;;
      discard) jc_drop "$jc_scratch" ;;
    esac
    ;;
esac
