# shellcheck shell=sh
# For the tests that drive gcloud against the simulator; they source it, with the path of jobman-sim
# as their first argument. Starts a simulator and points gcloud to it, in a home of its own. With
# `hosts` set to nothing, its hosts are in sandboxes where that is possible. Exit code 77 means
# skipped.
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

# shellcheck disable=SC2086  # none or one
"$sim" up --detach --delays 0 ${hosts---light} >/dev/null || exit 1
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
complain() {
  printf 'FAILED: gcloud %s\n  wanted %s\n  got exit code %s and:\n%s\n' "$words" "$1" "$got" "$out"
  failed=1
}

# Runs gcloud: its exit code is in $got, what it said in $out.
run() {
  words=$*
  out=$(gcloud "$@" 2>&1 </dev/null)
  got=$?
}

# says TEXT: whether the last gcloud did.
says() {
  printf '%s\n' "$out" | grep -qF -e "$1"
}

# also TEXT and not_said TEXT: what the last gcloud must and must not have said, too.
also() {
  says "$1" || complain "also: $1"
}
not_said() {
  ! says "$1" || complain "nothing of: $1"
}

# expect CODE TEXT WORDS...: checks gcloud's exit code, and that its output contains TEXT.
expect() {
  code=$1 text=$2
  shift 2
  run "$@"
  if [ "$got" -ne "$code" ] || ! says "$text"; then
    complain "exit code $code and: $text"
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

# The create of a queued resource ends before it has nodes: asks until it is in STATE.
# await_qr STATE NAME
await_qr() {
  tries=40
  while [ "$tries" -gt 0 ]; do
    run compute tpus queued-resources describe "$2"
    if says "state: $1"; then return; fi
    tries=$((tries - 1))
  done
  complain "state: $1"
}

# order WORDS...: gives the simulator an order, which it must follow.
order() {
  "$sim" "$@" >/dev/null && return
  echo "FAILED: jobman-sim $*"
  failed=1
}

# Ends the test.
verdict() {
  exit "$failed"
}
