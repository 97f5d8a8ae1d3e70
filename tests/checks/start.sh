#!/bin/sh
# start.sh PROGRAM: the loader finds what PROGRAM needs, SQLite among it, but no library that is opened
# when it is needed (docs/adr/0033-curl-when-needed.md). Exit code 0: so it is, 1: not.
set -u
name=$(basename "$1")
if ! loaded=$(LD_TRACE_LOADED_OBJECTS=1 "$1" 2>&1); then
  echo "$name: the loader cannot start it"
  exit 1
fi
case $loaded in
*'not found'*)
  echo "$name: a library is missing"
  exit 1
  ;;
esac
for late in libcurl libssh libcrypto libkrb5; do
  case $loaded in
  *$late.so*)
    echo "$name: $late is loaded at each start"
    exit 1
    ;;
  esac
done
case $loaded in
*libsqlite3.so*) ;;
*)
  echo "$name: SQLite is not among what it loads: is this jobman, and does it start?"
  exit 1
  ;;
esac
