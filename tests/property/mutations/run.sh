#!/bin/sh
# Shows that the tests find defects: for each mutation in this folder, builds a test in a copy of the
# tree and expects it to fail. unit-MODULE-*: the unit tests of the module, for what the walks meet too
# seldom. controller-*: the walk of the whole controller. The others: that of the reconciler.
#
#   tests/property/mutations/run.sh          build, run and judge all; some minutes
#   tests/property/mutations/run.sh NAME...  only these
#   tests/property/mutations/run.sh --check  whether each still fits the source; what ctest does
#
# JOBMAN_STEPS: length of each walk, 500,000 steps by default. Exit code 1 when one was not caught.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$top"
cp -r CMakeLists.txt src include tests "$copy"
cd "$copy"

apply() { patch --quiet --strip=1 "$@" <"$here/$mutation.patch"; }

command -v patch >/dev/null || { echo "needs the program patch"; exit 77; }
if [ "${1:-}" = --check ]; then
  for file in "$here"/*.patch; do
    mutation=$(basename "$file" .patch)
    apply --dry-run || { echo "the mutation $mutation does not fit the source any more" && exit 1; }
  done
  exit 0
fi

if [ $# -eq 0 ]; then
  for file in "$here"/*.patch; do set -- "$@" "$(basename "$file" .patch)"; done
fi
export JOBMAN_STEPS="${JOBMAN_STEPS:-500000}"
judge() {
  case $1 in
    unit-core-*) program=unit_core ;;
    unit-controller-*) program=unit_controller ;;
    controller-*) program=property_controller ;;
    *) program=property_reconcile ;;
  esac
  cmake --build build --target $program >build.log 2>&1 || { cat build.log && exit 1; }
  build/bin/$program --gtest_filter='-*Doc.*' >test.log 2>&1
}
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS='-O1 -g0' \
  -DCMAKE_UNITY_BUILD=ON -DJOBMAN_BENCH=OFF >cmake.log || { cat cmake.log && exit 1; }
for prefix in reconciler- controller- unit-core- unit-controller-; do
  judge $prefix || { cat test.log && echo 'a test fails without any mutation' && exit 1; }
done

missed=0
for mutation in "$@"; do
  apply
  if judge "$mutation"; then
    echo "MISSED  $mutation: $(head -n 1 "$here/$mutation.patch")"
    missed=1
  else
    by=$(sed -n 's/^.*JOBMAN_SEED=[0-9]*: //p; s/^\[  FAILED  \] \([^ ,]*\) (.*/\1/p' test.log | head -n 1)
    echo "caught  $mutation: $by"
  fi
  apply --reverse
done
exit $missed
