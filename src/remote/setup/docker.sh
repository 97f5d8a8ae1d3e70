# shellcheck shell=sh disable=SC2016,SC2034,SC2154
# docker: the command runs in a container on every host. The setup step makes docker work and gets the
# image (jb_image). The same text is at the head of the command, which then calls jb_enter.
#
# The container is named after its run and has the labels jobman.run (the id of the run) and jobman.dir
# (its folder, which differs between homes and stores). As long as it may exist, the run's folder has a
# file `container`: "sudo" or an empty line, the path of docker, the address of its daemon. By it
# src/remote/host.sh knows whom to ask; it signals the processes in the container and ends it, whatever
# became of the docker client. So the client is none of the run's processes: it gets no signals and
# copies the output to its end.
#
# Variables that the script reads: DOCKER_HOST; GCE_METADATA_HOST as host.sh does.

jb_docker_s=20   # for docker to answer
jb_pull_s=3600   # for an image
jb_daemon_s=60   # for a daemon to start
jb_token_s=10    # for the metadata server, which is on the machine's own network
jb_follows=5     # times that a container is followed again whose docker client ended before it
jb_absent_s=30   # for a daemon to come back while a container runs
jb_sudo=''       # "sudo" if this session may not use docker itself

# The job may set HOME and PATH for the container.
jb_home=${JOBMAN_RUN_DIR:+${JOBMAN_RUN_DIR%/.jobman/runs/*}}
jb_home=${jb_home:-$HOME}
HOME=$jb_home
PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin

# --- The way to docker. ---

# jb_docker ARGUMENT...: docker in the way that jb_find_docker found, for at most jb_docker_s.
jb_docker() { ${jb_sudo:+sudo -n -E} timeout -k 5 "$jb_docker_s" docker "$@"; }

# Finds the way that works: as this user, or with sudo, since a session does not get the groups that
# its user has joined. If none does, jb_why is what docker said.
jb_find_docker() {
  for jb_sudo in '' sudo; do
    [ -z "$jb_sudo" ] || { [ "$(id -u)" != 0 ] && jb_can_be_root; } || break
    jb_why=$(jb_docker version -f '{{.Server.Version}}' 2>&1) && return
    jb_why=$(printf '%s\n' "$jb_why" | tail -n 1)
  done
  jb_sudo=''
  return 1
}

# Makes docker answer: installs it, starts its daemon, or says what is to be done.
jb_need_docker() {
  jb_has docker || jb_install docker.io
  jb_find_docker && return
  case $jb_why in
    *'permission denied'*)
      jb_fail "this user may not use docker ($jb_why): run on the hosts:" \
        "sudo usermod -aG docker $(id -un)"
      ;;
  esac
  # Another machine's daemon, or one that the user has started, is not ours to start.
  [ -z "${DOCKER_HOST:-}" ] ||
    jb_fail "docker does not answer ($jb_why): DOCKER_HOST is $DOCKER_HOST on the hosts"
  jb_can_be_root || jb_fail "docker does not answer ($jb_why), and this user may not start it" \
    '(no sudo): run on the hosts: sudo systemctl start docker'
  jb_start_daemon
}

jb_start_daemon() {
  jb_say "docker does not answer ($jb_why): starting its daemon"
  if [ -d /run/systemd/system ]; then
    jb_root timeout -k 5 "$jb_daemon_s" systemctl start docker
  else
    jb_root timeout -k 5 "$jb_daemon_s" service docker start
  fi
  jb_tries=0
  until jb_find_docker; do
    [ "$jb_tries" -lt 15 ] || jb_fail "the docker daemon does not start ($jb_why): see, on the" \
      'hosts: sudo systemctl status docker; sudo journalctl -u docker'
    jb_tries=$((jb_tries + 1))
    sleep 1
  done
}

# Later sessions need no sudo.
jb_join_group() {
  [ -n "$jb_sudo" ] && getent group docker >/dev/null || return 0
  jb_user=$(id -un)
  case " $(id -Gn "$jb_user") " in *' docker '*) return ;; esac
  jb_root usermod -aG docker "$jb_user" && jb_say "$jb_user is now in the group docker"
}

# --- The image. ---

# jb_image IMAGE: gets it unless it is there. A tag is not looked up again, so that all attempts on
# these machines have the same image; on new machines it is what the tag means then.
jb_image() {
  jb_need_docker
  jb_join_group
  jb_docker image inspect "$1" >/dev/null 2>&1 && return
  jb_login "${1%%/*}"
  jb_fetch "pulling $1" jb_pull "$1"
  jb_forget_login
}

jb_pull() {
  exec 3>&1
  jb_why=$(jb_docker_s=$jb_pull_s && jb_docker pull "$1" 2>&1 >&3 3>&-)
  jb_code=$?
  exec 3>&-
  [ "$jb_code" != 0 ] || return 0
  jb_why=$(printf '%s\n' "$jb_why" | tail -n 1)
  case $jb_why in
    *'no space left'*)
      jb_say "$jb_why: no space left for the image $1 on the host's disk" \
        "($(jb_docker info -f '{{.DockerRootDir}}' 2>/dev/null)): use a smaller image, or run on" \
        'the hosts: docker system prune -a'
      return 3
      ;;
    *denied* | *unauthorized* | *'no basic auth'*)
      jb_say "$jb_why: is $1 the image's name, and may the hosts pull it? For Artifact Registry" \
        'the service account of the hosts needs the role Artifact Registry Reader'
      return 3
      ;;
    *'not found'* | *'manifest unknown'* | *'no matching manifest'* | *'invalid reference'*)
      jb_say "$jb_why: correct docker.image in the job file"
      return 3
      ;;
  esac
  jb_say "$jb_why"
  return 1
}

# jb_login REGISTRY: for Google's registries with the token of this machine, unless the user has set
# up another way. The login is kept in memory, and only while the image is pulled.
jb_login() {
  case $1 in *-docker.pkg.dev | gcr.io | *.gcr.io) ;; *) return 0 ;; esac
  ! grep -qF "\"$1\"" "${DOCKER_CONFIG:-$HOME/.docker}/config.json" 2>/dev/null || return 0
  jb_secret=$(jb_token)
  [ -n "$jb_secret" ] || { jb_say "this machine has no token for $1: going on without" && return; }
  # The folder of the login takes the place of the one that names the daemon.
  DOCKER_HOST=$(jb_daemon)
  jb_config=$(mktemp -d /dev/shm/jobman.XXXXXX 2>/dev/null || mktemp -d) || jb_fail 'the disk is full'
  trap jb_forget_login EXIT
  export DOCKER_HOST DOCKER_CONFIG="$jb_config"
  jb_why=$(printf '%s' "$jb_secret" |
    jb_docker login -u oauth2accesstoken --password-stdin "https://$1" 2>&1) ||
    jb_say "$(printf '%s\n' "$jb_why" | tail -n 1)"
  jb_secret=''
}

jb_forget_login() {
  [ -n "${jb_config:-}" ] || return 0
  rm -rf "$jb_config"
  unset DOCKER_CONFIG jb_config
}

# The address of the daemon that docker asks.
jb_daemon() {
  printf '%s\n' "${DOCKER_HOST:-$(jb_docker context inspect -f '{{.Endpoints.docker.Host}}' 2>/dev/null)}"
}

# The access token of the machine's service account, from the metadata server. Outside Google's cloud
# there is none.
jb_token() {
  if [ -z "${GCE_METADATA_HOST+set}" ]; then
    grep -q '^Google' /sys/class/dmi/id/product_name 2>/dev/null || return
  elif [ -z "$GCE_METADATA_HOST" ]; then
    return
  fi
  set -- "http://${GCE_METADATA_HOST:-metadata.google.internal}/computeMetadata/v1/instance/service-accounts/default/token"
  if jb_has curl; then
    curl -sf --noproxy '*' -m "$jb_token_s" -H 'Metadata-Flavor: Google' "$1"
  else
    http_proxy='' wget -qO- -T "$jb_token_s" --header 'Metadata-Flavor: Google' "$1"
  fi 2>/dev/null | sed -n 's/.*"access_token" *: *"\([^"]*\)".*/\1/p'
}

# --- The command. ---

# What runs in the container, by `sh -c`, with the command or the path of a script. It is there because
# the first process of a container does not get signals that it does not handle. bash is preferred, as
# outside. After a signal the container lives until the whole session has ended: the command may be a
# shell that ends at once while its program still writes a checkpoint. Errors go the way of the output,
# so that the two keep their order.
jb_inside='
jb_told=""
trap "jb_told=yes" TERM INT USR1 USR2
exec 2>/dev/null # shells print "Terminated" for a child
if [ -n "$2" ]; then "$2" 2>&1
elif command -v bash >/dev/null; then bash -c "$1" 2>&1
else sh -c "$1" 2>&1; fi
jb_code=$?
jb_look() {
  IFS= read -r jb_line <"/proc/$1/stat" || return 1
  set -- ${jb_line##*) }
  jb_state=$1 jb_parent=$2 jb_session=$4
}
jb_above=" " jb_pid=$$
while [ "$jb_pid" -gt 0 ] && jb_look "$jb_pid"; do
  [ "$jb_pid" != $$ ] || jb_own=$jb_session
  jb_above="$jb_above$jb_pid " jb_pid=$jb_parent
done
jb_others() {
  for jb_pid in /proc/[0-9]*; do
    jb_pid=${jb_pid##*/}
    case $jb_above in *" $jb_pid "*) continue ;; esac
    jb_look "$jb_pid" || continue
    case $jb_state:$jb_session in [ZX]:*) ;; *:"$jb_own") return ;; esac
  done
  return 1
}
while [ -n "$jb_told" ] && jb_others; do sleep 0.1 || sleep 1 || break; done
exit $jb_code'

# jb_enter IMAGE CMD WORD...: runs it in a container, with more words for docker run, and ends as it
# did. Variables get their values from the environment, not from arguments; `docker inspect` shows
# them to whoever may use docker.
jb_enter() {
  jb_of_image=$1 jb_cmd=$2 jb_script=''
  shift 2
  case $jb_cmd in '#!'*) jb_script=$JOBMAN_RUN_DIR/inside ;; esac
  jb_name=jobman-$JOBMAN_RUN_ID-$(printf %s "$JOBMAN_RUN_DIR" | cksum | cut -d' ' -f1)
  jb_prepare || jb_fail "cannot write to $JOBMAN_RUN_DIR: is the disk full?"
  for jb_one in $(env | sed -n 's/^\(JOBMAN_[A-Za-z0-9_]*\)=.*/\1/p; s/^\(MEGASCALE_[A-Z_]*\)=.*/\1/p'); do
    set -- "$@" -e "$jb_one"
  done
  case ${JOBMAN_CHECKPOINT_DIR:-} in
    /*) set -- "$@" -v "$JOBMAN_CHECKPOINT_DIR:$JOBMAN_CHECKPOINT_DIR" ;;
  esac
  # The log is the run's own; docker's would take the same disk again.
  case " $* " in *' --log-'*) ;; *) set -- "$@" --log-driver none ;; esac
  # The last word about an option counts: these may not be changed by the job's flags.
  set -- "$@" -v "$JOBMAN_RUN_DIR:$JOBMAN_RUN_DIR:ro" -e "JOBMAN_RUN_DIR=$JOBMAN_RUN_DIR" --name "$jb_name" \
    --label "jobman.run=$JOBMAN_RUN_ID" --label "jobman.dir=$JOBMAN_RUN_DIR" \
    --rm --restart no --detach=false --interactive=false --tty=false
  jb_told=''
  trap 'jb_told=yes' TERM INT USR1 USR2 # host.sh sends them to the container as well
  [ -z "$jb_told" ] || exit 143
  jb_hidden run "$@" "$jb_of_image" sh -c "$jb_inside" jobman "$jb_cmd" "$jb_script"
  jb_code=$?
  jb_await_end
  exit "$jb_code"
}

# Writes the files of the run's folder. Other users' processes in the container may enter it: it is
# mounted at the same place, for the notices. On the host, the folders above it keep others out.
jb_prepare() {
  printf '%s\n' "$jb_sudo" "$(command -v docker)" "$(jb_daemon)" >"$JOBMAN_RUN_DIR/container" &&
    chmod 711 "$JOBMAN_RUN_DIR" || return
  [ -n "$jb_script" ] || return 0
  printf '%s\n' "$jb_cmd" >"$jb_script" && chmod 755 "$jb_script" && jb_cmd=''
}

# jb_hidden ARGUMENT...: docker as no process of the run: in its own session and without the variable
# by which host.sh finds such processes.
jb_hidden() {
  set -- docker "$@"
  [ -z "$jb_sudo" ] || set -- sudo -n -E "$@"
  ! jb_has setsid || set -- setsid "$@"
  (unset JOBMAN_RUN_DIR && exec "$@")
}

# jb_list [OPTION]: the ids of the run's container, if it exists.
jb_list() { jb_docker ps -q ${1:+"$1"} --filter "label=jobman.dir=$JOBMAN_RUN_DIR" 2>/dev/null; }

# The client has ended. Usually the container has, and is gone. If only the client or its connection was
# lost, the container is followed to its end. What is left is removed.
jb_await_end() {
  jb_tries=0 jb_absent=0
  while ! jb_left=$(jb_list -a) || [ -n "$jb_left" ]; do
    if [ -z "$jb_left" ]; then
      [ "$jb_absent" -lt "$jb_absent_s" ] || jb_fail 'docker does not answer any more, and the' \
        "container $jb_name may still run: run on the host: sudo systemctl restart docker"
      jb_absent=$((jb_absent + 1))
      sleep 1
    elif [ -n "$(jb_list)" ] && [ "$jb_tries" -lt "$jb_follows" ]; then
      jb_say "the docker client ended ($jb_code), but its container runs: following it again"
      jb_hidden attach --no-stdin --sig-proxy=false "$jb_name"
      jb_code=$?
    else
      jb_docker rm -f "$jb_left" >/dev/null 2>&1 || sleep 1
      [ "$jb_tries" -lt $((2 * jb_follows)) ] || return
    fi
    jb_tries=$((jb_tries + 1))
  done
  rm -f "$JOBMAN_RUN_DIR/container"
}
