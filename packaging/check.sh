#!/bin/sh
# check.sh OUT: tries the packages in the folder OUT. The tarball runs in a root folder that holds
# nothing else, without a shell or a library of this machine, and is installed and removed by its
# install.sh; the .deb is unpacked and installed into a folder.
set -eu
out=$(CDPATH='' cd -- "$1" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 130' INT TERM HUP

say() { printf 'check: %s\n' "$*"; }
fail() {
  printf 'check: %s\n--- output\n%s\n' "$1" "${said:-}" >&2
  exit 1
}
# newest PATTERN: the newest file of the folder.
newest() {
  # shellcheck disable=SC2012,SC2086  # names of ours, by a pattern
  found=$(cd "$out" && ls -t $1 2>/dev/null | head -n 1)
  [ -n "$found" ] || fail "there is no $out/$1"
  printf '%s\n' "$out/$found"
}

tarball=$(newest 'jobman-*.tar.gz')
deb=$(newest 'jobman_*.deb')
bare="$work/root"
mkdir -p "$bare/opt/a place" "$bare/proc" "$bare/dev" "$bare/home" "$bare/tmp"
tar -xzf "$tarball" -C "$bare/opt/a place"
folder="/opt/a place/$(basename "$tarball" .tar.gz)"

# bare ARGUMENT...: jobman in the root folder with nothing else: no /bin/sh, no /lib, no /etc.
bare() {
  if command -v bwrap >/dev/null 2>&1; then
    bwrap --bind "$bare" / --proc /proc --dev-bind /dev/null /dev/null --unshare-net --clearenv \
      --setenv HOME /home --setenv JOBMAN_TRACE "$TRACE" --setenv GOOGLE_OAUTH_ACCESS_TOKEN none --chdir / "$folder/bin/jobman" "$@"
  elif [ "$(id -u)" -eq 0 ]; then
    # shellcheck disable=SC2016  # for the inner shell
    unshare -m -n sh -c 'root=$1; shift; mount -t proc none "$root/proc"; : >"$root/dev/null"
      mount --bind /dev/null "$root/dev/null"; exec env -i HOME=/home JOBMAN_TRACE="$TRACE" GOOGLE_OAUTH_ACCESS_TOKEN=none chroot "$root" "$@"' \
      sh "$bare" "$folder/bin/jobman" "$@"
  else
    fail "the tarball cannot be tried: install bubblewrap, or be root"
  fi
}
# tries EXPECTED_CODE WORDS ARGUMENT...: what it says holds the words.
tries() {
  expected=$1
  words=$2
  shift 2
  code=0
  said=$(bare "$@" 2>&1) || code=$?
  [ "$code" -eq "$expected" ] || fail "exit code $code, not $expected: jobman $*"
  case $said in *"$words"*) ;; *) fail "jobman $* does not say: $words" ;; esac
}

export TRACE=
tries 0 "jobman " --version
tries 0 "" config check "$folder/share/jobman/configs/quickstart.yaml"
tries 0 "" list
# It starts itself again, in the background.
tries 0 "the controller is running" controller start
tries 0 "the controller is stopped" controller stop
tries 0 "" __man
# Without certificates of the system those of the package are taken.
TRACE=http
tries 75 "$folder/share/jobman/ca-certificates.crt" --verbose gc --no-hosts --only --project p \
  --zone us-central2-b --endpoint https://127.0.0.1:9
TRACE=
say "the tarball runs in a folder of its own"

for file in share/man/man1/jobman.1 share/bash-completion/completions/jobman \
  share/zsh/site-functions/_jobman share/fish/vendor_completions.d/jobman.fish \
  share/bash-completion/completions/jobman-sim share/zsh/site-functions/_jobman-sim \
  share/fish/vendor_completions.d/jobman-sim.fish \
  share/doc/jobman/licences/libc6 share/doc/jobman/docs/guide/job-file.md; do
  [ -s "$bare$folder/$file" ] || fail "the tarball has no $file"
done

documents="$bare$folder/share/doc/jobman"
find "$documents" -name '*.md' | while IFS= read -r page; do
  grep -oE '\]\([A-Za-z0-9._/-]+[)#]' "$page" | tr -d '])(#' | while IFS= read -r link; do
    [ -e "${page%/*}/$link" ] || echo "${page#"$documents/"}: $link"
  done
done >"$work/broken"
[ ! -s "$work/broken" ] || fail "links of the documents lead nowhere: $(cat "$work/broken")"

mkdir "$work/user"
env -u PREFIX HOME="$work/user" "$bare$folder/install.sh" >"$work/said" || fail "$(cat "$work/said")"
said=$("$work/user/.local/bin/jobman" --version) || fail "the installed program does not run"
env -u PREFIX HOME="$work/user" "$bare$folder/install.sh" --uninstall >"$work/said" || fail "$(cat "$work/said")"
[ -z "$(find "$work/user" ! -type d)" ] || fail "files are left: $(find "$work/user" ! -type d)"
say "install.sh installs and removes it"

dpkg-deb -x "$deb" "$work/deb"
said=$("$work/deb/usr/bin/jobman" --version) || fail "the program of the .deb does not run here"
(cd "$work/deb" && dpkg-deb -I "$deb" md5sums | md5sum --quiet -c -) || fail "the sums of the .deb are wrong"
said=$(dpkg-deb -f "$deb" Depends)
for library in libc6 libcurl libssh libssl; do
  case $said in *"$library"*) ;; *) fail "the .deb does not depend on $library" ;; esac
done
db="$work/dpkg"
mkdir -p "$db/var/lib/dpkg/info" "$db/var/lib/dpkg/updates" "$db/var/log"
: >"$db/var/lib/dpkg/status"
# dpkg asks for programs that are not in the PATH of Debian's ordinary users.
said=$(PATH="$PATH:/usr/sbin:/sbin" dpkg --root="$db" --force-not-root --force-depends --no-triggers -i "$deb" 2>&1) ||
  fail "dpkg does not install it"
for file in bin/jobman bin/jobman-sim share/man/man1/jobman.1.gz; do
  [ -s "$db/usr/$file" ] || fail "dpkg does not install usr/$file"
done
say "dpkg installs the .deb"
