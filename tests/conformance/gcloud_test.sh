#!/bin/sh
# Drives gcloud against the simulator: create, list, describe and delete of nodes and queued
# resources, and gcloud's error messages. Exit code 77 means skipped.
set -u

sim=$1
if ! command -v gcloud >/dev/null 2>&1; then
  echo "skipped: gcloud is not installed"
  exit 77
fi

work=$(mktemp -d)
export JOBMAN_SIM_DIR="$work/sim"
finish() {
  "$sim" down >/dev/null 2>&1
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

"$sim" up --detach --delays 0 --light >/dev/null || exit 1
endpoint=$(sed -n 's/.*"endpoint": "\(.*\)".*/\1/p' "$JOBMAN_SIM_DIR/sim.json")

export HOME="$work" CLOUDSDK_CONFIG="$work/gcloud"
export CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU="$endpoint/"
export CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE="$endpoint/compute/v1/"
export CLOUDSDK_AUTH_ACCESS_TOKEN_FILE="$JOBMAN_SIM_DIR/token"
export CLOUDSDK_CORE_PROJECT=p CLOUDSDK_COMPUTE_ZONE=us-central2-b
export CLOUDSDK_CORE_DISABLE_PROMPTS=1 CLOUDSDK_CORE_CHECK_GCE_METADATA=false
export CLOUDSDK_CORE_DISABLE_USAGE_REPORTING=1
export CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK=1 CLOUDSDK_SURVEY_DISABLE_PROMPTS=1

failed=0
# expect CODE TEXT WORDS...: checks gcloud's exit code, and that its output contains TEXT.
expect() {
  code=$1 text=$2
  shift 2
  out=$(gcloud "$@" 2>&1 </dev/null)
  got=$?
  if [ "$got" -ne "$code" ] || ! printf '%s\n' "$out" | grep -qF -e "$text"; then
    printf 'FAILED: gcloud %s\n  wanted exit code %s and: %s\n  got exit code %s and:\n%s\n' \
      "$*" "$code" "$text" "$got" "$out"
    failed=1
  fi
}

vm() {
  code=$1 text=$2
  shift 2
  expect "$code" "$text" compute tpus tpu-vm "$@"
}
qr() {
  code=$1 text=$2
  shift 2
  expect "$code" "$text" compute tpus queued-resources "$@"
}

vm 0 'Created tpu [t1].' create t1 --accelerator-type=v4-16 --version=tpu-ubuntu2204-base --spot
vm 0 'READY' list
vm 0 'us-central2-b' list --zone=-
vm 0 'ipAddress: 127.' describe t1
vm 0 'ssh-ed25519' get-guest-attributes t1
vm 0 '' update t1 --update-labels=team=blue
vm 0 'team: blue' describe t1
vm 1 'ALREADY_EXISTS' create t1 --accelerator-type=v4-8 --version=tpu-ubuntu2204-base
vm 1 'was not found in zone us-central2-b' create t2 --accelerator-type=v6e-8 \
  --version=v2-alpha-tpuv6e
vm 0 'Deleted tpu [t1].' delete t1 --quiet
vm 1 "Resource 'projects/p/locations/us-central2-b/nodes/t1' was not found" describe t1
vm 0 'v4-8' accelerator-types list
vm 0 'tpu-ubuntu2204-base' versions list
expect 0 '2.17.0' compute tpus versions list
expect 0 'us-central2-b' compute tpus locations list

"$sim" set quota.us-central2-b/v4=8
vm 1 'RESOURCE_EXHAUSTED: Quota limit' create big --accelerator-type=v4-16 \
  --version=tpu-ubuntu2204-base
"$sim" set stock.us-central2-b/v4=0
vm 1 'There is no more capacity in the zone' create t3 --accelerator-type=v4-8 \
  --version=tpu-ubuntu2204-base
"$sim" set stock.us-central2-b/v4=64

qr 0 'Created queued_resource [q1].' create q1 --node-id=n1 --accelerator-type=v4-16 \
  --runtime-version=tpu-ubuntu2204-base --spot
qr 0 'ACTIVE' list
qr 0 'state: ACTIVE' describe q1
qr 1 'FAILED_PRECONDITION' delete q1 --quiet
qr 0 'Deleted queued_resource [q1].' delete q1 --force --quiet
qr 1 "Resource 'projects/p/locations/us-central2-b/queuedResources/q1' was not found" describe q1

exit "$failed"
