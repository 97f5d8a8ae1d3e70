#!/bin/sh
# expect_findings.sh EXPECTED COMMAND...: a check that cannot fail is none. Runs COMMAND on a tree
# that is wrong on purpose: it must exit with 1 and print just the lines of the file EXPECTED, in
# any order. Exit code 77, "cannot tell here", is passed on.
set -u
expected=$1
shift
out=$("$@" 2>&1)
code=$?
if [ "$code" -eq 77 ]; then
  echo "$out"
  exit 77
fi
if [ "$code" -ne 1 ]; then
  echo "exit code $code where 1 was expected; it printed:"
  echo "$out"
  exit 1
fi
if [ "$(echo "$out" | LC_ALL=C sort)" != "$(LC_ALL=C sort "$expected")" ]; then
  echo "expected:"
  cat "$expected"
  echo "printed:"
  echo "$out"
  exit 1
fi
