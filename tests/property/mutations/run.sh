#!/bin/sh
# Shows that the tests find defects: for each mutation in this folder, builds a test in a copy of the
# tree and expects it to fail. unit-MODULE-*: the unit tests of the module, for what the walks meet too
# seldom. controller-*: the walk of the whole controller. tasks-*: that of the task queue. The others: that
# of the reconciler.
#
#   tests/property/mutations/run.sh          build, run and judge all; some minutes
#   tests/property/mutations/run.sh NAME...  only these
#   tests/property/mutations/run.sh --check  whether each still fits the source; what ctest does
#   tests/property/mutations/run.sh --random COUNT [SEED]
#                                            COUNT mutations of src/core at random (mutate.cpp), for its
#                                            unit tests, and for the walk if those pass; 20 s each
#
# JOBMAN_STEPS: length of each walk, 500,000 steps by default. Exit code 1 when one was not caught; with
# --random, when fewer than 95 % were. equivalent.txt lists mutations that change nothing that can
# be observed; they do not count.
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

export JOBMAN_STEPS="${JOBMAN_STEPS:-500000}"
build() { cmake --build build --target "$1" >build.log 2>&1; }
# A mutation may loop without end, or allocate without end.
passes() { prlimit --as=8000000000 timeout 600 "build/bin/$1" --gtest_filter='-*Doc.*' >test.log 2>&1; }
judge() {
  case $1 in
    unit-core-*) program=unit_core ;;
    unit-controller-*) program=unit_controller ;;
    controller-*) program=property_controller ;;
    tasks-*) program=property_tasks ;;
    *) program=property_reconcile ;;
  esac
  build $program || { cat build.log && exit 1; }
  passes $program
}
by() { sed -n 's/^.*JOBMAN_SEED=[0-9]*: //p; s/^\[  FAILED  \] \([^ ,]*\) (.*/\1/p' test.log | head -n 1; }
configure() {
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS='-O1 -g0 -D_GLIBCXX_ASSERTIONS' \
    -DJOBMAN_BENCH=OFF "$@" >cmake.log || { cat cmake.log && exit 1; }
}

random() {
  configure  # each file alone: a mutation then costs one
  build mutate || { cat build.log && exit 1; }
  for program in unit_core property_reconcile; do
    build $program || { cat build.log && exit 1; }
    passes $program || { cat test.log && exit 1; }
  done
  here=$copy/random
  mkdir "$here"
  build/bin/mutate . "$here" "$1" "$2"
  caught=0 survived=0 equivalent=0
  for number in $(seq "$1"); do
    mutation=random-$2-$number
    what=$(head -n 1 "$here/$mutation.patch")
    if grep -Fqx "$(printf %s "$what" | sed 's/:[0-9]*:/:/')" "$top/tests/property/mutations/equivalent.txt"; then
      equivalent=$((equivalent + 1))
      continue
    fi
    apply
    if ! build unit_core; then
      : # it does not compile
    elif ! passes unit_core || { build property_reconcile && ! passes property_reconcile; }; then
      caught=$((caught + 1))
      echo "caught    $mutation: $what: $(by)"
    else
      survived=$((survived + 1))
      echo "SURVIVED  $mutation: $what"
    fi
    apply --reverse
  done
  echo "$caught of $((caught + survived)) caught; left out: $equivalent that change nothing, $(($1 - caught - survived - equivalent)) that do not compile"
  [ $((caught * 100)) -ge $(((caught + survived) * 95)) ]
}
if [ "${1:-}" = --random ]; then
  random "${2:?how many?}" "${3:-1}"
  exit
fi

configure -DCMAKE_UNITY_BUILD=ON
if [ $# -eq 0 ]; then
  for file in "$here"/*.patch; do set -- "$@" "$(basename "$file" .patch)"; done
fi
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
    echo "caught  $mutation: $(by)"
  fi
  apply --reverse
done
exit $missed
