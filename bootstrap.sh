#!/bin/sh
# Builds, tests and shows jobman on a fresh Debian or Ubuntu machine; safe to repeat.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)

# What the build and the tests cannot do without.
needed="g++ cmake ninja-build pkg-config libcurl4-openssl-dev nlohmann-json3-dev libcli11-dev
libspdlog-dev libfmt-dev libssh-dev libyaml-cpp-dev libasio-dev libsqlite3-dev libssl-dev
libcpp-httplib-dev libre2-dev zlib1g-dev openssh-server openssh-client util-linux procps libgtest-dev
libgmock-dev libbenchmark-dev librapidcheck-dev ca-certificates"
# Without these the build is slower, the simulated hosts share one process tree, the formatting is
# not checked, short commands open libcrypto to hash a line, and the tests that need curl, jq or a
# second shell are skipped.
wanted="ccache bubblewrap clang-format curl jq busybox libmd-dev"

usage() {
  cat <<EOF
usage: ./bootstrap.sh COMMAND

  demo            build, then run configs/quickstart.yaml on simulated TPU VMs
  test            build with sanitizers and run all tests
  build [PRESET]  build a preset of CMakePresets.json (default: release)
  package         build/package: a tarball for any Linux with this processor, and a .deb
  deps            install the packages that are missing, nothing else

Each command first installs what is missing from this list, with apt-get (and sudo):
$needed
$wanted
EOF
}

say() { printf 'bootstrap: %s\n' "$*"; }
fail() {
  printf 'bootstrap: %s\n' "$*" >&2
  exit 1
}

# missing PACKAGE...: those that are not installed, in one line.
missing() {
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n 's/ installed$//p') || true
  list=
  for package in "$@"; do
    printf '%s\n' "$installed" | grep -Fqx -- "$package" || list="$list $package"
  done
  printf '%s' "${list# }"
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

can_be_root() { [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null 2>&1; }

# The tests start sshd by themselves, on loopback. That the package brings one up for the whole
# machine would be a surprise, so services are kept from starting while apt-get runs.
policy=/usr/sbin/policy-rc.d
policy_is_ours=
forbid_services() {
  [ ! -e "$policy" ] || return 0
  policy_is_ours=yes
  trap allow_services EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
  as_root chmod 755 "$policy"
}
allow_services() {
  [ -n "$policy_is_ours" ] || return 0
  policy_is_ours=
  as_root rm -f "$policy"
}

install_packages() {
  say "installing: $*"
  had_sshd=yes
  [ -z "$(missing openssh-server)" ] || had_sshd=
  forbid_services
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
  allow_services
  # Nor shall it come up with the next boot.
  if [ -z "$had_sshd" ] && command -v systemctl >/dev/null 2>&1; then
    as_root systemctl disable ssh.service ssh.socket >/dev/null 2>&1 || true
  fi
}

deps() {
  if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    say "not Debian or Ubuntu: going on with what is installed; the packages there are called"
    printf '%s\n%s\n' "$needed" "$wanted"
    return 0
  fi
  # shellcheck disable=SC2086  # lists of words
  required=$(missing $needed)
  # shellcheck disable=SC2086
  optional=$(missing $wanted)
  [ -n "$required$optional" ] || return 0
  if can_be_root; then
    # shellcheck disable=SC2086
    install_packages $required $optional
  elif [ -n "$required" ]; then
    fail "these packages are missing, and only root may install them (there is no sudo here):
  apt-get install --no-install-recommends $required $optional"
  else
    say "going on without $optional (only root may install packages, and there is no sudo here)"
  fi
}

# build PRESET [TARGET...]
build() {
  preset=$1
  shift
  [ $# -gt 0 ] || set -- all
  # ccache keeps its files in the home folder; an account may have none.
  if [ ! -w "${HOME:-/nonexistent}" ]; then
    export CCACHE_DIR="${CCACHE_DIR:-$root/build/ccache}"
  fi
  export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
  cd -- "$root"
  cmake --preset "$preset"
  cmake --build --preset "$preset" --target "$@"
}

# tell_failures FOLDER: which tests failed, and how the failure of each begins. What ctest prints is
# long, and the tests run side by side.
tell_failures() {
  [ -s "$1/LastTestsFailed.log" ] || return 0
  say "what failed:"
  sed 's/^[0-9]*://' "$1/LastTestsFailed.log" | while IFS= read -r name; do
    printf '  %s\n' "$name"
    output=$(sed -n "/ Testing: $name\$/,/^<end of output>/p" "$1/LastTest.log" | sed '/^<end of/d')
    begin=$(printf '%s\n' "$output" | grep -m 1 -A 4 -E ': Failure$|ERROR:|[Ee]rror: ') ||
      begin=$(printf '%s\n' "$output" | tail -n 5)
    printf '%s\n' "$begin" | sed 's/^/    /'
  done
}

run_tests() {
  build check
  code=0
  ctest --preset check -j4 || code=$?
  [ "$code" -eq 0 ] || tell_failures "$root/build/check/Testing/Temporary"
  return "$code"
}

demo() {
  build release jobman jobman-sim
  # A home of its own, so that the demo neither sees nor touches jobs of the user.
  JOBMAN_HOME="$root/build/demo/home"
  export JOBMAN_HOME
  PATH="$root/build/release/bin:$PATH"
  mkdir -p -- "$JOBMAN_HOME"
  # What an earlier demo left would only be in the way.
  jobman --quiet clean quickstart >/dev/null 2>&1 || true
  code=0
  jobman run "$root/configs/quickstart.yaml" || code=$?
  cat <<EOF

Still running, for you to look at: the simulator with this slice, and the
controller, which ends by itself five minutes after nothing is left to do.
To use them:

  export JOBMAN_HOME='$JOBMAN_HOME'
  export PATH='$root/build/release/bin':\$PATH
  jobman exec quickstart -- hostname     a command on every host
  jobman delete quickstart --wait        give the simulated slice back
  jobman controller stop; jobman-sim down
EOF
  return "$code"
}

package() {
  build release jobman jobman-sim
  "$root/packaging/package.sh" "$root/build/release" "$root/build/package"
  "$root/packaging/check.sh" "$root/build/package"
}

command=${1:-}
case $command in
  demo | test | package | deps) [ $# -eq 1 ] || { usage >&2; exit 2; } ;;
  build) [ $# -le 2 ] || { usage >&2; exit 2; } ;;
  -h | --help | help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

deps
case $command in
  demo) demo ;;
  test) run_tests ;;
  package) package ;;
  build) build "${2:-release}" ;;
  deps) say "everything is installed" ;;
esac
