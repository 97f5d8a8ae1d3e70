#!/bin/sh
# What `jobman sync` runs on a host, with `sh -c`, in the folder DIR that it keeps equal to one of the
# user's machine. Lists end each entry with NUL, since names may hold anything else; each name begins
# with "./".
#
#   look DIR listed|all|anew
#                          prints how DIR differs from its record; `all` also looks at what is not
#                          in it, `anew` as if there were no record
#   list DIR               prints the list of the record
#   hash DIR               prints "SHA256  NAME" for the names on stdin
#   apply DIR ID           unpacks the archive on stdin aside, then moves what it has to its place
#   apply DIR ID keep      the same, and keeps the archive for other hosts; prints "kept ID SHA256"
#   apply DIR ID from HOST FROM SHA256 BYTES
#                          the same, with the archive that the host at the address HOST kept as FROM
#   forget DIR ID...       removes archives that were kept
#
# The record is DIR/.jobman-sync/state, a link to a folder:
#   list     what the last sync made equal, sorted: "f MODE SIZE MTIME SHA256 NAME", "d MODE NAME",
#            "l NAME//TARGET" (no name has // in it)
#   digest   the SHA-256 of list
#   stat     what find said of the same names then, sorted: "f MODE SIZE MTIME INODE CTIME NAME" and,
#            as above, d and l; "o NAME" is anything else
#   names    the names in the order of stat
# A file that find describes as it did then has the content that list says: nothing is hashed again.
#
# An archive has the new files below tree/, and in ctl/ what is to be done; ctl/commit, its last
# member, shows that it is complete: "OLD NEW", the digests of the record that it changes and of the
# one that it leaves; - is none.
#
# The exit code of apply is 4 if some files may have been moved, but not all, and 5 if HOST did not
# give the archive: nothing was done. The first line on stderr says what is wrong.
LC_ALL=C
export LC_ALL
unset TAR_OPTIONS

js_own=.jobman-sync
js_facts='\( -type d -printf "d %m %p\0" -o -type l -printf "l %p//%l\0"'
js_facts="$js_facts"' -o -type f -printf "f %m %s %T@ %i %C@ %p\0" -o -printf "o %p\0" \)'

js_fail() {
  printf '%s\n' "$*" >&2
  exit 2
}

# What find says of the names on stdin; of one that is gone, nothing.
js_stat() {
  xargs -0 -r sh -c "exec find \"\$@\" -maxdepth 0 $js_facts" jobman-sync 2>/dev/null
}

# What it says of everything.
js_walk() {
  eval "find . -mindepth 1 -path ./$js_own -prune -o $js_facts" 2>/dev/null | sort -z
}

js_look() {
  printf 'jobman-sync 1\0'
  if [ "$1" = anew ] || ! read -r js_digest 2>/dev/null <$js_own/state/digest; then
    printf 'unknown\0'
    js_walk
  elif [ "$1" = listed ] && js_stat <$js_own/state/names | cmp -s - $js_own/state/stat; then
    printf 'same %s\0' "$js_digest"
  else
    printf 'differs %s\0' "$js_digest"
    # Of the record alone: gone. After a tab: found.
    if [ "$1" = listed ]; then js_stat <$js_own/state/names | sort -z; else js_walk; fi |
      comm -z -3 $js_own/state/stat -
  fi
  js_again=$js_digest
  [ "$js_digest" = - ] || read -r js_again 2>/dev/null <$js_own/state/digest
  [ "$js_again" = "$js_digest" ] || js_fail "another sync changed the folder meanwhile"
  printf 'end\0'
}

# What ends the session must not end this: sshd signals the shell and tar, and closes their pipes.
js_end() {
  trap '' TERM HUP INT PIPE
  [ -z "$js_tar" ] || { kill "-$js_by" "$js_tar" && wait "$js_tar"; } 2>/dev/null
  js_drop "$js_new"
}

js_drop() {
  [ -d "$1" ] || return 0
  find "$1" -type d ! -perm -700 -exec chmod u+rwx {} \;
  rm -rf "$1"
}

# What a connection that broke long ago left behind.
js_drop_old() {
  for js_old in "$js_own"/new-*; do
    [ -z "$(find "$js_old" -maxdepth 0 -type d -mmin +1440)" ] || js_drop "$js_old"
  done 2>/dev/null
  find "$js_own" -maxdepth 1 -type f -name 'kept-*' -mmin +240 -exec rm -f {} + 2>/dev/null
}

# Makes and enters the folder.
js_enter() {
  if [ ! -d "$1" ]; then
    js_said=$(mkdir -p -- "$1" 2>&1) || js_fail "$1: ${js_said##*: }"
  fi
  cd -- "$1" || exit 2
  [ ! -L $js_own ] || js_fail "$1/$js_own: is a link, which jobman did not make: remove it"
  js_said=$(mkdir -p $js_own 2>&1) || js_fail "$1: ${js_said##*: }"
}

# js_aside COMMAND...: reads fd 3; a signal ends the wait, and js_end the command.
js_aside() {
  "$@" <&3 3<&- &
  js_tar=$!
  wait "$js_tar"
  js_code=$?
  js_tar=''
  return "$js_code"
}

# The archive becomes stdin, and js_archive its SHA-256.
js_read_kept() {
  exec <"$js_kept"
  js_archive=$(sha256sum <"$js_kept") || exit 2
  js_archive=${js_archive%% *}
}

# The archive on stdin, also for other hosts.
js_keep() {
  exec 3<&0
  js_aside cat >"$js_kept" || exit 2
  js_read_kept
}

js_not_given() {
  printf '%s\n' "$1" >&2
  exit 5
}

# js_fetch HOST FROM SHA256 BYTES: the archive of another host of the job, as podrun logs in there.
js_fetch() {
  # Hosts that share the folder have it already.
  if [ ! -f "$js_own/kept-$2" ] || ! cp "$js_own/kept-$2" "$js_kept" 2>/dev/null; then
    js_quoted=$(printf '%s\n' "$js_dir/$js_own/kept-$2" | sed "s/'/'\\\\''/g")
    exec 3</dev/null
    # A host that gives less than 5 MB a second, or hangs, is not waited for.
    js_by=TERM
    js_aside timeout $((60 + $4 / 5000000)) ssh -o BatchMode=yes -o ConnectTimeout=10 \
      -- "$1" "exec cat -- '$js_quoted'" >"$js_kept" 2>"$js_new/why"
    js_by=KILL
    js_why=$(tail -n 1 "$js_new/why")
    case $js_why in *'o space left'* | *uota*) js_fail "$js_dir: $js_why" ;; esac
    [ "$js_code" = 0 ] || js_not_given "$1: $js_why"
  fi
  js_read_kept
  [ "$js_archive" = "$3" ] || js_not_given "$1: its archive is not what it said"
}

js_unpack() {
  # In the background, so that a signal ends the wait and not only tar.
  exec 3<&0
  js_aside tar --extract --file=- --no-unquote --directory="$js_new" --preserve-permissions \
    --no-same-owner --warning=no-timestamp || exit 2
  [ -f "$js_new/ctl/commit" ] || js_fail "the archive broke off"
}

# js_for LIST COMMAND...: with the names of the list, if there are any.
js_for() {
  [ -s "$1" ] || return 0
  js_names=$1
  shift
  xargs -0 -r "$@" <"$js_names" || exit 4
  echo .
}

# Moves the new files of the folders "$@", each before those in it, to their places. $0: what is new.
# A folder that is not there yet is moved as a whole. Nothing is written through a link: one in the
# place of a folder is removed.
# shellcheck disable=SC2016 # the inner shell expands it
js_place='
for dir; do
  from=$0/tree/$dir to=./$dir
  [ -d "$from" ] || continue
  if [ -n "$dir" ]; then
    if [ -L "$to" ] || { [ -e "$to" ] && [ ! -d "$to" ]; }; then
      rm -f -- "$to" || [ -d "$to" ] || exit 255
    fi
    [ -d "$to" ] || ! mv -T -- "$from" "$to" 2>/dev/null || continue
    # Another host that shares the folder may have made it.
    [ -d "$to" ] || mv -T -- "$from" "$to" || exit 255
    [ -d "$from" ] || continue
  fi
  mode=
  [ -w "$to" ] || { mode=$(stat -c %a "$to") && chmod u+rwx "$to" || exit 255; }
  find "$from" -mindepth 1 -maxdepth 1 ! -type d -exec mv -f -t "$to" -- {} + || exit 255
  [ -z "$mode" ] || chmod "$mode" "$to" || exit 255
done
echo .'

js_commit() {
  trap '' TERM HUP INT PIPE
  # shellcheck disable=SC2016 # the inner shell expands it
  js_for "$js_new/ctl/skip" sh -c 'cd "$0/tree" && rm -f -- "$@"' "$js_new"
  js_for "$js_new/ctl/remove" rm -f --
  # Another host that shares the folder may have removed it.
  # shellcheck disable=SC2016 # the inner shell expands it
  js_for "$js_new/ctl/rmdir" sh -c 'for dir; do
      rmdir --ignore-fail-on-non-empty -- "$dir" || [ ! -d "$dir" ] || exit 255
    done' jobman-sync
  if [ -d "$js_new/tree" ]; then
    find "$js_new/tree" -type d -printf '%P\0' | xargs -0 sh -c "$js_place" "$js_new" || exit 4
  fi
  for js_list in "$js_new"/ctl/mode-*; do js_for "$js_list" chmod "0${js_list##*-}" --; done
  for js_list in "$js_new"/ctl/time-*; do
    js_for "$js_list" touch -c -h -d "@${js_list##*-}" --
  done
  js_record
}

# js_state NAME: makes that record from the old one and from ctl/drop and ctl/add. A host that shares
# the folder may have made the list already, but what it saw of the files is replaced by now.
js_state() {
  if [ "$js_known" = "$js_to" ]; then
    cp $js_own/state/list "$1/list" || return
  else
    comm -z -23 "$js_base" "$js_new/ctl/drop" | sort -z -m - "$js_new/ctl/add" >"$1/list" || return
  fi
  js_sum=$(sha256sum <"$1/list") && [ "${js_sum%% *}" = "$js_to" ] || return
  sed -z 's/^f [^ ]* [^ ]* [^ ]* [^ ]* //; s/^d [^ ]* //; s/^l //; s,//.*$,,' "$1/list" \
    >"$1/names" && js_stat <"$1/names" | sort -z >"$1/stat" || return
  # Somebody may have written to a file meanwhile.
  sed -z 's/^f \([^ ]* [^ ]* [^ ]*\) [^ ]* /f \1 /' "$1/list" | sort -z >"$js_new/meant"
  sed -z 's/^\([df]\) [0-7]\([0-7][0-7][0-7]\) /\1 \2 /
    s/^f \([^ ]* [^ ]* [^ .]*\)[^ ]* [^ ]* [^ ]* /f \1 /' "$1/stat" | sort -z >"$js_new/found"
  cmp -s "$js_new/meant" "$js_new/found" || return
  sed -z 's/^f [^ ]* [^ ]* [^ ]* [^ ]* [^ ]* //; s/^d [^ ]* //; s/^l //; s,//.*$,,' "$1/stat" \
    >"$1/names" || return
  printf '%s\n' "$js_to" >"$1/digest"
}

# The record changes in one step. One that does not fit is none: the next sync looks at everything.
js_record() {
  read -r js_from js_to <"$js_new/ctl/commit"
  js_known=-
  read -r js_known 2>/dev/null <$js_own/state/digest
  js_base=/dev/null
  [ "$js_from" = - ] || js_base=$js_own/state/list
  js_made=state-${js_new##*-}
  if [ "$js_to" != - ] && mkdir "$js_own/$js_made" && js_state "$js_own/$js_made"; then
    ln -s "$js_made" "$js_new/link" && mv -f -T "$js_new/link" $js_own/state || exit 4
  else
    rm -rf "${js_own:?}/$js_made" $js_own/state
  fi
  # Not at once: other hosts may be at work on theirs.
  find $js_own -maxdepth 1 -name 'state-*' -mmin +5 ! -name "$js_made" -exec rm -rf {} +
}

js_verb=$1 js_dir=$2
js_tar='' js_by=KILL
js_digest=-
case $js_verb in
  look)
    if [ -e "$js_dir" ] || [ -L "$js_dir" ]; then
      [ -d "$js_dir" ] || js_fail "$js_dir: Not a directory"
      cd -- "$js_dir" || exit 2
      js_look "$3"
    else
      printf 'jobman-sync 1\0none\0end\0'
    fi
    ;;
  list)
    printf 'jobman-sync 1\0'
    cat -- "$js_dir/$js_own/state/list" || exit 2
    ;;
  hash)
    cd -- "$js_dir" || exit 2
    printf 'jobman-sync 1\0'
    # At once, name by name: a long silence is taken for a host that hangs.
    xargs -0 -r stdbuf -o0 sha256sum -z -- 2>/dev/null
    printf 'end\0'
    ;;
  apply)
    js_enter "$js_dir"
    js_new=$js_own/new-$3
    js_drop_old
    trap js_end EXIT
    trap 'exit 143' TERM HUP INT PIPE
    js_said=$(mkdir -m 700 "$js_new" 2>&1) || js_fail "$js_dir: ${js_said##*: }"
    js_kept=$js_new/archive
    case $4 in
      keep) js_keep ;;
      from) js_fetch "$5" "$6" "$7" "$8" ;;
    esac
    js_unpack "$js_dir"
    js_commit
    if [ -n "$4" ] && chmod 600 "$js_kept" && mv -f "$js_kept" "$js_own/kept-$3"; then
      # If nobody is there to hear it, nobody will ask for it.
      printf 'kept %s %s\0' "$3" "$js_archive" 2>/dev/null || rm -f "$js_own/kept-$3"
    fi
    trap - EXIT
    js_drop "$js_new"
    printf 'done\0'
    ;;
  forget)
    shift 2
    for js_kept; do rm -f -- "$js_dir/$js_own/kept-$js_kept"; done
    ;;
esac
