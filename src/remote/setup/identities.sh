# shellcheck shell=sh disable=SC2034,SC2154
# ssh.identities: keys of the user's machine for ~/.ssh. They come in variables, JOBMAN_IDENTITY_0 and
# JOBMAN_IDENTITY_0_PUBLIC, so that they are in no argument and no file but their own.

# Where ssh and sshd look, whatever HOME the job file sets.
case ${JOBMAN_RUN_DIR:-} in
  */.jobman/runs/*) HOME=${JOBMAN_RUN_DIR%/.jobman/runs/*} ;;
esac

# jb_put FILE MODE TEXT: makes the file say that. It is replaced in one step, since hosts may share the
# home folder.
jb_put() {
  [ ! -L "$1" ] || set -- "$(readlink -f "$1")" "$2" "$3"
  if [ -f "$1" ] && [ "$(cat "$1")" = "$3" ]; then
    chmod "$2" "$1"
    return
  fi
  if jb_new=$(mktemp "$HOME/.ssh/.jobman.XXXXXX") && printf '%s\n' "$3" >"$jb_new" &&
    chmod "$2" "$jb_new" && mv -f "$jb_new" "$1"; then
    return
  fi
  rm -f "$jb_new" # half a key
  jb_cannot write "$1"
}

# jb_identity NUMBER NAME PUBLIC yes|no: installs the key and its public half, each under its own name
# ("": it has none); with yes, it may log in here too.
jb_identity() {
  umask 077
  mkdir -p "$HOME/.ssh" || jb_cannot create "$HOME/.ssh"
  eval "jb_private=\$JOBMAN_IDENTITY_$1 jb_public=\${JOBMAN_IDENTITY_$1_PUBLIC:-}"
  [ -n "$jb_private" ] || jb_fail "the key $2 did not arrive"
  jb_put "$HOME/.ssh/$2" 600 "$jb_private"
  [ -z "$jb_public" ] || jb_put "$HOME/.ssh/$3" 644 "$jb_public"
  if [ "$4" = yes ] && ! grep -qxF -e "$jb_public" "$HOME/.ssh/authorized_keys" 2>/dev/null; then
    jb_keys=''
    [ ! -e "$HOME/.ssh/authorized_keys" ] || jb_keys=$(cat "$HOME/.ssh/authorized_keys") ||
      jb_fail 'cannot read ~/.ssh/authorized_keys'
    jb_put "$HOME/.ssh/authorized_keys" 600 "${jb_keys:+$jb_keys
}$jb_public"
  fi
  unset "JOBMAN_IDENTITY_$1" "JOBMAN_IDENTITY_$1_PUBLIC" jb_private
  jb_say "installed ~/.ssh/$2"
}

# jb_ssh_config TEXT [MARK]: our part of ~/.ssh/config, at its head since ssh takes the first value it finds.
# "Host *" ends it: what follows applies as if our part were not there. An empty text removes it.
jb_ssh_config() {
  jb_mark=${2:-jobman}
  jb_rest=''
  [ ! -e "$HOME/.ssh/config" ] ||
    jb_rest=$(sed "/^# $jb_mark: begin\$/,/^# $jb_mark: end\$/d" "$HOME/.ssh/config") ||
    jb_fail 'cannot read ~/.ssh/config'
  jb_ours=''
  [ -z "$1" ] || jb_ours="# $jb_mark: begin
$1
Host *
# $jb_mark: end"
  [ -n "$jb_ours$jb_rest" ] || return 0
  [ -z "$jb_ours" ] || [ -z "$jb_rest" ] || jb_ours="$jb_ours
"
  jb_put "$HOME/.ssh/config" 600 "$jb_ours$jb_rest"
}
