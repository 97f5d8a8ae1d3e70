#!/bin/sh
# install_test.sh ROOT: packaging/install.sh with packages that are stand-ins: installs, repeats,
# upgrades while the old version runs, refuses, uninstalls. Nothing outside a temporary folder is
# touched.
set -eu
install="$1/packaging/install.sh"
work=$(mktemp -d)
runs=
leave() {
  [ -z "$runs" ] || kill "$runs" 2>/dev/null || true
  rm -rf -- "$work"
}
trap leave EXIT
# A path with a blank, as home folders may have.
home="$work/a home"
mkdir -p "$home"
prefix="$home/.local"

# package ID: the folder of a package, unpacked. Its program only prints its version.
package() {
  tree="$work/from/jobman-$1"
  mkdir -p "$tree/bin" "$tree/lib/jobman" "$tree/share/jobman" "$tree/share/man/man1" \
    "$tree/share/zsh/site-functions"
  printf '#!/bin/sh\necho jobman %s\n' "$1" >"$tree/bin/jobman"
  chmod +x "$tree/bin/jobman"
  cp "$(command -v sleep)" "$tree/lib/jobman/runs"
  echo "$1" >"$tree/share/jobman/build-id"
  echo "page of $1" >"$tree/share/man/man1/jobman.1"
  for program in jobman jobman-sim; do
    echo "#compdef $program" >"$tree/share/zsh/site-functions/_$program"
  done
  cp "$install" "$tree/install.sh"
}

complain() {
  printf '%s\n--- output\n%s\n--- files\n' "$1" "$out"
  find "$home"
  exit 1
}
# run EXPECTED_CODE COMMAND...: leaves the output in $out.
run() {
  expected=$1
  shift
  code=0
  out=$(env -u PREFIX HOME="$home" PATH="${MORE_PATH:-}$PATH" "$@" 2>&1) || code=$?
  [ "$code" -eq "$expected" ] || complain "exit code $code, not $expected: $*"
}
has() { case $out in *"$1"*) ;; *) complain "does not say: $1" ;; esac; }
hasnt() { case $out in *"$1"*) complain "says: $1" ;; esac; }
version() { run 0 "$prefix/bin/jobman" && has "jobman $1"; }

package 1-aaaa
package 2-bbbb
package 3-cccc
package 4-dddd

run 2 "$install" --nonsense
run 1 "$install"
has "is not the package of jobman"
run 0 "$install" --uninstall
has "nothing is installed"

run 0 "$work/from/jobman-1-aaaa/install.sh"
has "jobman 1-aaaa is installed: $prefix/bin/jobman"
has "export PATH=\"$prefix/bin:"
version 1-aaaa
[ "$(cat "$prefix/share/man/man1/jobman.1")" = "page of 1-aaaa" ] || complain "no man page"
for program in jobman jobman-sim; do
  [ -f "$prefix/share/zsh/site-functions/_$program" ] || complain "no completion of $program"
done
MORE_PATH="$prefix/bin:" run 0 "$work/from/jobman-1-aaaa/install.sh"
has "is there already"
hasnt "export PATH"

# While the old version runs, from a tarball: its files stay, and so do those of the version before.
"$prefix/lib/jobman/1-aaaa/lib/jobman/runs" 1000 &
runs=$!
tar -czf "$work/two.tar.gz" -C "$work/from" jobman-2-bbbb
run 0 "$install" "$work/two.tar.gz"
has "process $runs still is the version before"
version 2-bbbb
run 0 "$work/from/jobman-3-cccc/install.sh"
has "kept, since process $runs uses it: $prefix/lib/jobman/1-aaaa"
version 3-cccc
[ -d "$prefix/lib/jobman/2-bbbb" ] || complain "the version before is gone"
run 1 "$install" --uninstall
has "jobman is running: process $runs"
version 3-cccc
kill "$runs"
wait "$runs" 2>/dev/null || true
runs=
run 0 "$work/from/jobman-4-dddd/install.sh"
out=$(ls -A "$prefix/lib/jobman")
[ "$out" = "3-cccc
4-dddd" ] || complain "not the present version and the one before"

# A package that does not run changes nothing.
package 5-eeee
printf '#!/bin/sh\nexit 1\n' >"$work/from/jobman-5-eeee/bin/jobman"
run 1 "$work/from/jobman-5-eeee/install.sh"
has "jobman does not run from"
version 4-dddd
out=$(ls -A "$prefix/lib/jobman")
[ "$out" = "3-cccc
4-dddd" ] || complain "something is left of a package that does not run"

# Nor does one that would replace somebody else's file.
other="$work/other"
mkdir -p "$other/bin"
echo mine >"$other/bin/jobman"
run 1 "$work/from/jobman-4-dddd/install.sh" --prefix "$other"
has "$other/bin/jobman is not from this installer"
[ "$(cat "$other/bin/jobman")" = mine ] || complain "somebody else's file was replaced"
run 1 "$work/from/jobman-4-dddd/install.sh" --prefix "$work/a:b"
has "in a folder with"

run 0 "$install" --uninstall
has "jobman is removed from"
out=$(find "$prefix" ! -type d)
[ -z "$out" ] || complain "files are left"
