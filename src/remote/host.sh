#!/bin/sh
# shellcheck disable=SC2034,SC2088,SC2154,SC2116,SC2013,SC2016
# Keeps runs on a host: commands that outlive the connection that started them.
#
#   host.sh run RUN_ID OFFSET [GRACE PREFIX [JOB]]
#                                 starts the run on stdin unless its id is known, then follows it;
#                                 first stops other runs whose id begins with PREFIX ("-": none; if
#                                 PREFIX ends in a number, only smaller ones) and processes of runs
#                                 that begin with JOB and hold the chips; starts nothing while
#                                 anybody else holds them, or if a setup run that the order names
#                                 has not succeeded since boot
#   host.sh begin RUN_ID KEEP PREFIX
#                                 starts the run on stdin, which must be new, and prints its status; of
#                                 the ended runs whose id begins with PREFIX only the latest KEEP stay
#   host.sh follow RUN_ID OFFSET  copies its log from byte OFFSET to stdout until it has ended
#   host.sh stop RUN_ID GRACE [PREFIX]
#                                 TERM, after GRACE seconds KILL; prints the status when nothing is
#                                 left, also of other runs whose id begins with PREFIX
#   host.sh notice RUN_ID SIGNAL  adds the line on stdin once to the notices of the run, and
#                                 sends SIGNAL ("none": no signal) to the command, once per run;
#                                 prints the status
#   host.sh list PREFIX           prints every run whose id begins with PREFIX, with its status
#   host.sh ages PREFIX           the same as lines "RUN_ID SECONDS STATUS": since it was started
#   host.sh renew RUN_ID [again]  forgets the run unless it is running or, without "again", succeeded
#                                 since boot; and ended runs of this setup step with another content
#   host.sh have FILE             says "exited 0" if ~/.jobman/files has the file, else "absent"
#   host.sh put FILE BYTES SHA256 PREFIX
#                                 makes stdin that file, if it is complete; removes other files whose
#                                 name begins with PREFIX; says "exited 0"
#   host.sh fetch FILE BYTES SHA256 PREFIX ADDRESS NAME
#                                 the same with the file NAME of another host of the job, which this
#                                 one may log in to; says "absent" if that does not give it
#
# A status is: running | exited N | lost WHY | absent | lapsed RUN_ID | gap BEGIN END. After a gap, `follow` goes on
# from byte END: what lies before it is gone from the log.
#
# A run is a folder ~/.jobman/runs/RUN_ID: pid ("PID START_TICKS" of the launcher, which leads the
# session and the process group), boot_id, command, log, started, login (until ~/.profile was read),
# exit, stopped, notices (for the command), notice-KIND (for the followers), signalled, watcher,
# keeper, kept (since when it need not look), gap (of the log: "BEGIN END"), container (see
# jm_docker), agent (see jm_offer_agent). Whoever creates the folder (`mkdir`) starts the run. Secrets
# come on stdin and stay in shell variables and in the environment of the command; no here-documents,
# since some shells write them to files.
#
# RUN_ID is STORE.JOB.NODE.HOST.WHAT (include/jobman/core/run_id.hpp). The home folder may be shared
# with other hosts (NFS), whose processes are not visible here. So the script touches only files in
# ~/.jobman with this host's own ids, which are the only ones callers pass.
#
# POSIX sh with the usual tools; runs under dash, bash and busybox. Variables begin with jm_ so that
# no exported one of the caller is changed. Exit codes: 0, or 96 with "jobman: error ..." or
# "jobman: busy ..." (the chips are in use). Variables that the script reads: HOME,
# JOBMAN_LOGIN_LIMIT_S, JOBMAN_BOOT_ID_FILE, JOBMAN_CHIP_DEVICES and JOBMAN_CHIP_LOCK (instead of the
# usual ones),
# GCE_METADATA_HOST (another metadata server; set and empty: none), SSH_AUTH_SOCK (set by sshd).

# Limits. Times end in _cs (hundredths of a second) or _s (seconds, as for sleep and curl).
jm_pid_wait_cs=100    # for a launcher to write its pid once its folder exists, on a slow disk
jm_exit_wait_cs=300   # for a launcher to write the exit code once the rest is killed; then it is killed
jm_kill_wait_cs=1000  # for KILL to work: immediate, unless a process hangs in a disk or a driver
jm_chips_wait_cs=1500 # beyond the grace, for holders that keep coming back; longer than one may hang
jm_exit_looks=5       # at a holder that is exiting: it still has its files, but no environment
jm_beat_cs=1000       # between signs of life of a call that follows a run
jm_first_nap_s=0.05   # a process that obeys has usually ended by then
jm_piece=67108864     # bytes of a log sent before notices, gaps and the disk are looked at again
jm_nap_s=0.1          # between looks at slow processes, and at a log that grows
jm_last_nap_s=0.4     # between looks at a log that grows steadily; at whether a silent run has ended
jm_steady=20          # looks in a row that found more of the log: it grows steadily
jm_idle_wakes=5       # of a wait that ends early, for nothing: then it is slept
jm_beat_early_cs=100  # a wait is counted in seconds, so a sign of life may be early
jm_login_cs=$((${JOBMAN_LOGIN_LIMIT_S:-300} * 100)) # for ~/.profile, which may wait for ever
jm_ask_s=75           # for an answer of the metadata server; longer than jm_news_s
jm_news_s=60          # how long the server should wait for a change
jm_connect_s=3        # it is on the machine's own network
jm_ask_pause_s=2      # between requests to a server that does not wait
jm_ask_pause_max_s=60 # ... to one that keeps failing
jm_first_asks=4       # if none of these is answered, there is no server
jm_named_holders=3    # of the chips, in a message
jm_words_shown=80     # of a command line, in a message
jm_kept_b=67108864    # bytes of a log that stay on disk behind those that were sent
jm_keep_s=5           # between looks at the disk that a log takes
jm_docker_s=4         # for docker to answer
jm_box_looks=20       # for the container of a run that gets a notice's signal
jm_part_min=60        # since a file that is being put was written to: its call is gone
jm_copy_wait_cs=200   # for the output of a killed container to arrive; shorter than jm_exit_wait_cs

jm_die() {
  printf 'jobman: error %s\n' "$*" >&2
  exit 96
}

# Sleeps a fraction of a second where `sleep` can, else a second.
jm_nap() {
  sleep "$1" 2>/dev/null || sleep 1
  jm_beat 0
}

# jm_beat EARLY_CS: a call that follows a run says now and then that it is alive, since a host that
# hangs cannot.
jm_beat() {
  [ -n "$jm_beat_at_cs" ] || return 0
  jm_clock
  [ "$((jm_now_cs + $1))" -ge "$jm_beat_at_cs" ] || return 0
  printf 'jobman: alive\n' >&2 || exit 1
  jm_beat_at_cs=$((jm_now_cs + jm_beat_cs))
}

# Sets jm_now_cs to the time, without starting a process if there is /proc.
jm_clock() {
  if read -r jm_up jm_rest 2>/dev/null </proc/uptime; then
    jm_part=${jm_up#*.}
    jm_now_cs=$((${jm_up%.*} * 100 + ${jm_part#0}))
  else
    jm_now_cs=$(($(date +%s) * 100))
  fi
}

# Reads /proc/PID/stat into jm_state, jm_parent, jm_group, jm_session, jm_ticks. The process name in
# it may contain spaces and brackets.
jm_look() {
  IFS= read -r jm_line 2>/dev/null <"/proc/$1/stat" || return 1
  # shellcheck disable=SC2086
  set -- ${jm_line##*) }
  jm_state=$1 jm_parent=$2 jm_group=$3 jm_session=$4 jm_ticks=${20}
}

# Whether the launcher is alive; sets jm_pid and jm_born from its pid file. Pids are reused; a pid
# with its start time is unique.
jm_alive() {
  jm_pid='' jm_born=''
  read -r jm_pid jm_born 2>/dev/null <"$jm_dir/pid"
  [ -n "$jm_pid" ] || return 1
  if [ -d /proc/self ]; then
    jm_look "$jm_pid" && [ "$jm_ticks" = "$jm_born" ] && [ "$jm_state" != Z ]
  else
    kill -0 "$jm_pid" 2>/dev/null
  fi
}

# jm_same_boot [DIR]: whether the run in DIR (jm_dir) was started since this machine booted.
jm_same_boot() {
  jm_was=''
  read -r jm_was 2>/dev/null <"${1:-$jm_dir}/boot_id"
  [ -z "$jm_was" ] || [ "$jm_was" = "$jm_boot" ]
}

# jm_succeeded DIR: whether the run in DIR ended with 0 since this machine booted.
jm_succeeded() {
  jm_code=''
  read -r jm_code 2>/dev/null <"$1/exit"
  [ "$jm_code" = 0 ] && jm_same_boot "$1"
}

# Sets jm_status. A launcher that is just starting gets a moment to write its pid; one that is gone
# may have written its exit code since the first look.
jm_settle() {
  jm_pid_end_cs='' jm_gone=''
  while :; do
    if [ ! -d "$jm_dir" ]; then
      jm_status=absent
    elif [ -s "$jm_dir/exit" ]; then
      read -r jm_code <"$jm_dir/exit"
      jm_status="exited $jm_code"
    elif [ -e "$jm_dir/unstarted" ]; then
      jm_status='lost stopped before it started'
    elif ! jm_same_boot; then
      jm_status='lost the host was restarted during the run'
    elif jm_alive; then
      jm_status=running
    elif [ -n "$jm_pid" ]; then
      [ -n "$jm_gone" ] || { jm_gone=yes && continue; }
      jm_status='lost its launcher was killed'
    else
      jm_clock
      : "${jm_pid_end_cs:=$((jm_now_cs + jm_pid_wait_cs))}"
      [ "$jm_now_cs" -ge "$jm_pid_end_cs" ] || { jm_nap $jm_first_nap_s && continue; }
      jm_status='lost its start was cut short'
    fi
    return
  done
}

# Runs "$@" in its own session and returns. The second setsid leads a group, so it forks, and the
# caller goes on. `&` would make the command ignore SIGINT, so it is the last resort.
jm_detach() {
  if command -v setsid >/dev/null 2>&1; then
    setsid setsid "$@"
  elif busybox setsid true 2>/dev/null; then
    busybox setsid busybox setsid "$@"
  elif command -v perl >/dev/null 2>&1; then
    perl -MPOSIX -e 'exit 0 if fork; POSIX::setsid(); exec @ARGV or exit 127' "$@"
  else
    exec 3<&0
    "$@" <&3 3<&- &
    exec 3<&-
  fi
}

# Becomes the command of the run: jm_script with jm_env in jm_workdir, all set by the order. It is a
# login shell, with the PATH that ~/.profile sets. What jm_env sets takes precedence, so it is applied
# once the profile was read; it comes on stdin, since files and arguments are visible.
jm_become_command() {
  jm_shell=$(command -v bash || command -v sh)
  umask "$jm_umask"
  case $jm_workdir in
    '~') jm_workdir=$HOME ;;
    '~/'*) jm_workdir=$HOME/${jm_workdir#'~/'} ;;
  esac
  CDPATH='' cd "$HOME" || exit 126
  if [ -n "$jm_workdir" ] && ! CDPATH='' cd "$jm_workdir"; then
    echo "jobman: cannot enter the working folder $jm_workdir"
    exit 126
  fi
  export JOBMAN_RUN_ID="$jm_id" JOBMAN_RUN_DIR="$jm_dir" JOBMAN_NOTICE_FILE="$jm_dir/notices"
  (
    eval "$jm_env"
    case ${JOBMAN_CHECKPOINT_DIR:-} in /*) command -p mkdir -p "$JOBMAN_CHECKPOINT_DIR" ;; esac
  )
  case $jm_script in
    '#!'*) jm_enter='exec "$0"' ;;
    *) jm_enter='. "$0"' ;;
  esac
  # As -l would read them. A shell with -l also runs ~/.bash_logout when it exits, and that of Ubuntu
  # fails without a console: under `set -e` the command would fail with it.
  exec "$jm_shell" -c '
    [ ! -r /etc/profile ] || . /etc/profile
    for jm_file in ${BASH_VERSION:+.bash_profile .bash_login} .profile; do
      [ ! -r "$HOME/$jm_file" ] || { . "$HOME/$jm_file"; break; }
    done
    unset jm_file
    command -p rm -f "$JOBMAN_RUN_DIR/login"
    eval "$(command -p cat <&3)"
    exec 3<&-
    CDPATH="" cd -- "$1" || exit 126
    shift
    '"$jm_enter" "$jm_dir/command" "$PWD" 3<&0 </dev/null
}

# Writes the files of a new run. exit.new gets its blocks now, so that a full disk cannot lose the
# exit code.
jm_prepare() {
  printf '%s\n' "$jm_boot" >"$jm_dir/boot_id" &&
    printf '%s\n' "$jm_script" >"$jm_dir/command" && chmod 700 "$jm_dir/command" &&
    printf '%-4s\n' '?' >"$jm_dir/exit.new" && true >"$jm_dir/log" && true >"$jm_dir/login" &&
    jm_offer_agent && date +%s >"$jm_dir/started" && { jm_look $$ || jm_ticks=0; } &&
    printf '%s %s\n' $$ "$jm_ticks" >"$jm_dir/pid"
}

# Data loaders and mounts of many files need more than the 1024 of a login.
# shellcheck disable=SC3045  # dash, bash and busybox know -H and -S
jm_open_more_files() {
  jm_most=$(ulimit -H -n)
  [ "$jm_most" != unlimited ] && [ "$jm_most" -lt 65536 ] || jm_most=65536
  jm_files=$(ulimit -S -n)
  [ "$jm_files" = unlimited ] || [ "$jm_files" -ge "$jm_most" ] || ulimit -S -n "$jm_most"
}

# The launcher: leads the session, writes one line of answer to stdout, waits for the command and
# writes its exit code. It survives TERM to the whole group; the command also ignores HUP.
jm_launch() {
  trap '' HUP
  trap : TERM INT USR1 USR2 # what a notice may send to the group
  trap : PIPE # nobody may be left to read the answer
  jm_signal='' jm_log_max_b=0 jm_setup='' jm_agent=''
  eval "$(cat)" || exit 1
  for jm_one in $jm_setup; do
    jm_succeeded "$jm_runs/$jm_one" || { echo "lapsed $jm_one"; return; }
  done
  [ -z "$jm_agent" ] || jm_name_agent
  jm_umask=$(umask)
  umask 077
  if ! jm_why=$(mkdir "$jm_dir" 2>&1); then
    if [ -d "$jm_dir" ]; then echo exists; else echo "error $jm_why"; fi
    return
  fi
  if ! jm_why=$(jm_prepare 2>&1); then
    rm -rf "$jm_dir"
    echo "error cannot write to $jm_dir: $jm_why (is the disk full?)"
    return
  fi
  echo started
  jm_open_more_files
  exec >/dev/null 2>&1 </dev/null # not the log: shells print "Terminated" for a child
  if [ -e "$jm_dir/stopped" ]; then
    jm_code=143
  else
    [ -z "$jm_note" ] || printf 'jobman: %s\n' "$jm_note" >>"$jm_dir/log"
    jm_start_watcher
    jm_start_keeper
    printf '%s' "$jm_env" | (jm_become_command) >>"$jm_dir/log" 2>&1
    jm_code=$?
    if [ -e "$jm_dir/login" ] && [ ! -e "$jm_dir/stopped" ]; then
      jm_why='ended the shell'
      [ ! -s "$jm_dir/login" ] || jm_why="took more than $((jm_login_cs / 100)) s, and was stopped,"
      echo "jobman: ~/.profile or the like $jm_why before the command began" >>"$jm_dir/log"
      [ "$jm_code" != 0 ] || jm_code=126
    fi
    jm_end_helpers
    [ ! -e "$jm_dir/signalled" ] || jm_await_group
  fi
  [ -z "$jm_agent" ] || rm -f "$jm_dir/agent" "${jm_runs%/runs}/agent/$jm_agent"
  trap '' TERM INT USR1 USR2 # `mv` is in the group too
  printf '%-4s\n' "$jm_code" 1<>"$jm_dir/exit.new"
  mv -f "$jm_dir/exit.new" "$jm_dir/exit"
}

# Waits until the whole group that got the notice's signal has ended: the command may be a shell
# that ends at once while its program still writes a checkpoint. There is no limit: the controller
# stops the run if it takes too long. A program that listed processes would be in the group itself,
# so the shell does it.
jm_await_group() {
  [ -d /proc/self ] || return
  while jm_members='' && for jm_file in /proc/[0-9]*; do
    jm_one=${jm_file#/proc/}
    [ "$jm_one" != $$ ] && jm_in_group "$jm_one" && jm_members="$jm_members $jm_one"
  done; [ -n "$jm_members" ]; do
    for jm_one in $jm_members; do
      while jm_in_group "$jm_one"; do jm_nap $jm_nap_s; done
    done
  done
}

jm_in_group() { jm_look "$1" && [ "$jm_group" = $$ ] && [ "$jm_state" != Z ] && [ "$jm_state" != X ]; }

# A ~/.profile that does not end would pass for a command that runs.
jm_bound_login() {
  jm_clock
  : "${jm_login_end_cs:=$((jm_now_cs + jm_login_cs))}"
  [ "$jm_now_cs" -ge "$jm_login_end_cs" ] || return
  echo over >"$jm_dir/login"
  jm_set_term_end 2
  jm_end jm_find_processes
}

# jm_start [GRACE PREFIX [JOB]]: starts the run ordered on stdin, unless its id is known.
jm_start() {
  jm_answer=''
  jm_order=$(cat)
  [ -d "$jm_dir" ] && return
  case $jm_order in
    *"
jobman-end") ;;
    *) jm_die "the order of run $jm_id arrived incomplete; nothing was started" ;;
  esac
  jm_why=$(umask 077 && mkdir -p "$jm_runs" 2>&1) || jm_die "cannot create $jm_runs: $jm_why"
  jm_note=''
  [ "${2:--}" = - ] || { jm_set_others "$2" && jm_set_term_end "$1" && jm_end jm_find_others; }
  [ $# -lt 3 ] || jm_free_chips "$3" "$1"
  jm_answer=$(printf "jm_note='%s'\n%s\n" "$jm_note" "${jm_order%jobman-end}" |
    jm_detach sh "$0" launch "$jm_id")
  unset jm_order
  case $jm_answer in
    started | exists) ;;
    lapsed*)
      printf 'jobman: %s\n' "$jm_answer" >&2
      exit 0
      ;;
    error*) jm_die "${jm_answer#error }" ;;
    *) jm_die "the launcher of run $jm_id did not answer${jm_answer:+: $jm_answer}" ;;
  esac
}

# Reports notices that this host was given to the caller, each once per connection.
jm_tell_notices() {
  for jm_kind in maintenance preemption; do
    case $jm_said in *$jm_kind*) continue ;; esac
    if [ -e "$jm_dir/notice-$jm_kind" ] && read -r jm_value <"$jm_dir/notice-$jm_kind"; then
      printf 'jobman: notice %s %s\n' "$jm_kind" "$jm_value" >&2
      jm_said="$jm_said $jm_kind"
    fi
  done
}

# Gives the disk of the sent part of the log back, but for the last jm_kept_b bytes: what is on its
# way may be asked for again. Positions stay. Where `fallocate` or the file system cannot, the log
# stays whole.
jm_free_sent() {
  [ $((jm_sent - jm_freed)) -ge $((2 * jm_kept_b)) ] || return
  jm_freed=$((jm_sent - jm_kept_b))
  fallocate -p -o 0 -l $jm_freed "$jm_dir/log" 2>/dev/null
}

# jm_tell_gap FROM: if the log has lost a part of what was sent since byte FROM, or what comes next,
# says so and exits. The caller asks again from the end of the gap.
jm_tell_gap() {
  jm_gap=0 jm_gap_end=0
  read -r jm_gap jm_gap_end 2>/dev/null <"$jm_dir/gap" || return
  if [ "${jm_gap_end:-0}" -le "$1" ] || [ "$jm_gap" -gt "$jm_sent" ]; then return; fi
  [ "$jm_gap" -ge "$1" ] || jm_gap=$1
  printf 'jobman: gap %s %s\n' "$jm_gap" "$jm_gap_end" >&2
  exit 0
}

# Opens the log as file 3, at byte jm_sent. All who read from there share the place, which /proc tells:
# so `dd` sends what there is, and it is known how much that was. jm_open: "yes" if this works here.
jm_open_log() {
  [ -r "$jm_dir/log" ] && command exec 3<"$jm_dir/log" || return 0
  jm_open=no
  [ "$jm_sent" = 0 ] || dd bs=1 skip="$jm_sent" count=0 <&3 >/dev/null 2>&1
  jm_read_place && [ "$jm_place" = "$jm_sent" ] && jm_open=yes
}

jm_read_place() {
  jm_place=''
  read -r jm_rest jm_place 2>/dev/null <"/proc/$$/fdinfo/3" && [ -n "$jm_place" ]
}

# Sends what the log has beyond byte jm_sent, jm_piece bytes at most: a log may grow as fast as it is
# sent, and notices, gaps and the disk are to be looked at meanwhile. Fails if that is nothing.
# jm_more: "yes" if the next look is to come at once.
jm_send_more() {
  [ -n "$jm_open" ] || jm_open_log
  jm_from=$jm_sent
  jm_tell_gap "$jm_from"
  if [ "$jm_open" = yes ] && [ "$jm_gap" -le "$jm_sent" ]; then
    dd bs=65536 count=$((jm_piece / 65536)) <&3 2>/dev/null || exit 1
    jm_read_place || exit 1
    jm_sent=$jm_place
  else
    jm_send_part
  fi
  [ "$jm_sent" -gt "$jm_from" ] || return
  jm_more=no
  [ $((jm_sent - jm_from)) -lt "$jm_piece" ] || jm_more=yes
  jm_tell_gap "$jm_from"
  jm_free_sent
  return 0
}

# The same up to a gap, or where the place in the log is not known.
jm_send_part() {
  [ "$jm_open" != yes ] || jm_open=no # its place stays behind
  jm_size=0
  # shellcheck disable=SC2046
  [ -e "$jm_dir/log" ] && set -- $(ls -ln "$jm_dir/log") && jm_size=$5
  [ "$jm_gap" -le "$jm_sent" ] || [ "$jm_gap" -ge "$jm_size" ] || jm_size=$jm_gap
  [ "$jm_size" -gt "$jm_sent" ] || return 0
  tail -c "+$((jm_sent + 1))" "$jm_dir/log" 2>/dev/null | head -c "$((jm_size - jm_sent))" || exit 1
  jm_sent=$jm_size
}

# Whether this host's tools can wait in place of sleeping: those of coreutils.
jm_can_wait() {
  if [ -z "$jm_waits" ]; then
    jm_waits=no
    { tail --pid=$$ -c 0 /dev/null && timeout --foreground 1 true; } >/dev/null 2>&1 && jm_waits=yes
  fi
  [ "$jm_waits" = yes ]
}

# Waits until the log has more than jm_sent bytes, a notice comes or the run ends, at most until the
# next sign of life is due: without a loop that sleeps, since a host may follow a silent run for
# days. No process of this holds the connection open. The names of notices that were told are left
# out: their files would end the wait.
jm_await_news() {
  if [ -e "$jm_dir/login" ] || [ "$jm_pause" != "$jm_last_nap_s" ] || ! jm_can_wait; then
    jm_nap "$jm_pause"
    case $jm_pause in "$jm_first_nap_s") jm_pause=$jm_nap_s ;; *) jm_pause=$jm_last_nap_s ;; esac
    return
  fi
  jm_clock
  jm_wait=$(((jm_beat_at_cs - jm_now_cs) / 100)) jm_began_cs=$jm_now_cs
  [ "$jm_wait" -gt 0 ] || jm_wait=1
  set -- "$jm_dir/log" "$jm_dir/exit"
  for jm_kind in maintenance preemption; do
    case $jm_said in *$jm_kind*) ;; *) set -- "$@" "$jm_dir/notice-$jm_kind" ;; esac
  done
  {
    timeout --foreground "$jm_wait" tail -q -c "+$((jm_sent + 1))" -s "$jm_last_nap_s" \
      "--pid=$jm_pid" -F "$@" | head -c 1
  } </dev/null >/dev/null 2>&1 3<&-
  jm_clock
  [ $((jm_now_cs - jm_began_cs)) -ge $((jm_wait * 50)) ] || jm_wakes=$((jm_wakes + 1))
  [ "$jm_wakes" -lt "$jm_idle_wakes" ] || jm_waits=no
  jm_beat $jm_beat_early_cs
}

# Copies the log from byte jm_sent to stdout until the run has ended and everything is sent. First
# says that the run exists: it may be silent for long. Reads the status before the log, so that all
# output of an ended run is counted. Exits quietly when the connection is gone: a write fails, or
# the parent has changed.
jm_follow() {
  jm_sent=$1
  [ -d "$jm_dir" ] && printf 'jobman: running\n' >&2
  jm_settle
  # The launcher of a run that this call has started did so; a later call may have, meanwhile.
  [ "$jm_status" != running ] || [ "${jm_answer:-}" = started ] || jm_link_agent
  jm_look $$ && jm_caller=$jm_parent
  jm_pause=$jm_first_nap_s jm_said='' jm_freed=0 jm_login_end_cs=''
  jm_open='' jm_gap=0 jm_waits='' jm_wakes=0 jm_grown=0
  while :; do
    jm_settle
    jm_tell_notices
    [ ! -e "$jm_dir/login" ] || [ "$jm_status" != running ] || jm_bound_login
    if jm_send_more; then
      jm_wakes=0 jm_grown=$((jm_grown + 1))
      if [ "$jm_status" != running ] || [ "$jm_more" = yes ]; then continue; fi
      if [ "$jm_waits" = yes ]; then jm_pause=$jm_last_nap_s; else jm_pause=$jm_first_nap_s; fi
      if [ "$jm_grown" -lt $jm_steady ]; then jm_nap $jm_nap_s; else jm_nap $jm_last_nap_s; fi
    elif [ "$jm_status" != running ]; then
      break
    else
      jm_grown=0
      jm_await_news
    fi
    jm_look $$ && [ "$jm_parent" != "$jm_caller" ] && exit 1
  done
  printf 'jobman: %s\n' "$jm_status" >&2
}

# Sets jm_left to the live processes of the run and jm_last to its launcher: the session and group
# of the launcher, and all processes with the run's folder in their environment (daemons that left
# the session). The folder, not the id: another user of this machine may have the same id in another
# home. Without /proc: the group itself.
jm_find_processes() {
  jm_left='' jm_last='' jm_boxes=''
  jm_find_boxes "$jm_dir"
  jm_find_own
  jm_add_boxes
}

jm_find_own() {
  jm_alive && jm_last=$jm_pid
  if [ ! -d /proc/self ]; then
    [ -n "$jm_pid" ] && kill -0 "-$jm_pid" 2>/dev/null && jm_left=-$jm_pid
    return
  fi
  # The launcher's pid may belong to another process by now; then it is not our group.
  if [ -n "$jm_pid" ] && [ ! -e "$jm_dir/exit" ] && jm_same_boot &&
    { [ ! -d "/proc/$jm_pid" ] || [ "$jm_ticks" = "$jm_born" ]; }; then
    jm_left=$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v leader="$jm_pid" '{
      pid = $1; sub(/^.*\) /, "")
      if ($1 != "Z" && $1 != "X" && pid != leader && ($3 == leader || $4 == leader)) print pid }')
    # shellcheck disable=SC2086
    jm_left=$(echo $jm_left)
  fi
  for jm_file in $(grep -lF "JOBMAN_RUN_DIR=$jm_dir" /proc/[0-9]*/environ 2>/dev/null); do
    jm_one=${jm_file#/proc/}
    jm_one=${jm_one%/environ}
    case " $jm_left $jm_pid $$ " in *" $jm_one "*) continue ;; esac
    # grep also finds runs whose id begins with this one.
    tr '\0' '\n' 2>/dev/null <"$jm_file" | grep -qxF "JOBMAN_RUN_DIR=$jm_dir" &&
      jm_left="$jm_left $jm_one"
  done 2>/dev/null
}

# --- The user's ssh-agent. Each connection has its own socket for it, which ends with the connection. The
# run outlives them, so its SSH_AUTH_SOCK is a link, which each call that follows the run renews. ---

# Sets jm_agent to the name of the link, which is not in the run's folder: the path of a socket has at
# most 107 bytes. The job may set another SSH_AUTH_SOCK.
jm_name_agent() {
  jm_agent=$(printf %s "$jm_id" | cksum)
  jm_agent=${jm_agent%% *}
  jm_env="export SSH_AUTH_SOCK=\"\$HOME/.jobman/agent/$jm_agent\"$jm_newline$jm_env"
}

# Before the run counts as running, so that no later call's socket is replaced by an older one. The file
# `agent` has the name of the link.
jm_offer_agent() {
  [ -n "$jm_agent" ] || return 0
  printf '%s\n' "$jm_agent" >"$jm_dir/agent" || return
  jm_link_agent ||
    echo 'jobman: no SSH agent is forwarded (ssh.agent_forwarding): the controller was started without' \
      'SSH_AUTH_SOCK, or sshd does not allow it' >>"$jm_dir/log"
}

# Points the link at the agent of this call; fails if there is none. The launcher removes the file first,
# then the link: if the file is gone here, the run has ended meanwhile and nobody else removes this link.
jm_link_agent() {
  jm_link=''
  read -r jm_link <"$jm_dir/agent" && [ -S "${SSH_AUTH_SOCK:-}" ] || return
  jm_link=${jm_runs%/runs}/agent/$jm_link
  (umask 077 && mkdir -p "${jm_link%/*}") && ln -sf "$SSH_AUTH_SOCK" "$jm_link.$$" &&
    mv -f "$jm_link.$$" "$jm_link" && { [ -e "$jm_dir/agent" ] || rm -f "$jm_link"; }
} 2>/dev/null

# --- Notices: the cloud announces that it will take the machine away. ---

# jm_note_down LINE: adds it once to the notices that the command reads.
jm_note_down() {
  grep -qxF -e "$1" "$jm_dir/notices" 2>/dev/null && return
  printf '%s\n' "$1" >>"$jm_dir/notices"
  # The command may be another user in its container.
  [ ! -e "$jm_dir/container" ] || chmod 644 "$jm_dir/notices"
}

# Sends jm_signal to the command's process group, once per run. The launcher, which leads the group,
# ignores these signals. A call whose connection breaks is made again, and leaves alone what is marked
# as signalled: so between the mark and the signal, the end of the connection must not end this.
jm_signal_command() {
  case $jm_signal in TERM | INT | USR1 | USR2) ;; *) return ;; esac
  (
    trap '' HUP PIPE TERM
    jm_alive && mkdir "$jm_dir/signalled" 2>/dev/null || exit
    kill -"$jm_signal" "-$jm_pid" 2>/dev/null
    jm_signal_own_box
  )
}

# A notice from the controller.
jm_take_notice() {
  jm_signal=$1
  IFS= read -r jm_line_of_notice || jm_die 'the notice arrived incomplete'
  jm_settle
  if [ "$jm_status" = running ]; then
    jm_note_down "$jm_line_of_notice"
    jm_signal_command
  fi
  echo "$jm_status"
}

# Starts the watcher, which asks this machine's metadata server. It has its own session, out of
# reach of signals to the command, and ends with the run. Outside Google's cloud there is none.
jm_start_watcher() {
  [ -n "$jm_signal" ] && [ -d /proc/self ] || return
  if [ -z "${GCE_METADATA_HOST+set}" ]; then
    jm_product=''
    read -r jm_product 2>/dev/null </sys/class/dmi/id/product_name
    case $jm_product in Google*) ;; *) return ;; esac
  elif [ -z "$GCE_METADATA_HOST" ]; then
    return
  fi
  command -v curl >/dev/null 2>&1 || command -v wget >/dev/null 2>&1 || return
  jm_detach sh "$0" watch "$jm_id" "$jm_signal"
}

jm_end_helpers() {
  for jm_helper in watcher keeper; do
    jm_one=''
    read -r jm_one jm_rest 2>/dev/null <"$jm_dir/$jm_helper" || continue
    jm_look "$jm_one" && [ "$jm_ticks" = "$jm_rest" ] && kill -TERM "-$jm_one" 2>/dev/null
  done
}

# Starts the keeper of the log, as the watcher is started, where a part of a file can be given back.
jm_start_keeper() {
  [ "$jm_log_max_b" -gt 0 ] && [ -d /proc/self ] || return
  jm_spare_gap && fallocate -p -o 0 -l 1 "$jm_dir/gap.new" 2>/dev/null || return
  jm_detach sh "$0" keep "$jm_id" "$jm_log_max_b"
}

# Takes the disk for the next gap record now, so that a full disk can be emptied.
jm_spare_gap() { printf '%-40s\n' '' 2>/dev/null >"$jm_dir/gap.new"; }

# The keeper: while nobody fetches the log, it takes no more disk than jm_keep MAX bytes and what is
# written between two looks. The first half and the latest half stay.
jm_keep() {
  jm_look $$ && printf '%s %s\n' $$ "$jm_ticks" >"$jm_dir/keeper"
  while jm_alive; do
    # A log that was not written to since the last look needs none.
    # shellcheck disable=SC3013  # dash, bash and busybox know -nt
    if [ ! "$jm_dir/kept" -nt "$jm_dir/log" ]; then
      true 2>/dev/null >"$jm_dir/kept"
      # shellcheck disable=SC2046
      set -- "$1" $(du -k "$jm_dir/log")
      [ "$((${2:-0} * 1024))" -le "$1" ] || jm_drop_middle "$1" || return
    fi
    jm_nap $jm_keep_s
  done
}

# Records the gap first: a follower that reads zeros finds it on record afterwards.
jm_drop_middle() {
  # shellcheck disable=SC2046
  set -- $(($1 / 2)) $(ls -ln "$jm_dir/log")
  [ "$(($6 - $1))" -gt "$1" ] || return 0
  printf '%-40s\n' "$1 $(($6 - $1))" 1<>"$jm_dir/gap.new" && mv -f "$jm_dir/gap.new" "$jm_dir/gap" &&
    fallocate -p -o "$1" -l "$(($6 - 2 * $1))" "$jm_dir/log" && jm_spare_gap
}

# The watcher: waits for any change in the metadata of this machine, then reads what matters, one
# request at a time. A server that never answered is soon given up.
jm_watch() {
  jm_signal=$1
  jm_look $$ && printf '%s %s\n' $$ "$jm_ticks" >"$jm_dir/watcher"
  jm_etag='' jm_answers=0 jm_failures=0
  # Only GNU wget has proxy settings, and the option that overrides them.
  jm_direct=$(wget --no-proxy --version >/dev/null 2>&1 && echo --no-proxy)
  while jm_alive; do
    jm_known=$jm_etag
    jm_wait=${jm_known:+"&wait_for_change=true&timeout_sec=$jm_news_s&last_etag=$jm_known"}
    if jm_ask "?recursive=true$jm_wait"; then
      [ "$jm_answers" = 0 ] || jm_pause=$jm_ask_pause_s
      jm_answers=1 jm_failures=0 jm_new=$jm_etag
      if [ -z "$jm_new" ] || [ "$jm_new" != "$jm_known" ]; then
        jm_ask preempted && jm_heed preemption "$jm_value"
        jm_ask maintenance-event && jm_heed maintenance "$jm_value"
        jm_etag=$jm_new
      fi
    else
      jm_failures=$((jm_failures + 1))
      [ "$jm_answers" != 0 ] || [ "$jm_failures" -lt "$jm_first_asks" ] || return
      jm_pause=$((jm_failures < 6 ? 1 << jm_failures : jm_ask_pause_max_s))
    fi
    jm_nap "${jm_pause:-0}"
  done
}

# jm_ask KEY: sets jm_value to the last line of the answer and jm_etag to its ETag. Never through a
# proxy: the server is on this machine's own network.
jm_ask() {
  jm_url="http://${GCE_METADATA_HOST:-metadata.google.internal}/computeMetadata/v1/instance/$1"
  jm_flavor='Metadata-Flavor: Google'
  if command -v curl >/dev/null 2>&1; then
    jm_answer=$(curl -sfi --noproxy '*' --connect-timeout $jm_connect_s -m $jm_ask_s \
      -H "$jm_flavor" "$jm_url")
  else
    # shellcheck disable=SC2086
    jm_answer=$(http_proxy='' wget -qSO- $jm_direct -t 1 -T $jm_ask_s \
      --header "$jm_flavor" "$jm_url" 2>&1)
  fi || return 1
  jm_etag=''
  while :; do
    jm_value=${jm_answer%%"$jm_newline"*}
    jm_value=${jm_value%"$jm_return"}
    case $jm_value in *[Ee][Tt][Aa][Gg]:*) jm_etag=${jm_value##*[: ]} ;; esac
    [ "$jm_answer" != "${jm_answer#*"$jm_newline"}" ] || break
    jm_answer=${jm_answer#*"$jm_newline"}
  done
  case $jm_etag in *[!A-Za-z0-9_.-]*) jm_etag='' ;; esac
}

# jm_heed KIND VALUE: if this is a notice, records it and signals the command. If an earlier run of
# the job was signalled for this maintenance since boot, it is only recorded.
jm_heed() {
  jm_mark=${jm_runs%/runs}/noticed-$1.${jm_id%.*}
  case $1:$2 in
    preemption:TRUE | maintenance:TERMINATE_ON_HOST_MAINTENANCE) ;;
    *)
      rm -f "$jm_mark"
      return
      ;;
  esac
  [ ! -e "$jm_dir/notice-$1" ] || return
  jm_note_down '{"imminent":true,"kind":"'"$1"'","text":"'"$2"'"}'
  jm_was=''
  [ "$1" != maintenance ] || read -r jm_was 2>/dev/null <"$jm_mark"
  [ "$jm_was" != "${jm_boot:-unknown}" ] || return
  printf '%s\n' "${jm_boot:-unknown}" >"$jm_mark"
  printf '%s\n' "$2" >"$jm_dir/notice.new-$1" && mv -f "$jm_dir/notice.new-$1" "$jm_dir/notice-$1"
  jm_signal_command
}

# jm_is_earlier NUMBER: whether it is smaller than jm_before, if that is set. A late call (its
# sender was asleep) must not end runs of attempts that began since.
jm_is_earlier() {
  [ -n "$jm_before" ] || return 0
  case $1 in '' | *[!0-9]*) return 1 ;; esac
  [ "$1" -lt "$jm_before" ]
}

# Sets jm_left to the live processes of other runs whose id begins with jm_prefix: leftovers of an
# earlier attempt, which may hold the chips. Needs /proc.
jm_find_others() {
  jm_left='' jm_last='' jm_boxes=''
  for jm_file in "$jm_runs/$jm_prefix"*/container; do
    jm_of=${jm_file%/container}
    [ "$jm_of" != "$jm_runs/$jm_id" ] && jm_is_earlier "${jm_of#"$jm_runs/$jm_prefix"}" &&
      jm_find_boxes "$jm_of"
  done
  set -- -e "JOBMAN_RUN_DIR=$jm_runs/$jm_prefix"
  [ -z "$jm_old" ] || set -- "$@" -e "JOBMAN_RUN_DIR=$jm_runs/$jm_old"
  for jm_file in $(grep -lF "$@" /proc/[0-9]*/environ 2>/dev/null); do
    jm_one=${jm_file#/proc/}
    jm_one=${jm_one%/environ}
    [ "$jm_one" != $$ ] || continue
    jm_run_of "$jm_one"
    case $jm_of in
      "$jm_runs/$jm_id") ;;
      "$jm_runs/$jm_prefix"*)
        jm_is_earlier "${jm_of#"$jm_runs/$jm_prefix"}" && jm_left="$jm_left $jm_one"
        ;;
    esac
  done 2>/dev/null
  jm_add_boxes
}

# The processes of the run and of the others, which share one grace period.
jm_find_all() {
  jm_find_processes
  jm_of_run=$jm_left jm_launcher=$jm_last
  jm_find_others
  jm_left=$jm_of_run${jm_left:+ $jm_left} jm_last=$jm_launcher
}

# --- Containers: src/remote/setup/docker.sh runs the command in one. Its processes may be out of our
# reach, so docker signals them. Nobody asks docker unless a run has a file `container`. ---

# jm_docker DIR ARGUMENT...: docker as the run in DIR uses it. Its file `container` says how: "sudo" or
# nothing, the path of docker, the address of its daemon.
jm_docker() {
  jm_sudo='' jm_program='' jm_daemon=${DOCKER_HOST:-}
  { read -r jm_sudo && read -r jm_program && read -r jm_daemon; } 2>/dev/null <"$1/container"
  shift
  set -- env "DOCKER_HOST=$jm_daemon" "${jm_program:-docker}" "$@"
  ! command -v timeout >/dev/null 2>&1 || set -- timeout -k 1 $jm_docker_s "$@"
  [ "$jm_sudo" != sudo ] || set -- sudo -n "$@"
  "$@" </dev/null 2>/dev/null
}

# jm_find_boxes DIR: adds the running container of the run in DIR to jm_boxes, as a word RUN_ID:CONTAINER,
# and the run to jm_boxed. CONTAINER is "unknown" while docker does not answer: there may be one.
jm_find_boxes() {
  [ -e "$1/container" ] && jm_same_boot "$1" || return 0
  jm_boxed="$jm_boxed ${1##*/}"
  jm_found=$(jm_docker "$1" ps -q --no-trunc --filter "label=jobman.dir=$1") || jm_found=unknown
  for jm_one in $jm_found; do jm_boxes="$jm_boxes ${1##*/}:$jm_one"; done
}

# Adds jm_boxes to jm_left, in place of those of their processes that are visible.
jm_add_boxes() {
  [ -n "$jm_boxes" ] || return 0
  # shellcheck disable=SC2086
  set -- $jm_left
  jm_left=''
  for jm_one in "$@"; do
    jm_box_of "$jm_one" || jm_left="$jm_left $jm_one"
  done
  jm_left=$jm_left$jm_boxes
}

# jm_box_of PID: whether the process is in one of jm_boxes; sets jm_box to it.
jm_box_of() {
  for jm_box in $jm_boxes; do
    grep -qF "${jm_box#*:}" "/proc/$1/cgroup" 2>/dev/null && return
  done
  jm_box=''
  return 1
}

# What `docker exec` runs in a container, with a signal and whom it is for: "all" processes of the
# container, as outside, or those of the command's "session", for notices. The container may see the
# processes of the machine. Ends with 3 if there is nobody yet.
jm_in_box='
signal=$1 whom=$2 all="" first="" code=3 n="[0-9]"
session_of() {
  IFS= read -r line 2>/dev/null <"/proc/$1/stat" || return
  set -- ${line##*) }
  session=$4
}
own=$(cat /proc/self/cgroup)
[ -n "$own" ] || exit 1
session_of 1 && first=$session
# Parents first, and all at once: no shell may go on with its next line.
for pid in /proc/$n /proc/$n$n /proc/$n$n$n /proc/$n$n$n$n /proc/$n$n$n$n$n*; do
  pid=${pid#/proc/}
  [ "$pid" != $$ ] && [ "$(cat "/proc/$pid/cgroup" 2>/dev/null)" = "$own" ] || continue
  session_of "$pid" || continue
  case $whom:$first in all:* | session:"$session") ;; *) continue ;; esac
  all="$all $pid"
  [ "$pid" = 1 ] || code=0
done
[ "$code" != 0 ] || kill -s "$signal" $all
exit $code'

# jm_signal_box SIGNAL WHOM WORD: fails if the signal could not be delivered yet. An image may lack the
# tools; then the first process gets it.
jm_signal_box() {
  set -- "$1" "$2" "$jm_runs/${3%:*}" "${3##*:}"
  case $1:$4 in
    *:unknown) return 1 ;;
    KILL:*) jm_code=126 ;;
    *)
      jm_docker "$3" exec -u 0 "$4" sh -c "$jm_in_box" sh "$1" "$2" >/dev/null
      jm_code=$?
      ;;
  esac
  case $jm_code in
    0) return ;;
    3) return 1 ;;
  esac
  jm_docker "$3" kill -s "$1" "$4" >/dev/null
}

# A notice's signal for the container of the run, which may be about to start.
jm_signal_own_box() {
  [ -e "$jm_dir/container" ] || return 0
  jm_looks=0
  while jm_boxes='' && jm_find_boxes "$jm_dir"; [ "$jm_looks" -lt "$jm_box_looks" ]; do
    # shellcheck disable=SC2086
    [ -n "$jm_boxes" ] && jm_signal_box "$jm_signal" session $jm_boxes && return
    jm_alive || return 0
    jm_looks=$((jm_looks + 1))
    jm_nap $jm_nap_s
  done
}

# jm_drop_box DIR: removes what is left of the container of a run whose processes have ended, which is
# more than a file if they were killed: a client of docker that had not started it yet.
jm_drop_box() {
  [ -e "$1/container" ] || return 0
  # shellcheck disable=SC2062
  for jm_file in $(grep "-lFejobman.dir=$1" /proc/[0-9]*/cmdline 2>/dev/null); do
    tr '\0' '\n' 2>/dev/null <"$jm_file" | grep "-qxFejobman.dir=$1" || continue
    jm_one=${jm_file#/proc/}
    kill -KILL "${jm_one%/cmdline}" 2>/dev/null || sudo -n kill -KILL "${jm_one%/cmdline}"
  done 2>/dev/null
  jm_found=$(jm_docker "$1" ps -aq --filter "label=jobman.dir=$1") || return
  # shellcheck disable=SC2086
  [ -z "$jm_found" ] || jm_docker "$1" rm -f $jm_found >/dev/null || return
  rm -f "$1/container"
}

# jm_where PID: prints " in the container NAME (IMAGE)" if it is in one.
jm_where() {
  jm_box=$(grep -oE '[0-9a-f]{64}' "/proc/$1/cgroup" 2>/dev/null | head -n 1)
  [ -n "$jm_box" ] && ! grep -qF "$jm_box" /proc/self/cgroup || return
  set -- inspect -f '{{.Name}} ({{.Config.Image}})' "$jm_box"
  jm_found=$(jm_docker "$jm_dir" "$@" || sudo -n docker "$@" 2>/dev/null) || jm_found=$jm_box
  echo " in the container ${jm_found#/}"
}

# jm_set_others PREFIX: sets what jm_find_others looks for.
jm_set_others() {
  jm_before=${1##*[!0-9]}
  jm_prefix=${1%"$jm_before"}
}

# Sets jm_chips to the existing device files of chips and jm_lock to libtpu's lock file.
jm_find_chips() {
  jm_chips='' jm_lock=${JOBMAN_CHIP_LOCK:-/tmp/libtpu_lockfile}
  for jm_one in ${JOBMAN_CHIP_DEVICES-/dev/accel* /dev/vfio/*}; do
    [ ! -e "$jm_one" ] || jm_chips="$jm_chips $jm_one"
  done
  [ -e "$jm_lock" ] || jm_lock=''
}

# The open files of all processes, as `ls -l` shows them. Only root sees those of other users; on a
# TPU VM, users with sudo need no password for it.
jm_open_files() {
  if [ "$(id -u)" != 0 ]; then
    case " $(id -Gn 2>/dev/null) " in
      *' google-sudoers '* | *' sudo '*) sudo -n ls -l /proc/[0-9]*/fd 2>/dev/null && return ;;
    esac
  fi
  ls -l /proc/[0-9]*/fd 2>/dev/null
}

# Lines "PID PATH": who has the chips or the lock file open, and who holds a lock on that file,
# which is visible for every user's processes.
jm_holders() {
  jm_open_files | awk -v paths="$jm_chips $jm_lock" '
    BEGIN { n = split(paths, path, " ") }
    /^\/proc\/[0-9]+\/fd:$/ { split($0, part, "/"); pid = part[3]; next }
    (at = index($0, " -> ")) {
      to = substr($0, at + 4)
      for (i = 1; i <= n; i++)
        if ((to == path[i] || index(to, path[i] "/") == 1) && !seen[pid, path[i]]++)
          print pid, path[i]
    }'
  jm_one=${jm_lock:+$(stat -c '%d %i' "$jm_lock" 2>/dev/null)}
  [ -n "$jm_one" ] || return
  jm_rest=${jm_one#* } jm_one=${jm_one% *}
  jm_one=$(printf '%02x:%02x:%s' $((jm_one >> 8 & 0xfff)) \
    $((jm_one & 0xff | jm_one >> 12 & 0xfff00)) "$jm_rest")
  awk -v file="$jm_one" -v path="$jm_lock" '$6 == file { print $5, path }' /proc/locks 2>/dev/null
}

# jm_run_of PID: sets jm_of to the run folder in its environment, with its current id, see jm_adopt.
jm_run_of() {
  jm_of=$({ tr '\0' '\n' <"/proc/$1/environ"; } 2>/dev/null | sed -n 's/^JOBMAN_RUN_DIR=//p')
  case $jm_of in
    "$jm_runs/${jm_old:-/}"*)
      jm_new=$jm_runs/$jm_own${jm_of#"$jm_runs/$jm_old"}
      [ ! -L "$jm_new" ] || jm_of=$jm_new
      ;;
  esac
}

# jm_is_of_job FOLDER: whether it belongs to another run of jm_job: a setup step or an earlier
# attempt.
jm_is_of_job() {
  case $1 in
    "$jm_runs/${jm_job}a"*) jm_is_earlier "${1#"$jm_runs/${jm_job}a"}" ;;
    "$jm_runs/$jm_job"*) return 0 ;;
    *) return 1 ;;
  esac
}

# jm_is_ours PID: whether it belongs to such a run: by its environment, or if that was cleared, by
# its session, which the launcher led. A process that we may not signal is not ours.
jm_is_ours() {
  kill -0 "$1" 2>/dev/null || return 1
  if [ -n "$jm_of" ]; then
    jm_is_of_job "$jm_of"
    return
  fi
  for jm_of in "$jm_runs/$jm_job"*/pid; do
    jm_pid=''
    read -r jm_pid jm_born 2>/dev/null <"$jm_of"
    # The pid may belong to another process by now, which leads its own session.
    (jm_look "${jm_pid:-0}" && [ "$jm_ticks" != "$jm_born" ]) && continue
    [ "$jm_pid" = "$jm_session" ] && jm_same_boot "${jm_of%/pid}" && jm_is_of_job "${jm_of%/pid}" &&
      return 0
  done
  return 1
}

# Who holds the chips: sets jm_left to processes of other runs of jm_job, and jm_theirs to those of
# others as words PID PATH. Processes of this very run were started meanwhile by another call.
jm_find_holders() {
  jm_left='' jm_last='' jm_theirs='' jm_boxes=''
  # shellcheck disable=SC2046
  set -- $(jm_holders)
  [ $# -eq 0 ] || for jm_file in "$jm_runs/$jm_job"*/container; do jm_find_boxes "${jm_file%/container}"; done
  while [ $# -ge 2 ]; do
    if jm_look "$1" && [ "$jm_state" != Z ]; then jm_sort_holder "$1" "$2"; fi
    shift 2
  done
}

# jm_sort_holder PID PATH. A container is ended, not its processes, whose environment is another user's.
jm_sort_holder() {
  if jm_box_of "$1"; then jm_of=$jm_runs/${jm_box%:*}; else jm_run_of "$1"; fi
  if [ "$jm_of" = "$jm_runs/$jm_id" ]; then
    return
  elif [ -n "$jm_box" ] && jm_is_of_job "$jm_of"; then
    jm_left="$jm_left $jm_box"
  elif [ -z "$jm_box" ] && jm_is_ours "$1"; then
    jm_left="$jm_left $1"
  else
    jm_theirs="$jm_theirs $1 $2"
  fi
}

# jm_words_of PID: prints its command line.
jm_words_of() {
  { tr '\0' ' ' <"/proc/$1/cmdline"; } 2>/dev/null | tr -c '[:print:]' '?' |
    cut -c1-$jm_words_shown | sed 's/ $//'
}

# Reports who else holds the chips, and exits.
jm_busy() {
  jm_told=' ' jm_text='' jm_count=0
  # shellcheck disable=SC2086
  set -- $jm_theirs
  while [ $# -ge 2 ]; do
    case $jm_told in
      *" $1 "*) ;;
      *)
        jm_told="$jm_told$1 "
        jm_count=$((jm_count + 1))
        jm_user=$(stat -c %U "/proc/$1" 2>/dev/null)
        jm_held=$(echo "$jm_theirs" | awk -v pid="$1" \
          '{ for (i = 1; i < NF; i += 2) if ($i == pid && !n[$(i + 1)]++) s = s ", " $(i + 1)
             print substr(s, 3) }')
        [ "$jm_count" -gt "$jm_named_holders" ] ||
          jm_text="$jm_text; process $1 of ${jm_user:-?} ($(jm_words_of "$1"))$(jm_where "$1") holds $jm_held"
        ;;
    esac
    shift 2
  done
  [ "$jm_count" -le "$jm_named_holders" ] ||
    jm_text="$jm_text; and $((jm_count - jm_named_holders)) more"
  printf 'jobman: busy %s\n' "${jm_text#; }" >&2
  exit 96
}

# jm_free_chips JOB GRACE: ends what holds the chips for other runs whose id begins with JOB. Exits
# if somebody else holds them: that is for the user to end. Removes a lock file that nobody holds
# any more: another user's libtpu could not open it.
jm_free_chips() {
  jm_find_chips
  if [ -z "$jm_chips$jm_lock" ] || [ ! -d /proc/self ]; then return; fi
  jm_job=$1 jm_before=${jm_id##*[!0-9]} jm_looks=0
  jm_set_term_end "$2"
  jm_chips_end_cs=$((jm_term_end_cs + jm_chips_wait_cs))
  while jm_find_holders; [ -n "$jm_left$jm_theirs" ]; do
    if [ -n "$jm_left" ]; then
      jm_clock
      [ "$jm_now_cs" -lt "$jm_chips_end_cs" ] ||
        jm_die "processes of earlier runs of this job hold the chips, and something starts them again" \
          "as often as they are ended: $(jm_words_of "${jm_left##* }")"
      jm_end jm_find_holders
    else
      # An exiting process still has its files, but no environment that says whose it is.
      [ "$jm_looks" -lt "$jm_exit_looks" ] || jm_busy
      jm_looks=$((jm_looks + 1))
      jm_nap $jm_nap_s
    fi
  done
  if [ -z "$jm_lock" ] || [ ! -e "$jm_lock" ]; then return; fi
  if [ -O "$jm_lock" ]; then
    rm -f "$jm_lock"
  else
    jm_user=$(stat -c %U "$jm_lock" 2>/dev/null)
    jm_note="the lock file $jm_lock is of ${jm_user:-?}, and nobody holds it: if libtpu says that"
    jm_note="$jm_note the TPU is in use, run: sudo rm $jm_lock"
  fi
}

# jm_set_term_end GRACE: TERM is sent until then, KILL from then on.
jm_set_term_end() {
  jm_clock
  jm_term_end_cs=$((jm_now_cs + $1 * 100))
}

# jm_end FIND: ends what FIND finds: TERM until jm_term_end_cs, then KILL.
jm_end() {
  jm_find=$1 jm_boxed=''
  jm_terminate
  jm_kill
  [ "$jm_find" != jm_find_holders ] || return 0
  for jm_one in $jm_boxed; do jm_drop_box "$jm_runs/$jm_one"; done
}

# jm_send SIGNAL WORD: to a process, or to those in a container.
jm_send() {
  case $2 in
    *:*) jm_signal_box "$1" all "$2" ;;
    *) kill -"$1" "$2" 2>/dev/null || true ;;
  esac
}

# TERM to every process, also new ones, until none is left or the grace is over.
jm_terminate() {
  jm_told=' '
  jm_pause=$jm_first_nap_s
  while "$jm_find"; [ -n "$jm_left$jm_last" ]; do
    jm_clock
    [ "$jm_now_cs" -lt "$jm_term_end_cs" ] || return
    for jm_one in $jm_left; do
      case $jm_told in *" $jm_one "*) continue ;; esac
      jm_word=$jm_one
      ! jm_send TERM "$jm_word" || jm_told="$jm_told$jm_word "
    done
    jm_nap $jm_pause
    jm_pause=$jm_nap_s
  done
}

# Containers first: what copies their output gets a moment to do so.
jm_kill_left() {
  case $jm_left in *:*) : "${jm_copy_end_cs:=$((jm_now_cs + jm_copy_wait_cs))}" ;; esac
  for jm_word in $jm_left; do
    case $jm_word in
      *:*) jm_send KILL "$jm_word" ;;
      *) [ "$jm_now_cs" -lt "${jm_copy_end_cs:-0}" ] || jm_send KILL "$jm_word" ;;
    esac
  done
}

# KILL until none is left. The launcher goes last, so that it can write the exit code.
jm_kill() {
  jm_clock
  jm_kill_end_cs=$((jm_now_cs + jm_kill_wait_cs)) jm_exit_end_cs=$((jm_now_cs + jm_exit_wait_cs))
  jm_copy_end_cs=''
  while "$jm_find"; [ -n "$jm_left$jm_last" ]; do
    jm_clock
    jm_kill_left
    jm_clock
    [ -n "$jm_left" ] || [ "$jm_now_cs" -lt "$jm_exit_end_cs" ] || kill -KILL "$jm_last" 2>/dev/null
    [ "$jm_now_cs" -lt "$jm_kill_end_cs" ] || case $jm_left in
      *:unknown*)
        jm_die 'docker does not answer, and a container of this job may still run:' \
          'run on the host: sudo systemctl restart docker'
        ;;
    esac
    [ "$jm_now_cs" -lt "$jm_kill_end_cs" ] ||
      jm_die "these processes of run $jm_id do not end, even by KILL: ${jm_left:-$jm_last}"
    jm_nap $jm_first_nap_s
  done
}

# jm_stop GRACE [PREFIX]
jm_stop() {
  jm_why=$(umask 077 && mkdir -p "$jm_runs" 2>&1) || jm_die "cannot create $jm_runs: $jm_why"
  jm_prefix=''
  [ $# -lt 2 ] || jm_set_others "$2"
  if mkdir "$jm_dir" 2>/dev/null; then
    true >"$jm_dir/unstarted" || jm_die "cannot write to $jm_dir (is the disk full?)"
  else
    # A full disk must not keep the processes alive.
    true 2>/dev/null >"$jm_dir/stopped"
    jm_settle
  fi
  jm_set_term_end "$1"
  if [ -n "$jm_prefix" ]; then jm_end jm_find_all; else jm_end jm_find_processes; fi
  jm_end_helpers # a killed launcher did not
  jm_settle
  echo "$jm_status"
}

# jm_list PREFIX
jm_list() {
  for jm_dir in "$jm_runs/$1"*; do
    [ -d "$jm_dir" ] || continue
    jm_settle
    echo "${jm_dir##*/} $jm_status"
  done
}

# jm_ages PREFIX
jm_ages() {
  jm_now=$(date +%s)
  for jm_dir in "$jm_runs/$1"*; do
    [ -d "$jm_dir" ] || continue
    jm_settle
    jm_was=''
    read -r jm_was 2>/dev/null <"$jm_dir/started"
    echo "${jm_dir##*/} $((jm_now - ${jm_was:-$jm_now})) $jm_status"
  done
}

# jm_begin KEEP PREFIX: for runs that nobody need follow. A second one of that name would pass for the
# first.
jm_begin() {
  [ -d "$jm_dir" ] || jm_start
  [ "${jm_answer:-}" = started ] || jm_die "there is a run ${jm_id##*.x-} on this host already"
  jm_this=$jm_id jm_count=0
  # shellcheck disable=SC2012  # ids have no spaces
  for jm_id in $(cd "$jm_runs" && ls -td "$2"* 2>/dev/null); do
    jm_dir=$jm_runs/$jm_id
    jm_settle
    if [ "$jm_status" = running ] || [ "$jm_id" = "$jm_this" ]; then continue; fi
    jm_count=$((jm_count + 1))
    [ "$jm_count" -le "$1" ] || rm -rf "$jm_dir"
  done
  jm_id=$jm_this jm_dir=$jm_runs/$jm_this
  jm_settle
  printf 'jobman: %s\n' "$jm_status" >&2
}

jm_forget() {
  jm_settle
  [ "$jm_status" != running ] || jm_die "run $jm_id is still running"
  rm -rf "$jm_dir" "$jm_runs/${jm_id:?}" || jm_die "cannot remove $jm_dir"
}

# A reboot loses mounts, /tmp and services started by hand: setup must run again.
jm_renew() {
  jm_settle
  case $jm_status in
    running | absent) ;;
    'exited 0') { [ "${1:-}" != again ] && jm_same_boot; } || jm_forget ;;
    *) jm_forget ;;
  esac
  jm_forget_older
}

# Runs of the same setup step, STORE.JOB.NODE.HOST.sN-..., whose content was another.
jm_forget_older() {
  case ${jm_id##*.} in s[0-9]*-*) ;; *) return ;; esac
  jm_this=$jm_id
  jm_step=${jm_id##*.}
  for jm_one in "$jm_runs/${jm_id%.*}.${jm_step%%-*}-"*; do
    jm_id=${jm_one##*/}
    if [ "$jm_id" = "$jm_this" ] || [ ! -d "$jm_one" ] || [ -L "$jm_one" ]; then continue; fi
    jm_dir=$jm_one
    jm_settle
    [ "$jm_status" = running ] || rm -rf "$jm_one"
  done
  jm_id=$jm_this jm_dir=$jm_runs/$jm_this
}

# --- Files that the controller sends before a run that needs them. ---

jm_have() {
  if [ -f "$jm_files/$1" ]; then echo 'jobman: exited 0'; else echo 'jobman: absent'; fi >&2
}

# jm_put FILE BYTES SHA256 PREFIX [ADDRESS NAME]: from stdin, or from there. Hosts may share the folder,
# and a call whose connection broke may still be there: each writes a file of its own.
jm_put() {
  command -v sha256sum >/dev/null 2>&1 || jm_die 'install coreutils on this host: it has no sha256sum'
  jm_why=$(mkdir -p "$jm_files" 2>&1) || jm_die "cannot create $jm_files: $jm_why"
  find "$jm_files" -name '*.part.*' -mmin +$jm_part_min -exec rm -f {} +
  jm_part=$(mktemp "$jm_files/$1.part.XXXXXX" 2>/dev/null) ||
    jm_die "cannot write to $jm_files (is the disk full?)"
  trap 'rm -f "$jm_part" "$jm_part.why"' EXIT
  trap 'exit 143' HUP TERM INT
  if [ $# -gt 4 ]; then
    # A host that gives less than 5 MB a second, or hangs, is not waited for.
    jm_ssh='' && trap '[ -z "$jm_ssh" ] || kill "$jm_ssh"; exit 143' HUP TERM INT
    timeout $((60 + $2 / 5000000)) ssh -o BatchMode=yes -o ConnectTimeout=10 \
      -- "$5" "exec cat -- .jobman/files/$6" </dev/null >"$jm_part" 2>"$jm_part.why" &
    jm_ssh=$!
    wait "$jm_ssh"
    jm_why=$(tail -n 1 "$jm_part.why") && rm -f "$jm_part.why"
    case $jm_why in *'o space left'* | *uota*)
      jm_die "no room for $2 bytes in $jm_files ($jm_why): free some, or ask for a larger disk"
      ;;
    esac
  else
    jm_why=$(cat 2>&1 >"$jm_part") ||
      jm_die "no room for $2 bytes in $jm_files ($jm_why): free some, or ask for a larger disk"
  fi
  jm_sum=$(sha256sum <"$jm_part")
  if [ "${jm_sum%% *}" != "$3" ]; then
    [ $# -le 4 ] || { echo 'jobman: absent' >&2 && return; }
    jm_size=$(wc -c <"$jm_part")
    [ "$((jm_size))" = "$2" ] ||
      jm_die "$1 arrived incomplete, $((jm_size)) of $2 bytes; nothing was kept"
    jm_die "$1 arrived with other content than was sent; nothing was kept"
  fi
  jm_why=$(mv -f "$jm_part" "$jm_files/$1" 2>&1) || jm_die "cannot write to $jm_files: $jm_why"
  for jm_one in "$jm_files/$4"*; do
    case $jm_one in "$jm_files/$1" | *.part.*) ;; *) rm -f "$jm_one" ;; esac
  done
  echo 'jobman: exited 0' >&2
}

# jm_adopt ID: links runs that an earlier jobman started on this host to their current ids, so that
# they are followed and stopped and not started twice. The old ids were JOB-WHAT, the same on every
# host; a run that began since boot was started here. jm_own and jm_old: the current and the old
# prefix of the ids of the job's runs on this host.
jm_adopt() {
  jm_own='' jm_old=''
  case $1 in *.*.*.*.*) ;; *) return ;; esac
  jm_own=${1%.*}. jm_old=${1#*.}
  jm_old=${jm_old%%.*}-
  for jm_one in "$jm_runs/$jm_old"*; do
    jm_new=$jm_own${jm_one#"$jm_runs/$jm_old"}
    if [ ! -d "$jm_one" ] || [ -e "$jm_runs/$jm_new" ]; then continue; fi
    if ! jm_same_boot "$jm_one" || [ -z "$jm_was" ]; then continue; fi
    ln -sn "${jm_one##*/}" "$jm_runs/$jm_new" 2>/dev/null
    jm_adopt_checkpoints "${jm_runs%/runs}/checkpoints" "${jm_old%-}"
  done
}

# jm_adopt_checkpoints FOLDER JOB: the folder used to be named by the job's number alone.
jm_adopt_checkpoints() {
  [ -d "$1/${2#j}" ] && [ ! -e "$1/${jm_own%%.*}.$2" ] || return
  ln -sn "${2#j}" "$1/${jm_own%%.*}.$2" 2>/dev/null
}

jm_set_run() {
  case $1 in
    '' | [.-]* | *[!A-Za-z0-9._-]*) jm_die "'$1' is not a run id" ;;
  esac
  jm_id=$1
  jm_dir=$jm_runs/$1
  jm_adopt "$1"
  [ ! -L "$jm_dir" ] || jm_dir=$jm_runs/$jm_old${1##*.}
}

jm_set_prefix() {
  case $1 in -) return ;; esac
  case $1 in '' | *[!A-Za-z0-9._-]*) jm_die "'$1' begins no run id" ;; esac
}

jm_need_number() {
  case $1 in '' | *[!0-9]*) jm_die "'$1' is not a number" ;; esac
}

[ -n "${HOME:-}" ] || HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
[ -n "$HOME" ] || jm_die 'this user has no home folder'
export HOME
jm_runs=$HOME/.jobman/runs jm_files=$HOME/.jobman/files
jm_newline='
'
jm_return=$(printf '\r')
jm_boot=''
read -r jm_boot 2>/dev/null <"${JOBMAN_BOOT_ID_FILE:-/proc/sys/kernel/random/boot_id}"

jm_verb=${1:-}
[ $# -eq 0 ] || shift
jm_beat_at_cs=''
case $jm_verb in
  run | follow)
    jm_clock
    jm_beat_at_cs=$((jm_now_cs + jm_beat_cs))
    jm_set_run "${1:-}"
    jm_need_number "${2:-}"
    if [ "$jm_verb" = run ]; then
      [ $# -lt 4 ] || { jm_need_number "$3" && jm_set_prefix "$4"; }
      [ $# -lt 5 ] || jm_set_prefix "$5"
      jm_start ${4:+"$3" "$4"} ${5:+"$5"}
    fi
    jm_follow "$2"
    ;;
  begin)
    jm_set_run "${1:-}"
    jm_need_number "${2:-}"
    jm_set_prefix "${3:-}"
    jm_begin "$2" "$3"
    ;;
  launch)
    jm_set_run "${1:-}"
    jm_launch
    ;;
  stop)
    jm_set_run "${1:-}"
    jm_need_number "${2:-}"
    [ $# -lt 3 ] || jm_set_prefix "$3"
    (umask 077 && jm_stop "$2" ${3:+"$3"})
    ;;
  notice)
    jm_set_run "${1:-}"
    (umask 077 && jm_take_notice "${2:-none}")
    ;;
  watch)
    jm_set_run "${1:-}"
    umask 077
    jm_watch "${2:-none}"
    ;;
  keep)
    jm_set_run "${1:-}"
    umask 077
    jm_keep "$2"
    ;;
  have)
    jm_set_prefix "${1:--}"
    jm_have "$1"
    ;;
  put)
    for jm_one in "${1:-}" "${3:-}" "${4:-}"; do jm_set_prefix "$jm_one"; done
    jm_need_number "${2:-}"
    (umask 077 && jm_put "$1" "$2" "$3" "$4")
    ;;
  fetch)
    for jm_one in "${1:-}" "${3:-}" "${4:-}" "${6:-}"; do jm_set_prefix "$jm_one"; done
    jm_need_number "${2:-}"
    (umask 077 && jm_put "$@")
    ;;
  renew)
    jm_set_run "${1:-}"
    jm_renew "${2:-}"
    ;;
  list)
    jm_set_prefix "${1:-}"
    jm_adopt "$1"
    jm_list "$1"
    ;;
  ages)
    jm_set_prefix "${1:-}"
    jm_adopt "$1"
    jm_ages "$1"
    ;;
  *) jm_die "unknown verb '$jm_verb'" ;;
esac
