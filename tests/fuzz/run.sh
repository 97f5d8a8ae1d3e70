#!/bin/sh
# Fuzzes each target of this folder, as many at once as there are cores, with the stack of a small
# thread. Needs clang with libFuzzer (Debian: clang, libclang-rt-14-dev).
#
#   tests/fuzz/run.sh [SECONDS]   for each target; a minute by default
#
# Exit code 1 after a finding, which is kept in build/fuzz/findings/. What is new in the corpus stays in
# build/fuzz/corpus/. Repeat a finding with build/fuzz/bin/fuzz_NAME FILE, mend it, and keep the file in
# tests/fuzz/corpus/NAME/, which the tests replay.
set -eu
cd "$(dirname "$0")/../.."

fuzz() {
  name=$1 seconds=$2
  mkdir -p "build/fuzz/corpus/$name" build/fuzz/findings
  set -- "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name"
  case $name in
    decoder | redaction) set -- "$@" tests/data/errors ;;
    job_file) set -- "$@" configs ;;
    queue_file) set -- "$@" tests/fuzz/corpus/job_file ;;
  esac
  if prlimit --stack=1048576 "build/fuzz/bin/fuzz_$name" -max_total_time="$seconds" -max_len=8192 \
    -rss_limit_mb=1024 -timeout=10 -artifact_prefix="build/fuzz/findings/$name-" "$@" \
    >"build/fuzz/$name.log" 2>&1; then
    echo "fuzz_$name: $(tail -n 1 "build/fuzz/$name.log")"
  else
    tail -n 60 "build/fuzz/$name.log"
    echo "fuzz_$name: a finding, kept in build/fuzz/findings"
    exit 1
  fi
}

if [ "${1:-}" = --one ]; then
  fuzz "$2" "$3"
  exit
fi
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
for file in tests/fuzz/*_fuzz.cpp; do
  echo --one "$(basename "$file" _fuzz.cpp)" "${1:-60}"
done | xargs -L 1 -P "$(nproc)" tests/fuzz/run.sh
