#!/bin/sh
# What `jobman cp` runs on a host, with `sh -c`.
#
#   pack PATH...                 writes an archive of the files and folders to stdout
#   unpack NAME DST one|many     unpacks the archive on stdin into the folder NAME, beside the place
#                                where its content will be
#   commit NAME DST one|many     moves that content to its place: files replace files, folders are merged
#   discard NAME DST one|many    removes the folder and prints "gone"
#
# DST is a folder that takes the content under its own names or, if there is none, the new name of
# the one thing that was sent. Between unpack and commit jobman learns whether all was sent, so no
# partial file ever has its final name. A commit that has begun is finished, whatever becomes of the
# connection, and prints dots while it lasts.
#
# The exit code of pack is 3 if a PATH does not exist, and 10 if one changed while it was read; that
# of commit is 4 if it may have moved some files, but not all. The first line on stderr says what is
# wrong.
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

# jc_find NAME DST: sets the same for an unpacked copy. What DST was then counts, not what it is now.
jc_find() {
  jc_into=$2
  jc_name=
  [ ! -d "$2/$1" ] || return 0
  jc_name=${2##*/}
  jc_into=${2%/*}
}

# Whatever its folders allow: one at a time, so that find can enter each of them afterwards.
jc_open() {
  find "$1" -type d ! -perm -700 -exec chmod u+rwx {} \;
}

jc_drop() {
  [ -d "$1" ] || return 0
  jc_open "$1"
  rm -rf "$1"
}

# What ends the session must not end this: sshd signals the shell and tar, and closes their pipes.
jc_end() {
  trap '' TERM HUP INT PIPE
  [ -z "${!-}" ] || { kill -KILL $! && wait $!; } 2>/dev/null
  jc_drop "$jc_scratch"
}

# What a connection that broke long ago left behind.
jc_drop_old() {
  for jc_old in "$jc_into"/.jobman-cp-*; do
    [ -z "$(find "$jc_old" -maxdepth 0 -type d -mmin +1440)" ] || jc_drop "$jc_old"
  done 2>/dev/null
}

jc_unpack() {
  jc_drop_old
  trap jc_end EXIT
  trap 'exit 143' TERM HUP INT PIPE
  jc_said=$(mkdir -m 700 "$jc_scratch" 2>&1) || jc_fail "$jc_into: ${jc_said##*: }"
  # In the background, so that a signal ends the wait and not only tar.
  exec 3<&0
  tar --extract --file=- --no-unquote --directory="$jc_scratch" --preserve-permissions \
    --no-same-owner --warning=no-timestamp <&3 3<&- &
  wait $! || exit 2
  trap - EXIT
}

# jc_check FROM TO DEPTH: finds what would keep jc_move from its work, before anything is moved.
jc_check() {
  # shellcheck disable=SC2016 # the inner shell expands them
  find "$1" -mindepth "$3" -exec sh -c '
    from=$1 to=$2
    shift 2
    for one; do
      there=$to${one#"$from"}
      if [ -d "$one" ] && [ ! -L "$one" ]; then
        [ -d "$there" ] || { [ ! -e "$there" ] && [ ! -L "$there" ]; } || {
          echo "$there: Not a directory, and a directory would take its place" >&2
          exit 1
        }
      elif [ -d "$there" ] && [ ! -L "$there" ]; then
        echo "$there: Is a directory, and a file would take its place" >&2
        exit 1
      fi
    done
    echo . || :' jobman-cp "$1" "$2" {} + || exit 2
}

# jc_merge FROM TO: moves the content of a folder into another one.
jc_merge() (
  # shellcheck disable=SC2016 # the inner shell expands it
  find "$1" -mindepth 1 -maxdepth 1 ! -type d \
    -exec sh -c 'mv -f -t "$0" -- "$@" || exit; echo . || :' "$2" {} + || exit 4
  for jc_one in "$1"/*/ "$1"/.[!.]*/ "$1"/..?*/; do
    jc_one=${jc_one%/}
    if [ ! -d "$jc_one" ] || [ -L "$jc_one" ]; then continue; fi
    jc_move "$jc_one" "$2/${jc_one##*/}" || exit 4
  done
)

# jc_move FROM TO: gives a file or folder its final name.
jc_move() {
  if [ -d "$1" ] && [ ! -L "$1" ] && [ -d "$2" ]; then
    jc_merge "$1" "$2"
  else
    mv -f -T -- "$1" "$2" || return 4
  fi
}

# Commit and discard may meet, after an interrupt: the one that renames the folder has it.
jc_claim() {
  mv -T -- "$jc_scratch" "$jc_scratch+" 2>/dev/null || return
  jc_scratch=$jc_scratch+
}

jc_commit() {
  trap '' TERM HUP INT PIPE
  jc_claim || jc_fail "$jc_scratch: No such directory any more: the copy was removed"
  trap jc_end EXIT
  # What cannot be written to cannot be moved either.
  jc_open "$jc_scratch"
  if [ -z "$jc_name" ]; then
    jc_check "$jc_scratch" "$jc_into" 1
    jc_merge "$jc_scratch" "$jc_into"
    return
  fi
  for jc_only in "$jc_scratch"/* "$jc_scratch"/.[!.]* "$jc_scratch"/..?*; do
    [ -e "$jc_only" ] || [ -L "$jc_only" ] || continue
    jc_check "$jc_only" "$jc_into/$jc_name" 0
    jc_move "$jc_only" "$jc_into/$jc_name" || return
  done
}

jc_discard() {
  trap '' TERM HUP INT PIPE
  jc_claim && jc_drop "$jc_scratch"
  jc_scratch=${jc_scratch%+}
  if [ -e "$jc_scratch" ] || [ -e "$jc_scratch+" ]; then jc_fail "$jc_scratch: it is still there"; fi
  echo gone
}

jc_pack() {
  for jc_path; do
    shift
    [ -e "$jc_path" ] || [ -L "$jc_path" ] || {
      printf '%s: No such file or directory\n' "$jc_path" >&2
      exit 3
    }
    while [ "$jc_path" != "${jc_path%/}" ]; do jc_path=${jc_path%/}; done
    jc_parent=${jc_path%/*}
    jc_parent=$(cd "${jc_parent:-/}" && pwd) || exit 2
    set -- "$@" "--directory=$jc_parent" "./${jc_path##*/}"
  done
  tar --create --file=- --format=gnu --sparse --hard-dereference --numeric-owner --no-unquote "$@"
  jc_code=$?
  # 1 is what a login shell may end with, too.
  [ $jc_code -ne 1 ] || exit 10
  exit $jc_code
}

jc_verb=$1
shift
case $jc_verb in
  pack) jc_pack "$@" ;;
  unpack)
    jc_place "$2" "$3"
    jc_scratch=$jc_into/$1
    jc_unpack
    ;;
  *)
    jc_find "$1" "$2"
    jc_scratch=$jc_into/$1
    "jc_$jc_verb"
    ;;
esac
