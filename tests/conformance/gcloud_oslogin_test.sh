#!/bin/sh
# Drives gcloud against the simulator: ssh to hosts under OS Login, which take the keys of the login
# profile alone. They have logins of their own, so they need sandboxes. Exit code 77 means skipped.
set -u
hosts='' # in sandboxes
# shellcheck source=gcloud.sh
. "$(dirname "$0")/gcloud.sh"

if ! grep -q '"sandbox": "bubblewrap"' "$JOBMAN_SIM_DIR/sim.json"; then
  echo "skipped: no sandboxes on this machine"
  exit 77
fi
port=$(sed -n 's/.*"ssh_port": \([0-9]*\).*/\1/p' "$JOBMAN_SIM_DIR/sim.json")
unset SSH_AUTH_SOCK
export CLOUDSDK_API_ENDPOINT_OVERRIDES_OSLOGIN="$endpoint/"
export CLOUDSDK_CORE_ACCOUNT=sim@example.com # the simulator's only account

vm_ssh() {
  code=$1 text=$2
  shift 2
  vm "$code" "$text" ssh "$@" --ssh-flag="-F none -p $port"
}
# imports NUMBER: how many keys were imported so far.
imports() {
  "$sim" requests | grep -q "\"oslogin.users.importSshPublicKey\": $1[,}]*\$" && return
  echo "FAILED: wanted $1 imports of a key"
  failed=1
}

vm 0 'Created tpu [t1].' create t1 --accelerator-type=v4-8 --version=tpu-ubuntu2204-base \
  --metadata=enable-oslogin=TRUE
vm_ssh 0 'sim_example_com' t1 --command='id -un'
imports 1
vm_ssh 0 'instead of requested user [somebody]' somebody@t1 --command='id -un'
also 'sim_example_com'
imports 1

# Without it, whoever the key in the metadata is for.
vm 0 'Created tpu [t2].' create t2 --accelerator-type=v4-8 --version=tpu-ubuntu2204-base
vm_ssh 0 'somebody' somebody@t2 --command='id -un'

verdict
