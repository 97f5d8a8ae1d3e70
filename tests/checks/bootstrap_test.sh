#!/bin/sh
# bootstrap_test.sh ROOT: what bootstrap.sh would install and how, with stand-ins for dpkg-query,
# apt-get, sudo and id. Nothing is installed, nothing outside a temporary folder is touched.
set -eu
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# A path with blanks, as checkouts have.
tree="$work/a check out"
mkdir -p "$tree/tools"
# Where services are forbidden must not depend on the machine: a container has such a file already.
sed 's|^policy=/usr/sbin/|policy=/nonexistent/|' "$1/bootstrap.sh" >"$tree/bootstrap.sh"
for tool in sh sed grep cat dirname env printf tail tee rm nproc; do
  ln -s "$(command -v "$tool")" "$tree/tools/$tool"
done

# tool NAME SCRIPT
tool() {
  rm -f "$tree/tools/$1"
  printf '#!/bin/sh\n%s\n' "$2" >"$tree/tools/$1"
  chmod +x "$tree/tools/$1"
}
# shellcheck disable=SC2016  # the stand-ins expand these, not this script
record='printf "%s\n" "${0##*/} $*" >>"$CALLS"; [ "$1" != tee ] || cat >/dev/null'
# Everything asked for is installed, except what $ABSENT names.
# shellcheck disable=SC2016
tool dpkg-query 'shift 2
for package in "$@"; do
  case " $ABSENT " in *" $package "*) ;; *) echo "$package installed" ;; esac
done
[ -z "$ABSENT" ]'
tool apt-get "$record"
tool id 'echo 1000'

# run EXPECTED_CODE ABSENT ARGUMENT...: leaves the output in $out and the calls in $calls.
run() {
  expected=$1
  absent=$2
  shift 2
  : >"$work/calls"
  code=0
  out=$(cd / && env -i PATH="$tree/tools" CALLS="$work/calls" ABSENT="$absent" FAILED="${FAILED:-}" \
    sh "$tree/bootstrap.sh" "$@" 2>&1) || code=$?
  calls=$(cat "$work/calls")
  [ "$code" -eq "$expected" ] || complain "exit code $code, not $expected: bootstrap.sh $*"
}
complain() {
  printf '%s\n--- output\n%s\n--- calls\n%s\n' "$1" "$out" "$calls"
  exit 1
}
# has TEXT WORD WHAT
has() {
  case $1 in *"$2"*) ;; *) complain "$3" ;; esac
}

run 2 "" nonsense
has "$out" "usage:" "a word it does not know: no usage"
run 2 "" deps too many
run 2 ""
run 0 "" --help

run 0 "" deps
[ -z "$calls" ] || complain "nothing is missing, and still something was run"

run 1 "libasio-dev ccache" deps
has "$out" "apt-get install --no-install-recommends libasio-dev ccache" "no sudo: no command to copy"
[ -z "$calls" ] || complain "no sudo, and still something was run"

run 0 "clang-format" deps
has "$out" "going on without clang-format" "a package that is only wanted stops it"

tool sudo "$record"
run 0 "libasio-dev openssh-server" deps
has "$out" "installing: libasio-dev openssh-server" "does not say what it installs"
has "$calls" "sudo apt-get update" "no update before an installation"
has "$calls" "sudo env DEBIAN_FRONTEND=noninteractive apt-get install" "not installed through sudo"
has "$calls" " libasio-dev openssh-server" "not just the missing packages installed"
case $calls in *libfmt-dev*) complain "installs what is there" ;; esac
has "$calls" "sudo tee /nonexistent/policy-rc.d" "sshd would start"
has "$calls" "sudo rm -f /nonexistent/policy-rc.d" "services stay forbidden"

# A failed installation fails, and takes back what it forbade.
# shellcheck disable=SC2016
tool sudo "$record"'
[ "$1" != env ]'
run 1 "libasio-dev" deps
has "$calls" "sudo rm -f /nonexistent/policy-rc.d" "services stay forbidden"

# When tests fail, the end of the output says which and how; the exit code is that of ctest.
tool cmake "$record"
# shellcheck disable=SC2016
tool ctest 'log=build/check/Testing/Temporary
echo "ctest says a lot"
[ -n "$FAILED" ] || exit 0
echo "7:unit_core
9:check_format" >"$log/LastTestsFailed.log"
echo "7/120 Testing: unit_core
Command: unit_core
a.cpp:3: Failure
Expected: 1
<end of output>
9/120 Testing: check_format
not formatted: b.cpp
<end of output>
10/120 Testing: unit_base
c.cpp:3: Failure
<end of output>" >"$log/LastTest.log"
exit 8'
mkdir -p "$tree/build/check/Testing/Temporary"
FAILED='' run 0 "" test
case $out in *"what failed"*) complain "tells of failures when there are none" ;; esac
FAILED=yes run 8 "" test
has "$out" "what failed:
  unit_core
    a.cpp:3: Failure
    Expected: 1
  check_format
    9/120 Testing: check_format
    not formatted: b.cpp" "does not say what failed"
case $out in *c.cpp*) complain "tells of a test that did not fail" ;; esac
