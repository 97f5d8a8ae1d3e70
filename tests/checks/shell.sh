#!/bin/sh
# shell.sh ROOT: the tree's shell scripts parse, and shellcheck, where it is installed, has nothing
# to say. Exit code 0: yes, 1: no.
set -eu
cd "$1"
failed=0

scripts=$(find bootstrap.sh src tests packaging .ci \( -path tests/checks/data -prune \) -o \
            -type f \( -name '*.sh' -o -path '.ci/*' \) -print 2>/dev/null | sort)
if [ -z "$scripts" ]; then
  echo "no shell scripts found"
  exit 1
fi

# One name a line: none of ours has a blank, and the root may have.
IFS='
'
for script in $scripts; do
  case $(head -n 1 "$script") in
    *bash*) language="bash" ;;
    *) language="sh" ;;
  esac
  "$language" -n "$script" 2>/dev/null || { echo "$script: does not parse"; failed=1; continue; }
  if command -v shellcheck >/dev/null 2>&1; then
    # SC2317 takes a function that only a trap calls for unreachable. What a script sources is read,
    # too, with its own folder as the place of it.
    shellcheck --exclude=SC2317 --shell="$language" --format=gcc --external-sources \
      --source-path=SCRIPTDIR "$script" || failed=1
  fi
done
exit "$failed"
