#!/bin/sh
# Drives gcloud against the simulator: ssh and scp to hosts of nodes and of queued resources. gcloud
# runs OpenSSH's ssh and scp, with keys and known hosts in a home of the test's own. Exit code 77
# means skipped.
set -u
# shellcheck source=gcloud.sh
. "$(dirname "$0")/gcloud.sh"

port=$(sed -n 's/.*"ssh_port": \([0-9]*\).*/\1/p' "$JOBMAN_SIM_DIR/sim.json")
LOGNAME=$(id -un) # whose login gcloud takes; hosts without a sandbox have no other
export LOGNAME
unset SSH_AUTH_SOCK
# ssh looks for its configuration in the home of the password file, whatever $HOME says.
ssh="-F none -p $port"
scp="--scp-flag=-F --scp-flag=none --scp-flag=-P --scp-flag=$port"

# over_ssh KIND CODE TEXT WORDS, over_scp KIND CODE TEXT WORDS: as the function KIND, vm or qr.
over_ssh() {
  kind=$1 code=$2 text=$3
  shift 3
  "$kind" "$code" "$text" ssh "$@" --ssh-flag="$ssh"
}
# shellcheck disable=SC2086  # $scp is several words
over_scp() {
  kind=$1 code=$2 text=$3
  shift 3
  "$kind" "$code" "$text" scp "$@" $scp
}
# same FILE FILE: they have the same content.
same() {
  cmp "$1" "$2" && return
  echo "FAILED: $1 and $2 differ after: $words"
  failed=1
}

# known_by_its_key WORKER: gcloud names a host by the end of the key that its guest attributes have;
# it is that of the key that the host has shown. (OpenSSH writes names in small letters.)
known_by_its_key() {
  grep -qi "^tpu\.[0-9]*-$1-\(......\) ssh-ed25519 .*\1\$" "$HOME/.ssh/google_compute_known_hosts" &&
    return
  echo "FAILED: the key of worker $1 is not that of its guest attributes"
  failed=1
}
# await TEXT FILE: until the file has it.
await() {
  tries=300
  while [ "$tries" -gt 0 ]; do
    if grep -qsF -e "$1" "$2"; then return; fi
    tries=$((tries - 1))
    sleep 0.2
  done
}

# shellcheck disable=SC2016  # the hosts expand these
name='echo $JOBMAN_SIM_HOST' address='echo $SSH_CONNECTION'
v4='--accelerator-type=v4-16 --version=tpu-ubuntu2204-base'

# The first time, gcloud makes a key and puts it in the node's metadata.
# shellcheck disable=SC2086  # $v4 is two words
vm 0 'Created tpu [pod].' create pod $v4 --metadata=color=red
over_ssh vm 0 't1v-n-pod-w-0' pod --command="$name"
also 'Propagating SSH public key to all TPU workers'
vm 0 "$LOGNAME:ssh-rsa " describe pod
also 'color: red'
over_ssh vm 0 't1v-n-pod-w-0' pod --command="$name"
not_said 'Propagating'
over_ssh vm 0 't1v-n-pod-w-1' "$LOGNAME@pod" --worker=1 --command="$name"
known_by_its_key 0
known_by_its_key 1
over_ssh vm 0 't1v-n-pod-w-0' pod --worker=all --command="$name"
also 't1v-n-pod-w-1'
over_ssh vm 0 ' 127.128.' pod --command="$address"
over_ssh vm 0 ' 127.16.' pod --internal-ip --command="$address"
over_ssh vm 3 '' pod --command='exit 3'
# shellcheck disable=SC2016
over_ssh vm 1 'Command execution on worker 1 failed with exit status 1' pod --worker=all \
  --command='test $JOBMAN_SIM_HOST = t1v-n-pod-w-0'
over_ssh vm 1 'worker index 2 is larger than the valid worker indexes' pod --worker=2 --command=true
over_ssh vm 1 "nodes/none' was not found" none --command=true

# gcloud tries again while a host refuses connections.
order host pod/1 refuse
gcloud compute tpus tpu-vm ssh pod --worker=1 --command="$name" --ssh-flag="$ssh" \
  >"$work/tries" 2>&1 </dev/null &
await 'Retrying: SSH command error' "$work/tries"
order host pod/1 mend
wait "$!"
got=$? out=$(cat "$work/tries") words="ssh to a host that refuses"
[ "$got" -eq 0 ] || complain 'exit code 0'
also 't1v-n-pod-w-1'

echo text >"$work/text"
mkdir "$work/tree" && echo leaf >"$work/tree/leaf"
over_scp vm 0 '' "$work/text" pod: --worker=all
over_ssh vm 0 'text' pod --worker=1 --command='cat text'
over_scp vm 0 '' pod:text "$work/back" --worker=1
same "$work/text" "$work/back"
over_scp vm 0 '' "$work/tree" pod: --recurse
over_scp vm 0 '' pod:tree "$work/tree2" --recurse
same "$work/tree/leaf" "$work/tree2/leaf"
over_scp vm 1 'cannot target multiple workers while copying files to client' pod:text "$work/back" \
  --worker=all

# A host without an external address is reached by its internal one; a key in the project's metadata
# is enough.
sed "s/^/$LOGNAME:/; s/\$/ $LOGNAME/" "$HOME/.ssh/google_compute_engine.pub" >"$work/keys"
expect 0 'Updated' compute project-info add-metadata --metadata-from-file="ssh-keys=$work/keys"
vm 0 'Created tpu [one].' create one --accelerator-type=v4-8 --version=tpu-ubuntu2204-base \
  --internal-ips
over_ssh vm 0 ' 127.16.' one --command="$address"
vm 0 'state: READY' describe one
not_said 'ssh-rsa'

# States in which gcloud does not try.
vm 0 'verb: stop' stop one
over_ssh vm 1 'This TPU has state "STOPPED"' one --command=true
over_scp vm 1 'This TPU has state "STOPPED"' "$work/text" one:
vm 0 'verb: start' start one
over_ssh vm 0 't1v-n-one-w-0' one --command="$name"
order preempt one --force
over_ssh vm 1 'This TPU has terminal state "PREEMPTED"' one --command=true

# Queued resources: every host of every node, also after a reset, which keeps the disks.
qr 0 'Created queued_resource [q].' create q --node-count=2 --accelerator-type=v4-16 \
  --runtime-version=tpu-ubuntu2204-base
await_qr ACTIVE q
over_ssh qr 0 't1v-n-q-1-w-1' q --node=all --worker=all --command="$name"
also 't1v-n-q-0-w-0'
also 't1v-n-q-0-w-1'
also 't1v-n-q-1-w-0'
over_ssh qr 0 't1v-n-q-1-w-0' q --node=1 --command="$name"
not_said 't1v-n-q-0'
over_ssh qr 1 'node index 2 is larger than the valid node indices' q --node=2 --command=true
over_ssh qr 1 "queuedResources/none' was not found" none --command=true
over_scp qr 0 '' "$work/text" q: --node=all --worker=all
# shellcheck disable=SC2016
boot='cat $JOBMAN_BOOT_ID_FILE'
over_ssh qr 0 '' q --node=1 --worker=1 --command="$boot"
before=$(printf '%s\n' "$out" | grep -E '^[0-9a-f-]{36}$')
qr 0 'verb: reset' reset q
over_ssh qr 0 'text' q --node=1 --worker=1 --command="$boot text"
not_said "${before:-boot id}"
over_scp qr 0 '' q:text "$work/back2" --node=1 --worker=1
same "$work/text" "$work/back2"

verdict
