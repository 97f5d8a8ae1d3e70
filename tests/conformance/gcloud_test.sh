#!/bin/sh
# Drives gcloud against the simulator: create, list, describe, update, stop, start and delete of
# nodes, the catalogues, and gcloud's error messages. Exit code 77 means skipped.
set -u
# shellcheck source=gcloud.sh
. "$(dirname "$0")/gcloud.sh"

runtime=--version=tpu-ubuntu2204-base

vm 0 'Created tpu [t1].' create t1 --accelerator-type=v4-16 $runtime --spot
vm 0 'READY' list
vm 0 'us-central2-b' list --zone=-
vm 0 'ipAddress: 127.' describe t1
vm 0 'ssh-ed25519' get-guest-attributes t1
vm 1 'ALREADY_EXISTS' create t1 --accelerator-type=v4-8 $runtime
vm 1 'was not found in zone us-central2-b' create t2 --accelerator-type=v6e-8 \
  --version=v2-alpha-tpuv6e

# Update: what is named changes, and nothing else does.
vm 0 '' update t1 --update-labels=team=blue --description=first \
  --update-metadata=color=red,size=small --add-tags=one,two
vm 0 'team: blue' describe t1
also 'description: first'
also 'color: red'
also 'size: small'
also '- two'
vm 0 '' update t1 --clear-labels --remove-metadata=color --remove-tags=two --internal-ips
vm 0 'size: small' describe t1
also 'description: first'
also '- one'
not_said 'team: blue'
not_said 'color: red'
not_said '- two'
not_said 'externalIp'
vm 1 "Resource 'projects/p/locations/us-central2-b/nodes/none' was not found" \
  update none --update-labels=team=blue

# Stop and start: of one host on demand only.
vm 0 'Created tpu [d1].' create d1 --accelerator-type=v4-8 $runtime
vm 1 'start is not supported while in state READY' start d1
vm 0 'verb: stop' stop d1
also 'done: true'
vm 0 'state: STOPPED' describe d1
vm 0 'STOPPED' list
vm 1 'stop is not supported while in state STOPPED' stop d1
vm 0 'verb: start' start d1
vm 0 'state: READY' describe d1
vm 1 'FAILED_PRECONDITION: stop and start are only available for single-host nodes' stop t1
vm 0 'Created tpu [s1].' create s1 --accelerator-type=v4-8 $runtime --spot
vm 1 'FAILED_PRECONDITION: stop and start are not available for spot' stop s1
vm 1 "nodes/none' was not found" stop none
vm 1 "nodes/none' was not found" start none

# What was preempted keeps its name until it is deleted.
order preempt s1
vm 0 'PREEMPTED' list
vm 1 'update is not supported while in state PREEMPTED' update s1 --update-labels=team=blue
vm 1 'ALREADY_EXISTS' create s1 --accelerator-type=v4-8 $runtime --spot
vm 0 'Deleted tpu [s1].' delete s1 --quiet
vm 0 'Created tpu [s1].' create s1 --accelerator-type=v4-8 $runtime --spot

vm 0 'Deleted tpu [t1].' delete t1 --quiet
vm 1 "Resource 'projects/p/locations/us-central2-b/nodes/t1' was not found" describe t1
vm 1 "nodes/t1' was not found" delete t1 --quiet
vm 0 'd1' list
not_said 't1'

vm 0 'v4-8' accelerator-types list
vm 0 'tpu-ubuntu2204-base' versions list
expect 0 '2.17.0' compute tpus versions list
expect 0 'us-central2-b' compute tpus locations list

order set quota.us-central2-b/v4=16
vm 1 'RESOURCE_EXHAUSTED: Quota limit' create big --accelerator-type=v4-16 $runtime
also 'google.rpc.QuotaFailure'
order set stock.us-central2-b/v4=0
vm 1 'There is no more capacity in the zone' create t3 --accelerator-type=v4-8 $runtime

# Refusals that a client cannot bring about: gcloud says what was said, and asks again after a 503.
order fault nodes.create denied
vm 1 "PERMISSION_DENIED: Permission 'tpu.nodes.create' denied" create t4 \
  --accelerator-type=v4-8 $runtime
order fault nodes.list api_disabled
vm 1 'Cloud TPU API has not been used in project p before or it is disabled' list
order fault nodes.get zone_denied
vm 1 "Permission denied on 'locations/us-central2-b'" describe d1
order fault nodes.get rate_limit
vm 1 'RATE_LIMIT_EXCEEDED' describe d1
order fault nodes.get unavailable
vm 0 'state: READY' describe d1
echo wrong >"$work/wrong"
CLOUDSDK_AUTH_ACCESS_TOKEN_FILE="$work/wrong"
vm 1 'invalid authentication credentials' list

verdict
