#!/bin/sh
# launcher_test.sh ROOT JOBMAN: the launcher of the tarball with this build's jobman and the loader of
# this machine: jobman gets its arguments, and finds itself again to start a controller. Exit code 77:
# this machine has no C compiler that links statically.
set -eu
work=$(mktemp -d)
# A path with a blank, behind a link.
tree="$work/a package"
mkdir -p "$tree/bin" "$tree/lib/jobman" "$work/bin"
export JOBMAN_HOME="$work/home"
leave() {
  "$work/bin/jobman" --quiet controller stop >/dev/null 2>&1 || true
  rm -rf -- "$work"
}
trap leave EXIT

if ! ${CC:-gcc} -std=gnu11 -Wall -Wextra -Werror -Os -static "$1/packaging/launcher.c" \
  -o "$tree/bin/jobman" 2>"$work/said"; then
  grep -q 'cannot find -lc' "$work/said" && exit 77
  cat "$work/said"
  exit 1
fi
loader=$(ldd "$2" | sed -n 's/^[[:space:]]*\(\/[^ ]*\/ld-linux[^ ]*\) (0x.*$/\1/p')
cp -L "$loader" "$tree/lib/jobman/jobman-ld.so"
ln -s "$2" "$tree/lib/jobman/jobman"
ln -s "$tree/bin/jobman" "$work/bin/jobman"

complain() {
  printf '%s\n--- output\n%s\n' "$1" "$out"
  exit 1
}
# run EXPECTED_CODE ARGUMENT...
run() {
  expected=$1
  shift
  code=0
  out=$("$work/bin/jobman" "$@" 2>&1) || code=$?
  [ "$code" -eq "$expected" ] || complain "exit code $code, not $expected: jobman $*"
}
has() { case $out in *"$1"*) ;; *) complain "does not say: $1" ;; esac; }

run 3 show "two words"
has '"two words"'
run 0 --quiet controller start
run 0 controller status --json
process=$(printf '%s\n' "$out" | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p')
out=$(tr '\0' ' ' <"/proc/$process/cmdline")
has "$tree/bin/jobman $tree/lib/jobman/jobman --home $work/home controller run"
out=$(cat "/proc/$process/comm")
[ "$out" = jobman ] || complain "ps shows another name than jobman"
run 0 controller stop

mkdir "$work/a:b"
cp -R "$tree/bin" "$work/a:b/"
code=0
out=$("$work/a:b/bin/jobman" --version 2>&1) || code=$?
has "move the package to another folder"
[ "$code" -eq 70 ] || complain "exit code $code, not 70: in a folder with a colon"
