#!/bin/sh
# The tests never touch the caller's own home. ctest runs them with HOME set to an empty folder, which
# stays empty; whoever ignores HOME finds the home of the account, where no folder of jobman appears.
#
#   home.sh prepare HOME   empties it, and notes what the home of the account has already
#   home.sh check HOME     prints what the tests have put there since. Exit code 0: nothing, 1: something
set -eu
home=$2
before=$home.before
account=$(getent passwd "$(id -u)" | cut -d: -f6)

of_account() {
  for folder in .local/state/jobman .config/jobman; do
    [ -z "$account" ] || [ ! -e "$account/$folder" ] || echo "$folder"
  done
}

if [ "$1" = prepare ]; then
  rm -rf "$home"
  mkdir -p "$home"
  of_account >"$before"
  exit 0
fi

failed=0
for found in $(cd "$home" && find . -mindepth 1 -print | LC_ALL=C sort); do
  echo "in the caller's home: ${found#./}"
  failed=1
done
[ -e "$before" ] || exit "$failed"
for folder in $(of_account); do
  grep -qx -e "$folder" "$before" || { echo "in the home of the account: $folder"; failed=1; }
done
exit "$failed"
