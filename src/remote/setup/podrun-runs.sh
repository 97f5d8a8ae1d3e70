# shellcheck shell=sh disable=SC2034,SC2154
# The middle part of podrun: a terminal, and runs that outlive the connection. They are those of
# `jobman exec --detach`, which shows and stops these, too: jobman's script on each host keeps them.
# What precedes this sets jp_job, with which the ids of all runs of the job begin.

# A host that is gone answers nothing: after a minute it counts as broken. One that has just started
# refuses connections at first.
jp_ssh_options='-o BatchMode=yes -o ConnectTimeout=20 -o ConnectionAttempts=3 -o ServerAliveInterval=15 -o ServerAliveCountMax=4'

jp_answer_s=60 # for the answer of a host to --detach, --runs and --stop: it may accept the login and run nothing
jp_bound=''

# jp_become_terminal HOST: does not return.
jp_become_terminal() {
  [ "$1" != "$jp_self" ] || { cd "$HOME" && exec sh -c "$jp_shell $(jp_quote "$jp_line")"; }
  # shellcheck disable=SC2086
  exec ssh -t $jp_ssh_options -- "$1" "$jp_shell $(jp_quote "$jp_line")"
}

# What a host does first. A setup run of the job since the host booted tells how the ids of its runs
# begin: hosts may share a home folder. The scripts of several versions may be there.
# shellcheck disable=SC2016  # for the host, as all of these
jp_find_runs='
jr_fail() { echo "podrun: $*"; exit 75; } >&2
jr_boot= jr_ids=
read -r jr_boot <"${JOBMAN_BOOT_ID_FILE:-/proc/sys/kernel/random/boot_id}"
for jr_step in ~/.jobman/runs/$jr_job.*.s*; do
  jr_was=
  read -r jr_was <"$jr_step/boot_id"
  [ "$jr_was" != "$jr_boot" ] || jr_ids=${jr_step##*/}
done 2>/dev/null
jr_script=$({ cd ~/.jobman/bin && grep -l "^ *begin)" host-*.sh | xargs -r ls -t | head -n 1; } 2>/dev/null)
[ -n "$jr_ids" ] && [ -n "$jr_script" ] || jr_fail "jobman has not set this host up since it booted"
jr_script=$HOME/.jobman/bin/$jr_script
jr_ids=${jr_ids%.s*}.x-
jr_id=$jr_ids$jr_name
jr_need_run() {
  [ -d ~/.jobman/runs/"$jr_id" ] || jr_fail "this host has no detached run $jr_name; podrun --runs lists them"
}
jr_words() {
  case $1 in
    exited*) echo "exit code ${1#exited }" ;;
    lost*) echo "lost: ${1#lost }" ;;
    *) echo "$1" ;;
  esac
}'

# The order is on standard input.
# shellcheck disable=SC2016
jp_detach_run='
unset JOBMAN_PODRUN
jr_said=$(sh "$jr_script" begin "$jr_id" 20 "$jr_ids" 2>&1) || {
  case $jr_said in *"there is a run"*) jr_said="$jr_said: choose another --name" ;; esac
  jr_fail "${jr_said#jobman: error }"
}'

# The script says every ten seconds that it is alive. Each time this checks that sshd is still there.
# shellcheck disable=SC2016
jp_follow_run='
jr_follow() {
  sh "$jr_script" follow "$jr_id" "$1" 2>&1 >&3 3>&- | {
    while read -r jr_mark jr_word jr_rest; do
      case $jr_word in
        alive) [ -d "/proc/$PPID" ] || exit ;;
        gap)
          jr_gap=${jr_rest% *} jr_end=${jr_rest#* }
          echo "podrun: $((jr_end - jr_gap)) bytes are gone from the middle of its log, which was too long" >&2
          jr_follow "$jr_end"
          exit
          ;;
        exited) exit "$jr_rest" ;;
        lost | error) jr_fail "run $jr_name: $jr_word: $jr_rest" ;;
      esac
    done
    [ -d "/proc/$PPID" ] || exit
    jr_fail "run $jr_name: the host gave no status"
  }
}
jr_need_run
exec 3>&1
jr_follow 0'

# shellcheck disable=SC2016
jp_stop_run='
jr_need_run
jr_said=$(sh "$jr_script" stop "$jr_id" 10 2>&1) || jr_fail "${jr_said#jobman: error }"
echo "$jr_name: $(jr_words "$jr_said")"'

# shellcheck disable=SC2016
jp_list_runs='
jr_since() {
  if [ "$1" -ge 3600 ]; then
    echo "$(($1 / 3600))h"
  elif [ "$1" -ge 60 ]; then
    echo "$(($1 / 60))m"
  else
    echo "less than 1m" # hosts that begin it together say the same
  fi
}
jr_list=$(sh "$jr_script" ages "$jr_ids" 2>&1) || jr_fail "${jr_list#jobman: error }"
[ -n "$jr_list" ] || { echo "no detached runs"; exit; }
printf "%s\n" "$jr_list" | sort -n -k 2 | while read -r jr_id jr_age jr_said; do
  echo "${jr_id##*.x-}: $(jr_words "$jr_said"), begun $(jr_since "$jr_age") ago"
done'

# The order of the run as the script takes it; 256 MiB of its log stay on the host.
jp_order_of_run() {
  printf '%s\n' "jm_setup='' jm_workdir='' jm_env='' jm_signal='' jm_agent='' jm_log_max_b=268435456" \
    "jm_script=$(jp_quote " $jp_line")" jobman-end
}

# jp_summary: says on which hosts the run has begun, and where it may have, as the answer was lost.
jp_summary() {
  for jp_target in $jp_begun; do
    jp_code=255
    read -r jp_code 2>/dev/null <"$jp_dir/${jp_target%%=*}"
    case $jp_code in
      0) printf '%s\t%s\n' "${jp_target%%=*}" 'has begun on' ;;
      '' | 124 | 255) printf '%s\t%s\n' "${jp_target%%=*}" 'may have begun on' ;;
    esac
  done | jp_group | while IFS=$jp_tab read -r jp_first jp_label jp_text; do
    jp_numbers=${jp_label#* }
    echo "run $jp_run_name $jp_text $jp_label; its output: podrun --hosts ${jp_numbers% (*} --follow $jp_run_name"
  done
}

# jp_show_what_came: the answers that an interrupt found.
jp_show_what_came() {
  case $jp_verb in
    detach) jp_summary ;;
    runs | stop)
      set --
      for jp_target in $jp_begun; do
        [ ! -s "$jp_dir/${jp_target%%=*}" ] || set -- "$@" "${jp_target%%=*}"
      done
      [ $# -eq 0 ] || [ -z "$jp_fold" ] || jp_show_folds "$@"
      ;;
  esac
}

# jp_goes_on: says what becomes of the run after an interrupt.
jp_goes_on() {
  case $jp_verb in
    follow) echo "podrun: interrupted; run $jp_run_name goes on" >&2 ;;
    detach) echo "podrun: interrupted; podrun -i --runs shows where run $jp_run_name has begun" >&2 ;;
    stop) echo "podrun: interrupted; run $jp_run_name may still be stopped on the others" >&2 ;;
    *) echo 'podrun: interrupted' >&2 ;;
  esac
}

case $jp_verb in
  '') ;;
  tty)
    # shellcheck disable=SC2086
    set -- $jp_targets
    [ $# -eq 1 ] || jp_refuse "--tty is for one host, and $# are chosen: --hosts 3"
    jp_become_terminal "${1#*=}"
    ;;
  *)
    # By ssh also here: a run is to have nothing of this shell, neither variables nor files nor signals.
    jp_self=''
    [ "$jp_verb" = follow ] || jp_bound="timeout $jp_answer_s"
    jp_order=$(jp_order_of_run)
    jp_line="jr_job=$jp_job jr_name=$jp_run_name$jp_find_runs"
    case $jp_verb in
      detach) jp_line=$jp_line$jp_detach_run ;;
      follow) jp_line=$jp_line$jp_follow_run ;;
      stop) jp_line=$jp_line$jp_stop_run ;;
      runs) jp_line=$jp_line$jp_list_runs ;;
    esac
    ;;
esac
