#!/bin/sh
# Shows that the random walks find defects: for each mutation in this folder, builds a walk in a copy of
# the tree and expects it to fail. The walk is that of the whole controller for controller-*, and that
# of the reconciler for the others.
#
#   tests/property/mutations/run.sh          build, walk and judge all; some minutes
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
walk() {
  case $1 in
    controller-*) program=property_controller ;;
    *) program=property_reconcile ;;
  esac
  cmake --build build --target $program >build.log 2>&1 || { cat build.log && exit 1; }
  build/bin/$program --gtest_filter='-StatesDoc.*' >walk.log 2>&1
}
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS='-O1 -g0' \
  -DCMAKE_UNITY_BUILD=ON -DJOBMAN_BENCH=OFF >cmake.log || { cat cmake.log && exit 1; }
for prefix in reconciler- controller-; do
  walk $prefix || { cat walk.log && echo 'the walk fails without any mutation' && exit 1; }
done

missed=0
for mutation in "$@"; do
  apply
  if walk "$mutation"; then
    echo "MISSED  $mutation: $(head -n 1 "$here/$mutation.patch")"
    missed=1
  else
    echo "caught  $mutation: $(sed -n 's/^.*JOBMAN_SEED=[0-9]*: //p' walk.log | head -n 1)"
  fi
  apply --reverse
done
exit $missed
