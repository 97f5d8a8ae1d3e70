# shellcheck shell=sh disable=SC2034,SC2154
# ssh.host_to_host: the hosts of the job reach each other by ssh, with a key made for the job. It comes
# in the variable JOBMAN_PEERS_KEY; JOBMAN_PEERS_HOSTS has their host keys, as far as the cloud knows
# them, and JOBMAN_PEERS_PORT their SSH port, if it is not 22. Needs the functions of identities.sh.

# jb_podrun TEXT: the program podrun, unless there is another one.
jb_podrun() {
  jb_program=$HOME/.local/bin/podrun
  jb_mark='# podrun of jobman'
  jb_other=$(command -v podrun) || jb_other=''
  [ ! -e "$jb_program" ] || jb_other=$jb_program
  if [ -n "$jb_other" ] && ! grep -qxF "$jb_mark" "$jb_other" 2>/dev/null; then
    jb_say "there is a podrun here, $jb_other, which stays"
    return
  fi
  (umask 022 && mkdir -p "${jb_program%/*}") || jb_cannot create "${jb_program%/*}"
  jb_put "$jb_program" 755 "#!/bin/sh
$jb_mark
jp_hosts=\${JOBMAN_HOSTS:-$JOBMAN_HOSTS}
jp_slices=\${JOBMAN_NUM_SLICES:-${JOBMAN_NUM_SLICES:-1}}
jp_index=\${JOBMAN_HOST_INDEX:-${JOBMAN_HOST_INDEX:-0}}
jp_job=\${JOBMAN_RUN_ID:-$JOBMAN_RUN_ID}
$1"
}

# jb_peers PODRUN: the text of that program.
jb_peers() {
  umask 077
  mkdir -p "$HOME/.ssh" || jb_cannot create "$HOME/.ssh"
  [ -n "${JOBMAN_PEERS_KEY:-}" ] || jb_fail 'the key of the job did not arrive'
  jb_put "$HOME/.ssh/jobman-peers" 600 "$JOBMAN_PEERS_KEY"
  unset JOBMAN_PEERS_KEY
  jb_public=$(ssh-keygen -y -f "$HOME/.ssh/jobman-peers" </dev/null) ||
    jb_fail 'ssh-keygen cannot read the key of the job, see above'
  # One line: that of an earlier job goes.
  jb_keys=''
  [ ! -e "$HOME/.ssh/authorized_keys" ] || {
    jb_keys=$(cat "$HOME/.ssh/authorized_keys") || jb_fail 'cannot read ~/.ssh/authorized_keys'
    jb_keys=$(printf '%s' "$jb_keys" | grep -v ' jobman-peers$')
  }
  jb_put "$HOME/.ssh/authorized_keys" 600 "${jb_keys:+$jb_keys
}${jb_public%% jobman-peers} jobman-peers"
  # These machines are new to each other, and their addresses may have been others' before. A host
  # that the cloud knows no key of is believed at first sight.
  rm -f "$HOME/.ssh/jobman-peers-hosts"
  [ -z "${JOBMAN_PEERS_HOSTS:-}" ] ||
    jb_put "$HOME/.ssh/jobman-peers-hosts" 600 "$JOBMAN_PEERS_HOSTS"
  jb_ssh_config "Host $(printf '%s' "$JOBMAN_HOSTS" | tr ',' ' ') 127.0.0.1${JOBMAN_PEERS_PORT:+
  Port $JOBMAN_PEERS_PORT}
  IdentityFile ~/.ssh/jobman-peers
  UserKnownHostsFile ~/.ssh/jobman-peers-hosts
  StrictHostKeyChecking accept-new" 'jobman peers'
  # What podrun reads: all hosts but the first. With several jobs here, those of the last.
  jb_others=$(printf '%s' "$JOBMAN_HOSTS" | tr ',' '\n' | tail -n +2)
  [ -n "$jb_others" ] || rm -f "$HOME/podips.txt" # of an earlier job
  [ -z "$jb_others" ] || jb_put "$HOME/podips.txt" 644 "$jb_others"
  jb_say 'the hosts may log in to each other; the addresses of all but host 0 are in ~/podips.txt'
  jb_podrun "$1"
}
