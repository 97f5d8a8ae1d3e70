#!/bin/sh
# Drives Google's own client library for Node against the simulator: node_client.mjs says what.
# JOBMAN_NODE_CLIENT names a folder where it is installed; nothing is installed here:
#
#   npm install --prefix DIR @google-cloud/tpu
#
# Exit code 77 means skipped.
set -u

sim=$1
client=${JOBMAN_NODE_CLIENT:-}
skip() {
  echo "skipped: $1"
  exit 77
}
command -v node >/dev/null 2>&1 || skip "node is not installed"
[ -n "$client" ] || skip "JOBMAN_NODE_CLIENT does not name a folder with @google-cloud/tpu"
[ -f "$client/node_modules/@google-cloud/tpu/package.json" ] ||
  skip "$client has no node_modules/@google-cloud/tpu"

work=$(mktemp -d)
export JOBMAN_SIM_DIR="$work/sim"
finish() {
  "$sim" down >/dev/null 2>&1
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# The library's REST transport cannot read an operation whose metadata is of a type that it does not
# have, and it has only that of the API's own version.
"$sim" up --detach --delays 0 --light \
  --set guesses.operation_metadata=google.cloud.tpu.v2.OperationMetadata >/dev/null || exit 1
endpoint=$(sed -n 's/.*"endpoint": "\(.*\)".*/\1/p' "$JOBMAN_SIM_DIR/sim.json")

# No other credentials, no proxy, no metadata server.
export HOME="$work" CLOUDSDK_CONFIG="$work/gcloud" NO_GCE_CHECK=true
unset GOOGLE_APPLICATION_CREDENTIALS HTTP_PROXY HTTPS_PROXY http_proxy https_proxy NODE_OPTIONS
timeout 300 node "$(dirname "$0")/node_client.mjs" "$client" "$endpoint" "$JOBMAN_SIM_DIR/token"
