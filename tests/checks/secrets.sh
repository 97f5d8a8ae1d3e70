#!/bin/sh
# secrets.sh ROOT: no private key lies in the tree, but for those of tests. Exit code 0: none, 1: some.
set -u
cd "$1" || exit 2
found=$(grep -rlE '^-----BEGIN [A-Z ]*PRIVATE KEY-----' . \
  --exclude-dir=build --exclude-dir=.git --exclude-dir=tests)
[ -n "$found" ] || exit 0
echo "$found" | sed 's|^\./||; s|$|: a private key: it must not be committed|'
exit 1
