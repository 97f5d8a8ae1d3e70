# shellcheck shell=sh disable=SC2034,SC2154
# What the sections venv and conda share. An environment lies in the home folder, which other hosts
# may share and other jobs of this host do: one step at a time changes it, and what it says about
# itself decides whether there is anything to do.
#
# Variables that tests set: JOBMAN_LOCK_WAIT_S, JOBMAN_LOCK_STALE_S, JOBMAN_LOCK_PAUSE_S.

jb_lock_wait_s=${JOBMAN_LOCK_WAIT_S:-3600}  # for another step to have made the environment
jb_lock_stale_s=${JOBMAN_LOCK_STALE_S:-180} # without a sign of life; NFS shows one a minute late
jb_lock_pause_s=${JOBMAN_LOCK_PAUSE_S:-2}   # between looks at it
jb_beat_s=20                                # between signs of life
jb_tool_limit_s=3600                        # for one call of what installs packages
jb_scratch='' jb_text_file='' jb_locked='' jb_beat=''

# What tools print when a disk is full, when the network was at fault, and when it was not although
# it stumbled on the way.
jb_full_signs='no space left on device|disk quota exceeded|errno 28\]|os error 28|NoSpaceLeftError'
jb_network_signs='connection broken by|connection (error|reset|refused|aborted|failed|timed out)|'\
'failed to establish|max retries exceeded|timed out|timeout was reached|temporary failure in name|'\
'name or service not known|could not resolve|network is unreachable|no route to host|dns error|'\
'error sending request|request failed after|incomplete ?read|remotedisconnected|early eof|'\
'server error|http error (5|429)|http (000|5[0-9][0-9]) |returned error: 5|too many 5|'\
'multi-download failed'
jb_file_signs='do not match the hashes|hash mismatch|invalid requirement|from versions: [0-9]'

# jb_hash TEXT...: a word that is another for another text.
jb_hash() {
  if jb_has sha256sum; then printf '%s\n' "$@" | sha256sum; else printf '%s\n' "$@" | cksum; fi |
    tr -dc '0-9a-f'
}

# jb_write FILE TEXT: for this user's eyes only, since an index may be named with a password.
jb_write() {
  (umask 077 && printf '%s' "$2" >"$1.new" && mv -f "$1.new" "$1") 2>/dev/null ||
    {
      rm -f "$1.new"
      jb_fail "cannot write $1 ($(jb_disks)): free some of it or ask for a larger disk"
    }
}

# How full the disks are that an environment needs.
jb_disks() { jb_fullness "${jb_dir:-$HOME}" "$HOME" "${TMPDIR:-/tmp}"; }

# --- One step at a time. ---

# jb_born PID: when the process started; pids are reused, a pid with its start is unique.
jb_born() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# Sets jb_place, the machine (its boot, its pids, its name), and jb_owner, this step there.
jb_know_myself() {
  jb_boot=''
  read -r jb_boot 2>/dev/null <"${JOBMAN_BOOT_ID_FILE:-/proc/sys/kernel/random/boot_id}"
  jb_place="$jb_boot,$(readlink /proc/self/ns/pid 2>/dev/null | tr -dc 0-9),$(uname -n)"
  jb_owner="$$,$(jb_born $$),$jb_place"
}

# jb_lock NAME: returns when this step alone has it. A lock is a folder that holds a file named
# after its owner, which grows while the owner lives. It is given back when the step ends.
jb_lock() {
  jb_lock_dir=$HOME/.jobman/locks/$1
  trap jb_leave EXIT
  trap 'exit 143' TERM
  trap 'exit 130' INT
  (
    trap '' TERM INT
    umask 077 && mkdir -p "$HOME/.jobman/locks" && jb_probe=$(mktemp -d "$jb_lock_dir.XXXXXX") &&
      rmdir "$jb_probe"
  ) || jb_fail "cannot write to ~/.jobman/locks ($(jb_disks)): free some of it or ask for a larger disk"
  jb_know_myself
  jb_waited_s=0 jb_silent_s=0 jb_last_sign=''
  until jb_take; do
    if jb_owner_is_gone; then jb_break && continue; fi
    [ "$jb_waited_s" -lt "$jb_lock_wait_s" ] ||
      jb_later "$(jb_owner_name) is still at work on it after $jb_lock_wait_s s: is it stuck?"
    [ "$jb_waited_s" != 0 ] || jb_say "$(jb_owner_name) is at work on it; waiting"
    sleep "$jb_lock_pause_s"
    jb_waited_s=$((jb_waited_s + jb_lock_pause_s)) jb_silent_s=$((jb_silent_s + jb_lock_pause_s))
  done
  jb_live </dev/null >/dev/null 2>&1 &
  jb_beat=$!
  jb_scratch=$(mktemp -d) || jb_fail "cannot write to ${TMPDIR:-/tmp} ($(jb_disks)): free some of it"
}

# Told to end meanwhile, the step still knows whether it has the lock.
jb_take() {
  jb_end=''
  trap 'jb_end=143' TERM
  trap 'jb_end=130' INT
  (
    trap '' TERM INT
    mkdir "$jb_lock_dir" || exit
    (: >"$jb_lock_dir/$jb_owner") || ! rmdir "$jb_lock_dir"
  ) 2>/dev/null && jb_locked=yes
  trap 'exit 143' TERM
  trap 'exit 130' INT
  [ -z "$jb_end" ] || exit "$jb_end"
  [ -n "$jb_locked" ]
}

# The signs of life; they end with the step, however that ends.
jb_live() {
  trap 'kill "$jb_nap" 2>/dev/null; exit' TERM
  while [ -e "$jb_lock_dir/$jb_owner" ] && kill -0 $$ 2>/dev/null; do
    printf . >>"$jb_lock_dir/$jb_owner"
    sleep "$jb_beat_s" &
    jb_nap=$!
    wait "$jb_nap"
  done
}

jb_owner_name() {
  echo "another setup step${jb_holder:+ (process ${jb_holder%%,*} on ${jb_holder##*,})}"
}

# Whether the owner is gone: a process of this machine that is no more, also because the machine was
# restarted, or one elsewhere that has long been silent. Sets jb_holder.
jb_owner_is_gone() {
  # shellcheck disable=SC2012
  jb_holder=$(ls "$jb_lock_dir" 2>/dev/null | head -n 1)
  jb_sign=$jb_holder:$(cat "$jb_lock_dir/$jb_holder" 2>/dev/null)
  [ "$jb_sign" = "$jb_last_sign" ] || jb_silent_s=0
  jb_last_sign=$jb_sign
  [ "$jb_silent_s" -lt "$jb_lock_stale_s" ] || return 0
  [ -n "$jb_boot" ] || return 1
  # No two machines that share a home folder have one name. In another container of this boot, the
  # numbers of processes mean something else.
  case $jb_holder in
    *,*,"$jb_place") ;;
    *,*,"$jb_boot",*) return 1 ;;
    *,*,*,*,"$(uname -n)") ;;
    *) return 1 ;;
  esac
  jb_rest=${jb_holder#*,}
  [ "$(jb_born "${jb_holder%%,*}")" != "${jb_rest%%,*}" ]
}

# Only one of those who wait removes the file of the owner that is gone; so none removes the lock of
# a new one.
jb_break() {
  jb_silent_s=0
  [ -z "$jb_holder" ] || rm "$jb_lock_dir/$jb_holder" 2>/dev/null || return
  rmdir "$jb_lock_dir" 2>/dev/null
}

jb_leave() {
  [ -z "$jb_beat" ] || kill "$jb_beat" 2>/dev/null
  rm -rf ${jb_scratch:+"$jb_scratch"} ${jb_text_file:+"$jb_text_file" "$jb_text_file.new"}
  [ -n "$jb_locked" ] || return 0
  rm -f "$jb_lock_dir/$jb_owner"
  rmdir "$jb_lock_dir" 2>/dev/null
}

# --- What installs packages. ---

# jb_tool CURE COMMAND...: for jb_fetch. Its output goes to the log and is looked at: 1 when the
# network was at fault, 3 when another try cannot help; then CURE or better is said last.
jb_tool() {
  jb_cure=$1
  shift
  rm -f "$jb_scratch/code" "$jb_scratch/pip.log"
  {
    jb_limit "$jb_tool_limit_s" "$@"
    echo $? >"$jb_scratch/code"
  } 2>&1 | tee "$jb_scratch/output"
  jb_tool_code=''
  read -r jb_tool_code 2>/dev/null <"$jb_scratch/code"
  [ "$jb_tool_code" != 0 ] || return 0
  jb_judge
}

jb_judge() {
  if jb_said "$jb_full_signs"; then
    jb_say_full
    return 3
  fi
  if [ "$jb_tool_code" = 124 ]; then
    jb_say "it took longer than $jb_tool_limit_s s and was ended"
    return 1
  fi
  if jb_said "$jb_network_signs" && ! jb_said "$jb_file_signs"; then
    jb_say "the network is at fault: $(jb_lines | grep -iE -m 1 -e "$jb_network_signs" |
      sed 's/^[0-9T:,-]* //' | cut -c 1-600)"
    return 1
  fi
  # venv keeps to itself what ensurepip says.
  jb_disk_is_full || jb_say "$jb_cure"
  return 3
}

# Whether so little room is left that the tool has hardly failed for another reason; then says so.
jb_disk_is_full() {
  {
    df -P "${jb_dir:-$HOME}" "$HOME" "${TMPDIR:-/tmp}"
    echo
    df -Pi "${jb_dir:-$HOME}" "$HOME" "${TMPDIR:-/tmp}"
  } 2>/dev/null | awk '
    !NF { files = 1 }
    $5 ~ /^[0-9]+%$/ && $4 < (files ? 1 : 4096) { full = 1 }
    END { exit !full }' || return
  jb_say_full
}
jb_say_full() {
  jb_say "a disk of this host is full ($(jb_disks)): free some of it or ask for a larger one"
}

# jb_said SIGNS: whether the tool printed one of them, or pip wrote it to its log: it keeps to itself
# that an index could not be reached.
jb_said() { jb_lines | grep -qiE -e "$1"; }
jb_lines() { cat "$jb_scratch/output" "$jb_scratch/pip.log" 2>/dev/null; }
# Whether it had begun to change the environment when it failed.
jb_had_begun() {
  jb_said '^(installing collected packages|prepared [0-9])|(verifying|executing) transaction'
}
