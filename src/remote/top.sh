#!/bin/sh
# shellcheck disable=SC2012,SC2034
# What `jobman top` runs on a host, with `sh -c`.
#
#   top.sh EVERY      looks at the host once (0), or again EVERY seconds after each look, until these
#                     pauses make an hour
#
# A look is lines on stdout that begin with "jobman-top ":
#
#   begin
#   cpus N
#   load L                        of the last minute
#   cpu BUSY TOTAL                ticks of all processors since the look before, or for a moment
#   memory USED TOTAL             in KiB, as the next one
#   disk root|home USED TOTAL
#   chip DEVICE
#   holder DEVICE PID USER COMMAND
#   sees all|own                  whose processes could be looked at
#   tpu-info absent|there         only where there are chips
#   says LINE                     what tpu-info printed, which has no stable form
#   end
#
# What cannot be found out has no line. A look is written at once, so that a connection that is gone
# ends the script. POSIX sh with the usual tools, and /proc. Variables that the script reads: HOME,
# JOBMAN_CHIP_DEVICES (instead of the usual ones), JOBMAN_PROC (another /proc, for tests).
LC_ALL=C
export LC_ALL

jt_every=$1
jt_proc=${JOBMAN_PROC:-/proc}
jt_life_s=3600      # then the caller starts it again: one that is forgotten does not go on for ever
jt_moment_s=0.5     # over which a first look counts ticks
jt_df_s=5           # for a file system to answer
jt_info_s=15        # for tpu-info, a Python program
jt_root_every_s=30  # between looks as root: sudo writes each to the system's log
jt_most_holders=64
jt_words_shown=120  # bytes of a command line
jt_info_shown=65536 # bytes of what tpu-info prints
jt_line_shown=400   # bytes of one of its lines

jt_add() {
  jt_out="$jt_out
jobman-top $*"
}

jt_bound() {
  if command -v timeout >/dev/null 2>&1; then timeout "$@"; else shift && "$@"; fi
}

# Sets jt_busy and jt_total to the ticks of all processors since boot.
jt_count_ticks() {
  jt_total=''
  read -r jt_word jt_user jt_nice jt_system jt_idle jt_wait jt_irq jt_soft jt_steal jt_rest \
    2>/dev/null <"$jt_proc/stat" || return 0
  case $jt_user$jt_nice$jt_system$jt_idle$jt_wait$jt_irq$jt_soft$jt_steal in
    '' | *[!0-9]*) return 0 ;;
  esac
  jt_busy=$((jt_user + jt_nice + jt_system + ${jt_irq:-0} + ${jt_soft:-0} + ${jt_steal:-0}))
  jt_total=$((jt_busy + ${jt_idle:-0} + ${jt_wait:-0}))
}

jt_add_cpu() {
  jt_busy_before=$jt_busy jt_total_before=$jt_total
  jt_count_ticks
  [ -n "$jt_total" ] && [ -n "$jt_total_before" ] || return 0
  jt_add cpu $((jt_busy - jt_busy_before)) $((jt_total - jt_total_before))
}

jt_add_memory() {
  jt_add "$(awk '
    /^MemTotal:/ { total = $2 }
    /^MemAvailable:/ { free = $2; told = 1 }
    /^(MemFree|Buffers|Cached):/ { left += $2 }
    END { if (total > 0) printf "memory %.0f %.0f", total - (told ? free : left), total }' \
    "$jt_proc/meminfo" 2>/dev/null)"
}

# jt_add_disk NAME FOLDER. Each alone: one that hangs, as on a network, does not hide the other.
jt_add_disk() {
  jt_add "$(jt_bound $jt_df_s df -P -k "$2" 2>/dev/null | awk -v name="$1" '
    NR > 1 && match($0, /[0-9]+ +[0-9]+ +-?[0-9]+ +[0-9]+%/) {
      split(substr($0, RSTART), part, / +/)
      printf "disk %s %s %s", name, part[2], part[1]
      exit
    }')"
}

# /dev/vfio/vfio is the way to all devices, and none itself.
jt_find_chips() {
  jt_chips=''
  for jt_one in ${JOBMAN_CHIP_DEVICES-/dev/accel* /dev/vfio/*}; do
    if [ ! -e "$jt_one" ] || [ -d "$jt_one" ] || [ "$jt_one" = /dev/vfio/vfio ]; then continue; fi
    jt_chips="$jt_chips $jt_one"
    jt_add chip "$jt_one"
  done
}

# Lines "DEVICE PID" from the open files of processes, as `ls -l` shows them.
jt_pick_holders() {
  awk -v paths="$jt_chips" -v most=$jt_most_holders '
    BEGIN { n = split(paths, path, " ") }
    /^\/.*\/[0-9]+\/fd:$/ { parts = split($0, part, "/"); pid = part[parts - 1]; next }
    (at = index($0, " -> ")) {
      to = substr($0, at + 4)
      for (i = 1; i <= n; i++)
        if (to == path[i] && !seen[pid, to]++ && ++found <= most) print to, pid
    }'
}

jt_may_be_root() {
  case " $(id -Gn 2>/dev/null) " in *' google-sudoers '* | *' sudo '*) ;; *) return 1 ;; esac
  sudo -n true 2>/dev/null
}

# Sets jt_holders and jt_sees. Only root sees the open files of other users. A chip has one holder,
# so where ours hold all of them, nobody else needs to be looked for.
jt_find_holders() {
  jt_holders=$(ls -l "$jt_proc"/[0-9]*/fd 2>/dev/null | jt_pick_holders)
  jt_sees=all
  if [ "$(id -u)" = 0 ]; then return; fi
  for jt_one in $jt_chips; do
    case "$jt_holders
" in *"$jt_one "*) ;; *) jt_sees=own ;; esac
  done
  [ $jt_sees = own ] && [ "$jt_root" != no ] || return 0
  if [ "$jt_root" = '' ] || [ "$jt_age_s" -ge $((jt_root_at_s + jt_root_every_s)) ]; then
    jt_root=no
    jt_may_be_root || return 0
    jt_root=yes jt_root_at_s=$jt_age_s
    jt_others=$(sudo -n ls -l "$jt_proc"/[0-9]*/fd 2>/dev/null | jt_pick_holders)
  fi
  # What root saw may be old, and what ours hold is not.
  jt_holders=$(printf '%s\n%s\n' "$jt_holders" "$jt_others" | sort -u) jt_sees=all
}

# jt_words_of PID: its command line.
jt_words_of() {
  { tr '\0' ' ' <"$jt_proc/$1/cmdline"; } 2>/dev/null | head -c $jt_words_shown |
    tr -c '[:print:]' '?' | sed 's/ *$//'
}

jt_add_holders() {
  [ -n "$jt_chips" ] || return 0
  jt_find_holders
  jt_last=''
  # shellcheck disable=SC2086 # words
  set -- $jt_holders
  while [ $# -ge 2 ]; do
    if [ "$2" != "$jt_last" ]; then
      jt_last=$2
      jt_owner=$(stat -c %U "$jt_proc/$2" 2>/dev/null)
      [ "$jt_owner" != UNKNOWN ] || jt_owner=$(stat -c %u "$jt_proc/$2" 2>/dev/null)
      jt_words=$(jt_words_of "$2")
    fi
    # One that has ended meanwhile has no owner any more.
    [ -z "$jt_owner" ] || jt_add holder "$1" "$2" "$jt_owner" "$jt_words"
    shift 2
  done
  jt_add sees $jt_sees
}

# An environment of the job has its own programs.
jt_find_info() {
  jt_info=''
  for jt_one in "$(command -v tpu-info 2>/dev/null)" "$HOME"/.local/bin/tpu-info \
    "$HOME"/*/bin/tpu-info; do
    if [ -f "$jt_one" ] && [ -x "$jt_one" ]; then jt_info=$jt_one && return; fi
  done
}

jt_run_info() {
  jt_bound $jt_info_s env COLUMNS=120 NO_COLOR=1 TERM=dumb "$jt_info" "$@" 2>/dev/null </dev/null |
    head -c $jt_info_shown | cut -c1-$jt_line_shown | sed 's/^/jobman-top says /'
}

# Older versions do not know --metric. One whose answer has not both is asked for all it knows, from
# then on at once.
jt_add_info() {
  [ -n "$jt_chips" ] || return 0
  [ -n "$jt_info" ] || jt_find_info
  [ -n "$jt_info" ] || { jt_add tpu-info absent && return; }
  jt_add tpu-info there
  jt_said=''
  if [ $jt_form = metric ]; then
    jt_said=$(jt_run_info --metric duty_cycle_percent --metric hbm_usage)
    case $jt_said in
      *[0-9]%*[0-9]' GiB'* | *[0-9]' GiB'*[0-9]%*) ;;
      *) jt_form=plain ;;
    esac
  fi
  [ $jt_form = metric ] || jt_said=$(jt_run_info)
  [ -z "$jt_said" ] || jt_out="$jt_out
$jt_said"
}

jt_look() {
  jt_out='jobman-top begin'
  [ -z "$jt_cpus" ] || jt_add cpus "$jt_cpus"
  if read -r jt_load jt_rest 2>/dev/null <"$jt_proc/loadavg"; then jt_add load "$jt_load"; fi
  jt_add_cpu
  jt_add_memory
  jt_add_disk root /
  jt_add_disk home "$HOME"
  jt_find_chips
  jt_add_holders
  jt_add_info
  jt_add end
  # On a line of its own, whatever a login shell has printed before.
  printf '\n%s\n' "$jt_out" || exit 1
}

jt_cpus=$(grep -c '^cpu[0-9]' "$jt_proc/stat" 2>/dev/null)
jt_root='' jt_root_at_s=0 jt_others='' jt_age_s=0 jt_form=metric jt_info=''
jt_count_ticks
sleep $jt_moment_s 2>/dev/null || sleep 1
while :; do
  jt_look
  [ "$jt_every" -gt 0 ] && [ $jt_age_s -lt $jt_life_s ] || exit 0
  sleep "$jt_every"
  jt_age_s=$((jt_age_s + jt_every))
done
