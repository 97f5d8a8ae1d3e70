#!/bin/sh
# format.sh ROOT: every C++ file of the tree is as clang-format leaves it.
# Exit code 0: yes, 1: no (the files are named), 77: cannot tell here.
set -eu
root=$1

# Other versions format some constructs differently, so only this one may judge.
version=14
format=
for candidate in "clang-format-$version" clang-format; do
  if "$candidate" --version 2>/dev/null | grep -q "version $version\."; then
    format=$candidate
    break
  fi
done
if [ -z "$format" ]; then
  echo "skipped: clang-format $version is not here (apt-get install clang-format-$version)"
  exit 77
fi

cd "$root"
# tests/checks/data is wrong on purpose.
bad=$(find include src tests bench -path tests/checks/data -prune -o \
        \( -name '*.cpp' -o -name '*.hpp' \) -type f -exec \
        "$format" --dry-run -Werror {} + 2>&1 |
      sed -n 's/^\(.*\):[0-9]*:[0-9]*: error: .*/\1/p' | sort -u)
if [ -n "$bad" ]; then
  echo "$bad" | sed "s/\$/: not formatted; run: clang-format -i FILE/"
  exit 1
fi
