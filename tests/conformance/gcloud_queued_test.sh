#!/bin/sh
# Drives gcloud against the simulator: create, list, describe, reset and delete of queued resources,
# of one node and of several, and gcloud's error messages. Exit code 77 means skipped.
set -u
# shellcheck source=gcloud.sh
. "$(dirname "$0")/gcloud.sh"

tpu='--accelerator-type=v4-16 --runtime-version=tpu-ubuntu2204-base'

# shellcheck disable=SC2086  # $tpu is two words
create() {
  code=$1 text=$2
  shift 2
  qr "$code" "$text" create "$@" $tpu
}

create 0 'Created queued_resource [q1].' q1 --node-id=n1 --spot
await_qr ACTIVE q1
qr 0 'ACTIVE' list
also 'q1'
vm 0 'queuedResources/q1' describe n1
not_said 'multisliceNode: true'
create 1 'ALREADY_EXISTS' q1 --node-id=n2
qr 0 'verb: reset' reset q1
also 'done: true'
qr 0 'state: ACTIVE' describe q1
qr 1 'FAILED_PRECONDITION' delete q1 --quiet
qr 0 'Deleted queued_resource [q1].' delete q1 --force --quiet
qr 1 "Resource 'projects/p/locations/us-central2-b/queuedResources/q1' was not found" describe q1
qr 1 "queuedResources/q1' was not found" delete q1 --quiet
qr 1 "queuedResources/q1' was not found" reset q1
vm 1 "nodes/n1' was not found" describe n1

# Multislice: nodes PREFIX-0 and up; the prefix is the queued resource's name if none is given.
create 0 'Created queued_resource [m1].' m1 --node-count=3 --node-prefix=ms \
  --valid-until-duration=6h
await_qr ACTIVE m1
also 'nodeId: ms-0'
also 'nodeId: ms-2'
not_said 'nodeId: ms-3'
create 0 'Created queued_resource [m2].' m2 --node-count=2 --spot
await_qr ACTIVE m2
also 'nodeId: m2-1'
qr 0 'm1' list
also 'm2'
vm 0 'ms-1' list
also 'm2-0'
vm 0 'multisliceNode: true' describe ms-2
also 'queuedResources/m1'
vm 0 'spot: true' describe m2-0
qr 0 'verb: reset' reset m1
vm 0 'state: READY' describe ms-1
create 1 'node' m3 --node-count=1

# A slice of it that is gone suspends the whole: there is nothing to reset, and no need of --force.
vm 0 'Deleted tpu [ms-1].' delete ms-1 --quiet
await_qr SUSPENDED m1
qr 1 'FAILED_PRECONDITION' reset m1
qr 0 'Deleted queued_resource [m1].' delete m1 --quiet
order preempt m2
await_qr SUSPENDED m2
also 'stateInitiator: SERVICE'
qr 0 'Deleted queued_resource [m2].' delete m2 --force --quiet
vm 0 '' list
not_said 'ms-'
not_said 'm2-'

# Without capacity it waits; one that waits is deleted without --force.
order set stock.us-central2-b/v4=0
create 0 'Created queued_resource [w1].' w1 --node-count=2
await_qr WAITING_FOR_RESOURCES w1
qr 1 'FAILED_PRECONDITION' reset w1
qr 0 'Deleted queued_resource [w1].' delete w1 --quiet
order set stock.us-central2-b/v4=64

order fault queuedResources.create gives_up
create 0 'Created queued_resource [f1].' f1 --node-id=n1 --spot
await_qr FAILED f1
also 'an internal error has occurred'
order set quota.us-central2-b/v4=16
create 1 'RESOURCE_EXHAUSTED: Quota limit' big --node-count=2

verdict
