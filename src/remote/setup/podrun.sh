# shellcheck shell=sh disable=SC2154,SC2317
# Runs a command on the hosts of the job from one of them: podrun's options, with a prefix for each
# line. What precedes this sets jp_hosts, the addresses of all hosts, with commas. The command's
# processes have JOBMAN_PODRUN in their environment, by which an interrupt finds them.

jp_usage='usage: podrun [-icw] [--] COMMAND [WORD...]
  on all hosts of the job but this one; one word is a shell line, of several each is quoted
  -i, --include-local  on this one, too
  -w, --cwd            in the present folder
  -c, --clean-up       first remove /tmp/libtpu_lockfile and /tmp/tpu_logs'

jp_refuse() {
  printf 'podrun: %s\n%s\n' "$1" "$jp_usage" >&2
  exit 2
}

# jp_quote WORD: as one word of a shell.
jp_quote() { printf "'%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")"; }

jp_local='' jp_cwd='' jp_clean=''
jp_option() {
  case $1 in
    i) jp_local=yes ;;
    w) jp_cwd=yes ;;
    c) jp_clean=yes ;;
    *) jp_refuse "unknown option -$1" ;;
  esac
}

while [ $# -gt 0 ]; do
  case $1 in
    --) shift && break ;;
    --include-local) jp_option i ;;
    --cwd) jp_option w ;;
    --clean-up) jp_option c ;;
    -h | --help) printf '%s\n' "$jp_usage" && exit 0 ;;
    --*) jp_refuse "unknown option $1" ;;
    -?*)
      jp_letters=${1#-}
      while [ -n "$jp_letters" ]; do
        jp_rest=${jp_letters#?}
        jp_option "${jp_letters%"$jp_rest"}"
        jp_letters=$jp_rest
      done
      ;;
    *) break ;;
  esac
  shift
done
[ $# -gt 0 ] || jp_refuse 'which command?'
[ -n "$jp_hosts" ] || jp_refuse 'the hosts of the job are not known: JOBMAN_HOSTS is empty'

if [ $# -eq 1 ]; then
  jp_line=$1
else
  jp_line=''
  case $1 in [A-Za-z_]*=*) jp_line='env ' ;; esac
  for jp_word in "$@"; do jp_line="$jp_line$(jp_quote "$jp_word") "; done
fi
[ -z "$jp_clean" ] || jp_line="rm -rf /tmp/libtpu_lockfile /tmp/tpu_logs 2>/dev/null ||
sudo -n rm -rf /tmp/libtpu_lockfile /tmp/tpu_logs </dev/null
$jp_line"
[ -z "$jp_cwd" ] || jp_line="cd $(jp_quote "$PWD") || exit 126
$jp_line"

jp_dir=$(mktemp -d) || exit 75
trap 'rm -rf "$jp_dir"' EXIT
jp_tag=JOBMAN_PODRUN=$$.$(date +%s)
# The login shell on the other side may be another one.
jp_call="exec env $jp_tag sh -c $(jp_quote "exec \"\$(command -v bash || command -v sh)\" -c \"\$0\"") $(jp_quote "$jp_line")"

# jp_on FILE HOST LINE: in the home folder. FILE has the number of ssh while it runs.
jp_on() {
  if [ "$2" = "$jp_self" ]; then
    (cd "$HOME" && exec sh -c "$3")
    return
  fi
  # A host that is gone answers nothing: after a minute it counts as broken.
  ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=15 -o ServerAliveCountMax=4 \
    -- "$2" "$3" &
  echo "$!" >"$1"
  wait "$!" 2>/dev/null # dash says there which signal ended it
  jp_ended=$?
  rm -f "$1"
  return "$jp_ended"
}

# jp_end SIGNAL: to the processes of the command, on every host where it has not ended.
jp_end() {
  jp_kill="for f in \$(grep -lF $jp_tag /proc/[0-9]*/environ 2>/dev/null); do f=\${f#/proc/}; kill -$1 \${f%/environ} 2>/dev/null; done; true"
  jp_number=0
  for jp_host in $jp_list; do
    [ -s "$jp_dir/$jp_number" ] ||
      jp_on "$jp_dir/$jp_number.$1.ssh" "$jp_host" "$jp_kill" </dev/null >/dev/null 2>&1 &
    jp_number=$((jp_number + 1))
  done
}

# Ends the ssh processes, which would wait for their hosts. The folder goes first: what they leave
# writes into it.
jp_give_up() {
  jp_left=$(cat "$jp_dir"/*.ssh 2>/dev/null)
  rm -rf "$jp_dir"
  # shellcheck disable=SC2086
  [ -z "$jp_left" ] || kill $jp_left 2>/dev/null
  exit 130
}

jp_interrupts=0
jp_interrupted() {
  jp_interrupts=$((jp_interrupts + 1))
  case $jp_interrupts in
    1) echo 'podrun: TERM to the command on all hosts; again: KILL' >&2 && jp_end TERM ;;
    2) echo 'podrun: KILL to the command on all hosts; again: ends the wait' >&2 && jp_end KILL ;;
    *) echo 'podrun: the command may go on where it has not ended' >&2 && jp_give_up ;;
  esac
}

jp_list=$(printf '%s' "$jp_hosts" | tr ',' ' ')
jp_self=${jp_list%% *}
jp_own=" $(hostname -I 2>/dev/null) "
for jp_host in $jp_list; do
  case $jp_own in *" $jp_host "*) jp_self=$jp_host ;; esac
done

trap jp_interrupted INT TERM HUP
jp_number=0 jp_pids=''
for jp_host in $jp_list; do
  if [ "$jp_host" != "$jp_self" ] || [ -n "$jp_local" ]; then
    {
      jp_on "$jp_dir/$jp_number.ssh" "$jp_host" "$jp_call" </dev/null 2>&1
      jp_ended=$?
      # After the third interrupt the folder is gone.
      [ ! -d "$jp_dir" ] || echo "$jp_ended" >"$jp_dir/$jp_number"
    } | sed -u "s/^/host $jp_number | /" &
    jp_pids="$jp_pids $!"
  else
    echo 0 >"$jp_dir/$jp_number"
  fi
  jp_number=$((jp_number + 1))
done
# A signal ends `wait`.
for jp_pid in $jp_pids; do
  while kill -0 "$jp_pid" 2>/dev/null; do wait "$jp_pid"; done
done

jp_worst=0 jp_number=0
for jp_host in $jp_list; do
  jp_code=255
  read -r jp_code 2>/dev/null <"$jp_dir/$jp_number"
  [ "$jp_code" = 0 ] || echo "podrun: host $jp_number: exit code $jp_code" >&2
  [ "$jp_code" -le "$jp_worst" ] || jp_worst=$jp_code
  jp_number=$((jp_number + 1))
done
[ "$jp_interrupts" = 0 ] || jp_worst=130
exit "$jp_worst"
