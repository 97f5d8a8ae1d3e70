# shellcheck shell=sh disable=SC2034,SC2154
# The first part of podrun, which runs a command on the hosts of the job from one of them: its
# options, which are those of the podrun that others know, the hosts that they choose, and the line
# that these are to run. What precedes this sets jp_hosts, the addresses of all hosts, with commas,
# and jp_slices, the number of slices, which have equally many hosts; jp_job, the id of a
# run of the job; and jp_index, the number of this host.

jp_usage='usage: podrun [-icw] [OPTION...] [--] COMMAND [WORD...]
  on all hosts of the job but this one; one word is a shell line, of several each is quoted;
  standard input, unless it is a terminal, is read to its end and goes to each host
  -i, --include-local  on this one, too
  -w, --cwd            in the present folder
  -c, --clean-up       first remove /tmp/libtpu_lockfile and /tmp/tpu_logs
  --hosts LIST         on these, this one included: all, or numbers and ranges such as 0,3-7
  --exclude LIST       not on these
  --slice N            only on those of this slice of a multislice, from 0, this one included
  --rerun-failed       only where the last podrun from this host failed, this one included; without
                       COMMAND the same again
  --timeout TIME       TERM to a command that takes longer (90s, 5m), and KILL 10 seconds later
  --fold               show equal output once, at the end
  --out DIR            print nothing, but write what each host prints to DIR/host-0003.out and .err
  --force              --out may replace the files of an earlier command
  --tty                with a terminal; needs one host, such as --hosts 3
  --detach             begin COMMAND, which goes on without a connection; --name NAME names the run
  --follow NAME        show the output of that run from its beginning, until it has ended
  --runs               list the runs
  --stop NAME          stop that run: TERM, and KILL 10 seconds later'

jp_refuse() {
  printf 'podrun: %s\n%s\n' "$1" "$jp_usage" >&2
  exit 2
}

jp_job=${jp_job%.*.*.*} # with which the ids of all its runs begin

# jp_quote WORD: as one word of a shell. In fish a backslash means something in single quotes, too.
jp_quote() {
  printf "'%s'" "$(printf '%s\n' "$1" | sed -e "s/'/'\"'\"'/g" -e 's/\\/'\''"\\\\"'\''/g')"
}

jp_local='' jp_cwd='' jp_clean='' jp_wanted='' jp_unwanted='' jp_limit='' jp_fold='' jp_out='' jp_force=''
jp_slice='' jp_rerun='' jp_verb='' jp_run_name='' jp_name_given=''
jp_option() {
  case $1 in
    i) jp_local=yes ;;
    w) jp_cwd=yes ;;
    c) jp_clean=yes ;;
    *) jp_refuse "unknown option -$1" ;;
  esac
}

# jp_list OPTION LIST
jp_list() {
  [ -n "${2:-}" ] || jp_refuse "$1 needs numbers of hosts, such as $1 0,3-7"
  case $1 in
    --hosts) jp_wanted=$2 ;;
    *) jp_unwanted=$2 ;;
  esac
}

# jp_of_slice NUMBER
jp_of_slice() {
  jp_slice=$1
  case $jp_slice in
    '' | *[!0-9]* | ???????*) jp_refuse "--slice '$jp_slice': the number of a slice is meant, from 0" ;;
  esac
  [ "$jp_slice" -lt "$jp_slices" ] ||
    jp_refuse "there is no slice $jp_slice; the last one is $((jp_slices - 1))"
}

# jp_time TIME: as timeout(1) takes it.
jp_time() {
  jp_limit=${1:-}
  case ${jp_limit%[smh]} in
    '' | 0* | *[!0-9]* | ??????*) jp_refuse "--timeout '$jp_limit': a time is meant, such as 90s or 5m" ;;
  esac
}

# jp_do VERB: something else than to run the command and wait for it.
jp_do() {
  [ -z "$jp_verb" ] ||
    jp_refuse '--detach, --follow, --runs, --stop, --tty and --rerun-failed exclude each other'
  jp_verb=${1#--}
}

# jp_take_name NAME: of a run, as jobman exec takes it.
jp_take_name() {
  jp_run_name=$1
  case $jp_run_name in
    '' | [_-]* | *[!A-Za-z0-9_-]* | ?????????????????????????????????????????*)
      jp_refuse "'$jp_run_name' cannot be the name of a run: 1 to 40 letters, digits, _ and -, beginning with a letter or digit"
      ;;
  esac
}

# jp_folder DIR
jp_folder() {
  jp_out=$1
  [ -n "$jp_out" ] || jp_refuse '--out needs the name of a folder'
}

while [ $# -gt 0 ]; do
  case $1 in
    --) shift && break ;;
    --include-local) jp_option i ;;
    --cwd) jp_option w ;;
    --clean-up) jp_option c ;;
    --hosts | --exclude)
      jp_list "$@"
      shift
      ;;
    --hosts=* | --exclude=*) jp_list "${1%%=*}" "${1#*=}" ;;
    --slice)
      jp_of_slice "${2:-}"
      shift
      ;;
    --slice=*) jp_of_slice "${1#*=}" ;;
    --rerun-failed) jp_rerun=yes ;;
    --detach | --runs | --tty) jp_do "$1" ;;
    --follow | --stop)
      jp_do "$1"
      jp_take_name "${2:-}"
      shift
      ;;
    --follow=* | --stop=*)
      jp_do "${1%%=*}"
      jp_take_name "${1#*=}"
      ;;
    --name)
      jp_take_name "${2:-}"
      jp_name_given=yes
      shift
      ;;
    --name=*)
      jp_take_name "${1#*=}"
      jp_name_given=yes
      ;;
    --timeout)
      jp_time "${2:-}"
      shift
      ;;
    --timeout=*) jp_time "${1#*=}" ;;
    --fold) jp_fold=yes ;;
    --out)
      jp_folder "${2:-}"
      shift
      ;;
    --out=*) jp_folder "${1#*=}" ;;
    --force) jp_force=yes ;;
    -h | --help) printf '%s\n' "$jp_usage" && exit 0 ;;
    --json | --job-env | --patience | --patience=*)
      jp_refuse "${1%%=*} is an option of jobman exec, not of podrun"
      ;;
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
case $jp_verb in
  '' | detach | tty) [ $# -gt 0 ] || [ -n "$jp_rerun" ] || jp_refuse 'which command?' ;;
  *) [ -z "$*$jp_cwd$jp_clean$jp_limit" ] || jp_refuse "--$jp_verb takes neither a command nor -c, -w and --timeout" ;;
esac
case $jp_verb in
  detach | tty)
    [ -z "$jp_limit$jp_fold$jp_out" ] || jp_refuse "--$jp_verb takes neither --timeout nor --fold and --out"
    ;;
esac
[ -z "$jp_rerun" ] || [ -z "$jp_verb" ] || jp_do --rerun-failed
[ -z "$jp_name_given" ] || [ "$jp_verb" = detach ] || jp_refuse '--name is for --detach'
case $jp_verb in
  detach) : "${jp_run_name:=$(date -u +%Y%m%d-%H%M%S)}" ;;
  runs | stop) [ -n "$jp_out" ] || jp_fold=yes ;;
esac
[ $# -gt 0 ] || [ -z "$jp_cwd$jp_clean" ] ||
  jp_refuse '-c and -w belong to a command; --rerun-failed without one does the last again as it was'
[ -z "$jp_out" ] || [ -z "$jp_fold" ] || jp_refuse '--out excludes --fold'
[ -n "$jp_out" ] || [ -z "$jp_force" ] || jp_refuse '--force needs --out'

[ -n "$jp_hosts" ] || jp_refuse 'the hosts of the job are not known: JOBMAN_HOSTS is empty'

# jp_check OPTION LIST: sets jp_ranges, its parts; "all" is one of them.
jp_check() {
  case ,$2, in
    ,all, | ,,) ;;
    *,,* | *[!0-9,-]*) jp_refuse "$1 '$2': numbers of hosts and ranges are meant, such as 0,3-7" ;;
  esac
  jp_ranges=$(printf '%s' "$2" | tr ',' ' ')
  for jp_part in $jp_ranges; do
    case $jp_part in
      all) continue ;;
      -* | *- | *-*-* | *???????????*)
        jp_refuse "$1 '$2': $jp_part is neither a number nor a range such as 3-7"
        ;;
    esac
    [ "${jp_part%-*}" -le "${jp_part#*-}" ] ||
      jp_refuse "$1 '$2': the range $jp_part ends before it begins"
    [ "${jp_part#*-}" -lt "$jp_count" ] ||
      jp_refuse "$1 '$2': there is no host ${jp_part#*-}; this job has the hosts 0-$((jp_count - 1))"
  done
}

# jp_in NUMBER RANGES
jp_in() {
  for jp_part in $2; do
    [ "$jp_part" != all ] || return 0
    if [ "$1" -ge "${jp_part%-*}" ] && [ "$1" -le "${jp_part#*-}" ]; then return 0; fi
  done
  return 1
}

jp_all=$(printf '%s' "$jp_hosts" | tr ',' ' ')
jp_count=0
for jp_host in $jp_all; do jp_count=$((jp_count + 1)); done
jp_check --hosts "$jp_wanted"
jp_wanted=$jp_ranges
jp_check --exclude "$jp_unwanted"
jp_unwanted=$jp_ranges

# What --rerun-failed needs of the last command: for which hosts it was, the numbers of those that
# failed, its time limit, whether it had an input, and from the fifth line on what they ran. Hosts may
# share one home folder.
jp_last=$HOME/.jobman/podrun-failed.$(uname -n)
jp_record=$(cat "$jp_last" 2>/dev/null)
jp_then() { printf '%s\n' "$jp_record" | sed -n "$1p"; }
jp_none_failed() {
  echo 'podrun: no failure on these hosts is known here' >&2
  exit 0
}
jp_failed=''
if [ -n "$jp_rerun" ]; then
  [ "$(jp_then 1)" = "$jp_hosts" ] || jp_none_failed
  jp_failed=$(jp_then 2)
fi

# jp_chosen NUMBER HOST: whether the options choose it.
jp_chosen() {
  ! jp_in "$1" "$jp_unwanted" || return
  [ -z "$jp_slice" ] || [ $(($1 * jp_slices / jp_count)) -eq "$jp_slice" ] || return
  case "$jp_rerun $jp_failed " in ' '* | *" $1 "*) ;; *) return 1 ;; esac
  [ "$2" != "$jp_self" ] || [ -z "$jp_local" ] || return 0
  if [ -n "$jp_wanted" ]; then
    jp_in "$1" "$jp_wanted"
  else
    [ "$2" != "$jp_self" ] || [ -n "$jp_slice$jp_rerun" ]
  fi
}

# This host: by its addresses, by the environment of a job's command, or as podrun was installed (hosts
# may share a home folder).
jp_own=" $(hostname -I 2>/dev/null) " jp_self='' jp_installed='' jp_number=0
for jp_host in $jp_all; do
  case $jp_own in *" $jp_host "*) jp_self=$jp_host ;; esac
  [ "$jp_number" != "$jp_index" ] || jp_installed=$jp_host
  jp_number=$((jp_number + 1))
done
jp_self=${jp_self:-${jp_installed:-${jp_all%% *}}}

# The chosen hosts, as NUMBER=ADDRESS.
jp_number=0 jp_targets=''
for jp_host in $jp_all; do
  ! jp_chosen "$jp_number" "$jp_host" || jp_targets="$jp_targets $jp_number=$jp_host"
  jp_number=$((jp_number + 1))
done
[ -n "$jp_targets" ] || [ -z "$jp_rerun" ] || jp_none_failed
[ -n "$jp_targets" ] || [ -z "$jp_wanted$jp_unwanted$jp_slice" ] ||
  jp_refuse 'no host is left by --hosts, --exclude and --slice'
[ -n "$jp_targets" ] || [ -z "$jp_verb" ] || jp_refuse 'there is no other host; -i includes this one'
[ -n "$jp_targets" ] || echo 'podrun: there is no other host; -i includes this one' >&2

# jp_file NUMBER: the name of its files in the folder of --out.
jp_file() { printf '%s/host-%04d' "$jp_out" "$1"; }

# jp_each_old CALL: `CALL FILE` for each file of an earlier command in the folder of --out.
jp_each_old() {
  for jp_old in "$jp_out"/host-[0-9][0-9][0-9][0-9]*.out "$jp_out"/host-[0-9][0-9][0-9][0-9]*.err; do
    [ -e "$jp_old" ] || [ -L "$jp_old" ] || continue
    jp_digits=${jp_old##*/host-}
    case ${jp_digits%.*} in *[!0-9]*) continue ;; esac
    "$1" "$jp_old"
  done
}
jp_refuse_old() {
  jp_refuse "$jp_out has the output of an earlier command (${1##*/}); name another folder, or replace it: --force"
}
jp_remove_old() { rm -f "$1" || exit 75; }

# Makes the folder and its files. What an earlier command wrote there goes, all of it.
jp_make_out() {
  mkdir -p -- "$jp_out" || exit 75
  jp_each_old jp_remove_old
  for jp_target in $jp_targets; do
    jp_files=$(jp_file "${jp_target%%=*}")
    (umask 077 && set -C && true >"$jp_files.out" && true >"$jp_files.err") || exit 75
  done
}
case $jp_out in '' | /*) ;; *) jp_out=$PWD/$jp_out ;; esac
[ -z "$jp_out" ] || [ -n "$jp_force" ] || jp_each_old jp_refuse_old

jp_again='' jp_line=''
if [ -n "$jp_verb" ] && [ $# -eq 0 ]; then
  : # a run has its command
elif [ $# -eq 0 ]; then
  jp_again=yes
  jp_line=$(jp_then '5,$')
  [ -n "$jp_line" ] || jp_refuse 'the last command was too long to be kept; give it again'
  [ -n "$jp_limit" ] || jp_limit=$(jp_then 3)
elif [ $# -eq 1 ]; then
  jp_line=$1
else
  case $1 in [A-Za-z_]*=*) jp_line='env ' ;; esac
  for jp_word in "$@"; do
    # Most words need no quotes, and a process each to make them.
    case $jp_word in '' | *[!A-Za-z0-9_./:=,@%+-]*) jp_word=$(jp_quote "$jp_word") ;; esac
    jp_line="$jp_line$jp_word "
  done
fi
[ -z "$jp_clean" ] || jp_line="rm -rf /tmp/libtpu_lockfile /tmp/tpu_logs 2>/dev/null ||
sudo -n rm -rf /tmp/libtpu_lockfile /tmp/tpu_logs </dev/null
$jp_line"
[ -z "$jp_cwd" ] || jp_line="cd $(jp_quote "$PWD") || exit 126
$jp_line"
# The login shell on the other side may be another one. The blank: a line may begin with a dash.
# shellcheck disable=SC2016  # for the host
jp_enter='exec "$(command -v bash || command -v sh)" -c " $0"'
jp_shell="sh -c $(jp_quote "$jp_enter")"
