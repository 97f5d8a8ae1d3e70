#!/bin/sh
# What `jobman cp` runs on a host, with `sh -c`.
#
#   pack OFFSET SHA256 PATH...        writes an archive of the files and folders to stdout, without its
#                                     first OFFSET bytes, whose hash this is; "0 -": the whole archive
#   look NAME DST one|many keep|fresh prints "at OFFSET" and "is SHA256": how much of the archive an
#                                     earlier call left here, and its hash; fresh: removes it first
#   receive NAME DST one|many         adds stdin to it
#   commit NAME DST one|many SIZE last|more
#                                     unpacks it, once it has SIZE bytes, and moves the content to its
#                                     place: files replace files, folders are merged; more: other
#                                     hosts will have the same copy later
#   discard NAME DST one|many         removes it and prints "gone"
#
# DST is a folder that takes the content under its own names or, if there is none, the new name of
# the one thing that was sent. The archive is kept in the folder NAME beside the place where its
# content will be, so that the next copy of the same things can go on with it; a copy to the same
# place removes it a day later. No partial file ever has its final name. A commit that has begun is
# finished, whatever becomes of the connection, and prints dots while it lasts.
#
# NAME is that of the copy, a hyphen, and the number of the host: hosts may share the folder. As long
# as one of them has something of the copy beside DST, DST is the new name for all: the folder that
# is there by then is what the first of them made. With "more" an empty NAME stays for this.
#
# The exit code of pack is 3 if a PATH does not exist, 10 if one changed while it was read, and 11 if
# the archive does not begin with those bytes; that of commit is 4 if it may have moved some files,
# but not all. The first line on stderr that does not begin with "jobman-cp " says what is wrong; pack
# writes "jobman-cp size N", about as long as the archive will be, and "jobman-cp waits".
LC_ALL=C
export LC_ALL
unset TAR_OPTIONS

jc_fail() {
  printf '%s\n' "$*" >&2
  exit 2
}

# jc_place NAME DST one|many: sets jc_into, a folder that exists, and jc_name, empty for their own
# names.
jc_place() {
  jc_into=$2
  jc_name=
  if [ -d "$2" ]; then
    jc_begun "$@" || return 0
  fi
  [ "$3" = one ] || jc_fail "$2: No such directory, which several files or folders need"
  case $2 in */) jc_fail "$2: No such directory" ;; esac
  jc_name=${2##*/}
  jc_into=${2%/*}
  [ -n "$jc_into" ] || jc_into=/
  [ -d "$jc_into" ] || jc_fail "$jc_into: No such directory"
}

# jc_begun NAME DST one|many: whether this copy began when there was no DST, here or on a host that
# shares the folder.
jc_begun() {
  [ "$3" = one ] || return
  case /$2 in */ | */. | */..) return 1 ;; esac
  for jc_other in "${2%/*}/${1%-*}"-*; do
    if jc_is_ours "$jc_other" "${2%/*}/" && jc_is_new "$jc_other"; then return 0; fi
  done
  return 1
}

# jc_is_new FOLDER: somebody was at work there within a day.
jc_is_new() {
  [ -n "$(find "$1" -maxdepth 1 -mmin -1440 | head -n 1)" ]
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

# What arrived. The folder stays, as it tells that the copy began when there was no DST.
jc_empty() {
  jc_drop "$jc_scratch/unpacked"
  rm -f "$jc_archive"
}

# Not with the lock open: on NFS a file that is open leaves the folder full when it is removed.
jc_remove() {
  jc_empty
  exec 9>&-
  jc_drop "$jc_scratch"
}

# What a copy that nobody took up again left behind.
jc_drop_old() {
  for jc_old in "$jc_into"/.jobman-cp-*; do
    if [ ! -d "$jc_old" ] || [ -L "$jc_old" ] || [ ! -O "$jc_old" ]; then continue; fi
    jc_is_new "$jc_old" || jc_drop "$jc_old"
  done 2>/dev/null
}

# jc_is_ours FOLDER PARENT: its name can be guessed, so another user may have made it where all may
# write, as in /tmp. On mounted buckets the owner of everything may be somebody else.
jc_is_ours() {
  if [ ! -d "$1" ] || [ -L "$1" ]; then return 1; fi
  [ -O "$1" ] || [ ! -k "$2" ]
}

jc_own() {
  jc_is_ours "$jc_scratch" "$jc_into" ||
    jc_fail "$jc_scratch: it is not a folder of this user; remove it"
}

# Takes the archive over from an earlier call, whose connection may be gone without its sshd knowing.
jc_hold() {
  jc_own
  exec 9<>"$jc_scratch/lock" || exit 2
  flock -n 9
  # Where the file system has no locks, nobody is asked.
  if [ $? -eq 1 ]; then
    read -r jc_holder jc_on <"$jc_scratch/lock" || jc_holder=
    # Hosts may share the folder: only a process of this host is killed.
    [ -z "$jc_holder" ] || [ "$jc_on" != "$jc_boot" ] || kill "$jc_holder" 2>/dev/null
    flock -w 10 9 || jc_fail "$jc_scratch: another copy of the same is at work there"
  fi
  # The number of an earlier holder may be that of another process by now.
  : >"$jc_scratch/lock"
}

# So that a long silence is not taken for a host that hangs: prints the word now and then.
jc_dots() {
  while sleep 20 >/dev/null 2>&1 3>&- 4>&- 9>&-; do echo "$1" || exit; done
}

jc_look() {
  command -v tar >/dev/null || exit 127
  jc_drop_old
  if [ ! -e "$jc_scratch" ] && [ ! -L "$jc_scratch" ]; then
    echo 'at 0'
    return
  fi
  jc_hold
  # What was begun to be unpacked when the host went down is not whole any more.
  if [ "$1" = fresh ] || [ -e "$jc_scratch/unpacked" ]; then jc_empty; fi
  jc_have=$(stat -c %s "$jc_archive" 2>/dev/null) || jc_have=0
  echo "at $jc_have"
  [ "$jc_have" -gt 0 ] || return 0
  jc_dots . 9>&- &
  jc_dotting=$!
  # shellcheck disable=SC2016 # the inner shell expands them
  jc_sum=$(sh -c 'echo $$ "$1" >"$0/lock" && exec sha256sum <"$0/archive"' \
    "$jc_scratch" "$jc_boot") || jc_sum=
  kill $jc_dotting && wait $jc_dotting 2>/dev/null
  [ -n "$jc_sum" ] || jc_fail "$jc_scratch: another copy of the same took over"
  echo "is ${jc_sum%% *}"
}

jc_receive() {
  if [ ! -d "$jc_scratch" ]; then
    jc_said=$(mkdir -m 700 "$jc_scratch" 2>&1) || jc_fail "$jc_into: ${jc_said##*: }"
  fi
  jc_hold
  # shellcheck disable=SC2016 # the inner shell expands them
  jc_said=$(sh -c 'echo $$ "$1" >"$0/lock" && exec cat >>"$0/archive"' \
    "$jc_scratch" "$jc_boot" 2>&1) && return
  # What does not fit is not kept: the disk may be that of a running job.
  case $jc_said in *'No space left'* | *'uota exceeded'*) jc_remove ;; esac
  jc_said=${jc_said##*: }
  jc_into=$(cd "$jc_into" && pwd)
  jc_fail "$jc_into: ${jc_said:-another copy of the same took over}"
}

# Writes the archive to stdout and gives back what was read, so that it takes no room twice.
jc_feed() {
  jc_at=0
  while [ "$jc_at" -lt "$jc_have" ]; do
    dd if="$jc_archive" bs=1048576 skip=$((jc_at / 1048576)) count=64 status=none || return
    fallocate --punch-hole --offset "$jc_at" --length 67108864 "$jc_archive"
    jc_at=$((jc_at + 67108864))
    echo . >&3
  done 2>/dev/null
}

jc_unpack() {
  mkdir -m 700 "$jc_scratch/unpacked" || exit 2
  {
    jc_feed | tar --extract --file=- --no-unquote --directory="$jc_scratch/unpacked" \
      --preserve-permissions --no-same-owner --warning=no-timestamp 3>&-
  } 3>&1 || exit 2
  rm -f "$jc_archive"
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

# jc_move FROM TO: gives a file or folder its final name. A folder that was there before has its
# mode and time from the one that was sent, unless it belongs to somebody else.
jc_move() {
  if [ -d "$1" ] && [ ! -L "$1" ] && [ -d "$2" ]; then
    jc_facts=$(stat -c '%a @%.9Y' "$1")
    jc_merge "$1" "$2" || return 4
    { chmod "${jc_facts% *}" "$2" && touch -d "${jc_facts#* }" "$2"; } 2>/dev/null
    return 0
  else
    # Another host may just have given a folder that name.
    mv -f -T -- "$1" "$2" || { [ -d "$1" ] && [ -d "$2" ] && jc_merge "$1" "$2"; } || return 4
  fi
}

jc_commit() {
  trap '' TERM HUP INT PIPE
  [ -d "$jc_scratch" ] || jc_fail "$jc_scratch: No such directory any more: the copy was removed"
  jc_hold
  trap jc_remove EXIT
  : >"$jc_scratch/lock"
  jc_have=$(stat -c %s "$jc_archive") || exit 2
  [ "$jc_have" = "$1" ] || jc_fail "$jc_archive: it has $jc_have of $1 bytes, and was removed"
  jc_unpack
  jc_all=$jc_scratch/unpacked
  # What cannot be written to cannot be moved either.
  jc_open "$jc_all"
  if [ -z "$jc_name" ]; then
    jc_check "$jc_all" "$jc_into" 1
    jc_merge "$jc_all" "$jc_into"
    return
  fi
  for jc_only in "$jc_all"/* "$jc_all"/.[!.]* "$jc_all"/..?*; do
    [ -e "$jc_only" ] || [ -L "$jc_only" ] || continue
    jc_check "$jc_only" "$jc_into/$jc_name" 0
    jc_move "$jc_only" "$jc_into/$jc_name" || return
  done
  [ "$2" != more ] || trap 'jc_drop "$jc_all"' EXIT
}

jc_discard() {
  trap '' TERM HUP INT PIPE
  if [ -e "$jc_scratch" ]; then jc_hold && jc_remove; fi
  [ ! -e "$jc_scratch" ] || jc_fail "$jc_scratch: it is still there"
  echo gone
}

# The same files make the same archive, byte for byte.
jc_tar() {
  tar --create --file=- --format=posix --sparse --sparse-version=0.0 --sort=name --hard-dereference \
    --owner=0 --group=0 --numeric-owner --no-unquote \
    --pax-option='exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime' "$@"
}

# Passes stdin on to descriptor 4 without what jobman has of it, if that is the same.
jc_skip() {
  jc_dots 'jobman-cp waits' >&2 &
  jc_sum=$(head -c "$jc_offset" | sha256sum)
  kill $! && wait $! 2>/dev/null
  [ "${jc_sum%% *}" = "$jc_hash" ] && cat >&4
}

# Sets jc_code, that of tar.
jc_pack_rest() {
  exec 4>&1
  jc_codes=$({ { jc_tar "$@" 4>&-; echo "tar $?" >&3; } | { jc_skip && echo same >&3; }; } 3>&1)
  case $jc_codes in *same*) ;; *) exit 11 ;; esac
  jc_code=${jc_codes#*tar }
  jc_code=${jc_code%%[!0-9]*}
}

jc_pack() {
  jc_offset=$1
  jc_hash=$2
  shift 2
  jc_long=$(timeout 2 du -bsc "$@" 2>/dev/null | tail -n 1 | cut -f 1)
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
  echo "jobman-cp size ${jc_long:-0}" >&2
  if [ "$jc_offset" = 0 ]; then
    jc_tar "$@"
    jc_code=$?
  else
    jc_pack_rest "$@"
  fi
  # 1 is what a login shell may end with, too.
  [ "$jc_code" -ne 1 ] || exit 10
  exit "$jc_code"
}

jc_verb=$1
shift
case $jc_verb in
  pack) jc_pack "$@" ;;
  *)
    case $jc_verb in
      look | receive) jc_place "$@" ;;
      *) jc_find "$1" "$2" ;;
    esac
    jc_scratch=$jc_into/$1
    jc_archive=$jc_scratch/archive
    read -r jc_boot 2>/dev/null </proc/sys/kernel/random/boot_id || jc_boot=none
    shift 3
    "jc_$jc_verb" "$@"
    ;;
esac
