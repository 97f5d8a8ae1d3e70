# shellcheck shell=sh disable=SC2034
# What the setup steps of sections share. A step is this text, the text of its section, and calls of
# the section's functions with the values of the job file; it runs as any setup step does.
#
# POSIX sh; names begin with jb_. A step ends with 0 (done, or nothing to do), 75 (EX_TEMPFAIL: the
# network was at fault, the job tries again at the cost of retries.infra) or another number (the job
# file or the host is at fault). The last line it prints says what to do. Variables that tests set:
# JOBMAN_APT_WAIT_S, JOBMAN_APT_LIMIT_S, JOBMAN_APT_LOCKS, JOBMAN_NET_TRIES, JOBMAN_NET_PAUSE_S.

# TPU images preload tcmalloc, which the tools of a setup step do not need and some cannot stand.
unset LD_PRELOAD

jb_apt_wait_s=${JOBMAN_APT_WAIT_S:-600} # for the package manager of a young machine to be free
jb_apt_limit_s=${JOBMAN_APT_LIMIT_S:-1200} # for one call of apt-get, which a mirror may keep hanging
jb_apt_locks=${JOBMAN_APT_LOCKS:-/var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock}
jb_net_tries=${JOBMAN_NET_TRIES:-4}     # of what fetches from the network
jb_net_pause_s=${JOBMAN_NET_PAUSE_S:-5} # before the second of them; doubles

jb_say() { printf 'jobman: %s\n' "$*"; }

# jb_fail WHY: the job file or the host is at fault.
jb_fail() {
  jb_say "$*"
  exit 1
}

# jb_later WHY: it may work another time.
jb_later() {
  jb_say "$*"
  exit 75
}

# jb_fullness PATH...: how full the disks are that they lie on.
jb_fullness() {
  {
    df -P "$@"
    echo
    df -Pi "$@"
  } 2>/dev/null | awk '
    !NF { files = 1 }
    $5 !~ /^[0-9]+%$/ { next }
    !files && !seen[$6]++ { text = text ", " $6 " is " $5 " full" }
    files && $5 == "100%" && !also[$6]++ { text = text ", " $6 " can hold no more files" }
    END { print substr(text, 3) }'
}

# jb_cannot VERB PATH: the host does not let us write, as a tool has just said; often its disk is full.
jb_cannot() {
  jb_at=$2
  while [ ! -d "${jb_at:-/}" ]; do
    case $jb_at in */*) jb_at=${jb_at%/*} ;; *) jb_at=. ;; esac
  done
  jb_full=$(jb_fullness "${jb_at:-/}")
  case $jb_full in
    *' 100% '* | *'no more files'*)
      jb_fail "cannot $1 $2, the disk is full ($jb_full): free some of it and run the job again" \
        "(jobman run ${JOBMAN_JOB_ID:-ID})"
      ;;
  esac
  jb_fail "cannot $1 $2, see above"
}

jb_has() { command -v "$1" >/dev/null 2>&1; }

# jb_root COMMAND...: runs it as root. On a TPU VM, users have sudo without a password.
jb_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}
jb_can_be_root() { [ "$(id -u)" = 0 ] || { jb_has sudo && sudo -n true 2>/dev/null; }; }

# jb_limit SECONDS COMMAND...: ends the program after that time, with 124.
jb_limit() {
  jb_seconds=$1
  shift
  if jb_has timeout; then timeout -k 10 "$jb_seconds" "$@"; else "$@"; fi
}

# jb_fetch WHAT COMMAND...: what needs the network, tried again with pauses that double. Ends the step
# when the last try failed. A command that knows that another try cannot help ends with 3. The
# command must have a limit of its own.
jb_fetch() {
  jb_what=$1
  shift
  jb_try=1 jb_pause_s=$jb_net_pause_s
  while :; do
    "$@" && return
    jb_code=$?
    [ "$jb_code" != 3 ] || exit 1
    [ "$jb_try" -lt "$jb_net_tries" ] || break
    jb_say "$jb_what failed ($jb_code); again in $jb_pause_s s"
    sleep "$jb_pause_s"
    jb_try=$((jb_try + 1)) jb_pause_s=$((jb_pause_s * 2))
  done
  jb_later "$jb_what failed $jb_net_tries times, see above: does the host reach the internet?"
}

# The process that keeps the package manager busy, "unattended-upgr (1234)"; empty when it is free.
jb_apt_holder() {
  for jb_file in $jb_apt_locks; do
    [ -e "$jb_file" ] || continue
    # shellcheck disable=SC2046
    set -- $(stat -c '%d %i' "$jb_file" 2>/dev/null)
    [ $# = 2 ] || continue
    jb_id=$(printf '%02x:%02x:%s' $(($1 >> 8 & 0xfff)) $(($1 & 0xff | $1 >> 12 & 0xfff00)) "$2")
    jb_pid=$(awk -v file="$jb_id" '$6 == file && $5 > 0 { print $5; exit }' /proc/locks 2>/dev/null)
    [ -n "$jb_pid" ] || continue
    echo "$(cat "/proc/$jb_pid/comm" 2>/dev/null || echo process) ($jb_pid)"
    return
  done
}

# A young machine installs its own updates first; their locks are waited for, never broken.
jb_await_apt() {
  jb_waited_s=0
  while jb_holder=$(jb_apt_holder); [ -n "$jb_holder" ]; do
    [ "$jb_waited_s" -lt "$jb_apt_wait_s" ] ||
      jb_later "the package manager is still in use after $jb_apt_wait_s s, by $jb_holder"
    [ $((jb_waited_s % 60)) != 0 ] || jb_say "waiting for the package manager, in use by $jb_holder"
    sleep 5
    jb_waited_s=$((jb_waited_s + 5))
  done
}

# jb_apt_get ARGUMENT...: one call, bounded, without questions.
jb_apt_get() {
  jb_await_apt
  jb_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a \
    timeout -k 10 "$jb_apt_limit_s" apt-get -q -y -o DPkg::Lock::Timeout=60 \
    -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 -o Acquire::Retries=2 "$@"
}

# What a restart or our own limit interrupted is finished first: apt-get refuses to work before.
jb_finish_dpkg() {
  [ -n "$(dpkg --audit 2>/dev/null)" ] || return 0
  jb_await_apt
  jb_say 'finishing an installation that was interrupted'
  jb_root env DEBIAN_FRONTEND=noninteractive timeout -k 10 "$jb_apt_limit_s" dpkg --configure -a \
    </dev/null || jb_say 'dpkg --configure -a failed, see above'
}

# jb_half_installed PACKAGE: its files are there, but it was never configured.
jb_half_installed() {
  dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -qE ' (unpacked|half-installed|half-configured)$'
}

# jb_get_packages PACKAGE...: for jb_fetch.
jb_get_packages() {
  jb_apt_get install --no-install-recommends "$@" && return
  jb_full=$(jb_fullness / /var /tmp)
  case $jb_full in
    *' 100% '* | *'no more files'*)
      jb_say "cannot install $*, a disk is full ($jb_full): free some of it and run the job again"
      return 3
      ;;
  esac
  return 1
}

# jb_install PACKAGE...: those that are missing, after a fresh list of packages.
jb_install() {
  jb_missing=''
  for jb_one in "$@"; do
    dpkg-query -W -f '${Status}' "$jb_one" 2>/dev/null | grep -q ' installed$' ||
      jb_missing="$jb_missing $jb_one"
  done
  [ -n "$jb_missing" ] || return 0
  jb_has apt-get || jb_fail "install$jb_missing on the hosts: there is no apt-get"
  jb_can_be_root || jb_fail "install$jb_missing on the hosts: this user may not (no sudo)"
  jb_finish_dpkg
  # A list that cannot be had may be of others: what is missing then is seen when it is installed.
  jb_apt_get update || jb_say "apt-get update failed, see above; trying to install$jb_missing"
  # shellcheck disable=SC2086
  jb_fetch "installing$jb_missing" jb_get_packages $jb_missing
}
