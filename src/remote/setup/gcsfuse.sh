# shellcheck shell=sh disable=SC2015,SC2034,SC2088,SC2154
# gcsfuse: buckets of Cloud Storage as folders. What is mounted where is read from the kernel's table,
# which never hangs; a mount whose gcsfuse died or hangs is only touched with a limit. With which flags
# is in a stamp, ~/.jobman/mounts/HOST/BOOT.FOLDER: hosts may share the home folder.
#
# Variables: JOBMAN_GCSFUSE_DEB (a package to install instead of Google's: a file of the host, or a
# URL), GOOGLE_APPLICATION_CREDENTIALS (for gcsfuse), and of tests JOBMAN_TOUCH_S.

jb_touch_s=${JOBMAN_TOUCH_S:-20} # for a look into a folder, or to unmount it
jb_mount_s=120               # for gcsfuse to mount
jb_download_s=300            # for one download
jb_script_s=3600             # for cache.prefix
jb_net_words='no such host|connection (refused|reset)|i/o timeout|deadline exceeded|handshake timeout'
jb_net_words="$jb_net_words|network is unreachable|name resolution|error (429|5[0-9][0-9])"
jb_google_apt=https://packages.cloud.google.com/apt

# jb_mount BUCKET FOLDER user|everyone CACHE_FOLDER PREFIX FLAG...: mounts the bucket there unless it
# is, with these flags. everyone: root in a container must see it.
jb_mount() {
  jb_bucket=$1 jb_who=$3 jb_cache=$(jb_tilde "$4") jb_prefix=$5
  jb_set_folder "$(jb_tilde "$2")"
  shift 5
  [ -z "$jb_cache" ] || set -- "$@" "--cache-dir=$jb_cache"
  jb_flags="$jb_who $*"
  jb_keep_or_free && return
  jb_need_gcsfuse
  jb_prepare_folder
  jb_run_prefix
  [ -z "$jb_cache" ] || jb_make_folder "$jb_cache" gcsfuse.cache.dir
  jb_choose_user
  jb_fetch "mounting gs://$jb_bucket" jb_start_gcsfuse "$@"
  jb_find_mount || jb_fail "gcsfuse said that gs://$jb_bucket is mounted, but $jb_folder is no mount point"
  jb_write_stamp
  jb_say "mounted gs://$jb_bucket on $jb_folder"
}

# A folder for what lives as long as the step.
jb_need_temp() {
  [ -z "${jb_temp:-}" ] || return 0
  jb_temp=$(mktemp -d) || jb_fail 'cannot write to the folder for temporary files: is the disk full?'
  trap 'rm -rf "$jb_temp"' EXIT
}

# --- What is there ---

jb_tilde() {
  case $1 in
    '~') printf '%s' "$HOME" ;;
    '~/'*) printf '%s/%s' "$HOME" "${1#'~/'}" ;;
    *) printf '%s' "$1" ;;
  esac
}

# jb_set_folder PATH: sets jb_folder to the path as the kernel's table has it, without touching what
# is mounted there, and jb_stamp.
jb_set_folder() {
  jb_parent=$(jb_limit "$jb_touch_s" readlink -f "$(dirname "$1")") || jb_parent=$(dirname "$1")
  jb_folder=${jb_parent%/}/$(basename "$1")
  if ! jb_find_mount && [ -L "$jb_folder" ]; then
    jb_folder=$(jb_limit "$jb_touch_s" readlink -f "$jb_folder") || jb_fail "$1 is a link to nowhere"
  fi
  jb_boot=''
  read -r jb_boot 2>/dev/null <"${JOBMAN_BOOT_ID_FILE:-/proc/sys/kernel/random/boot_id}"
  jb_stamp=$HOME/.jobman/mounts/$(uname -n)/$jb_boot.$(printf '%s' "$jb_folder" | cksum | tr ' ' -)
}

# Whether something is mounted on jb_folder. Sets jb_type, jb_source, jb_options and jb_device of
# what was mounted there last.
jb_find_mount() {
  jb_type='' jb_source='' jb_options='' jb_device=''
  jb_wanted=$(printf '%s' "$jb_folder" | sed 's/\\/\\134/g; s/ /\\040/g')
  while read -r jb_rest jb_rest jb_number jb_rest jb_where jb_more; do
    [ "$jb_where" = "$jb_wanted" ] || continue
    jb_device=$jb_number
    jb_more=${jb_more#*"- "}
    jb_type=${jb_more%% *} jb_more=${jb_more#* }
    jb_source=${jb_more%% *} jb_options=${jb_more#* }
  done </proc/self/mountinfo
  [ -n "$jb_type" ]
}

# Whether what is mounted there may stay. Unmounts what is dead or has other flags; ends the step if
# it is not ours to unmount. Mounts may lie on one another.
jb_keep_or_free() {
  for jb_round in 1 2 3 4 5 6 7 8 9; do
    jb_find_mount || return 1
    case $jb_type in
      fuse.gcsfuse) jb_source=${jb_source##*/} ;; # some versions say gs://BUCKET
      *) jb_taken "$jb_source ($jb_type)" ;;
    esac
    jb_look_inside
    case $jb_seen in
      dead)
        jb_say "gcsfuse of $jb_folder has died; mounting it anew"
        jb_unmount && continue
        jb_unmount lazily || jb_fail "cannot unmount $jb_folder, whose gcsfuse has died: reboot the host"
        ;;
      *)
        [ "$jb_source" = "$jb_bucket" ] || jb_taken "gs://$jb_source"
        jb_fits && return
        jb_say "gs://$jb_bucket is mounted on $jb_folder with other flags; mounting it anew"
        jb_unmount || jb_fail "cannot unmount $jb_folder, which is mounted with other flags and in use:" \
          "stop what uses it (fuser -vm $jb_folder), or restore the section gcsfuse"
        ;;
    esac
  done
  jb_fail "too many mounts lie on $jb_folder: reboot the host"
}

jb_taken() {
  jb_fail "$jb_folder is in use: $1 is mounted there, not gs://$jb_bucket. Name another folder in" \
    "gcsfuse.mount_path, or unmount it on the hosts: sudo umount $jb_folder"
}

# Sets jb_seen: fine, closed (it is another user's alone) or dead. A dead one may still have attributes
# in the kernel's cache, so gcsfuse is asked what is never cached.
jb_look_inside() {
  jb_seen=dead
  jb_limit "$jb_touch_s" stat -f "$jb_folder" >/dev/null 2>&1 || return 0
  jb_seen=fine
  jb_error=$(jb_limit "$jb_touch_s" env LC_ALL=C ls -d "$jb_folder/." 2>&1 >/dev/null) && return
  case $jb_error in
    *'ermission denied'*) jb_seen=closed ;;
    *) jb_seen=dead ;;
  esac
}

# Whether the mount is the one that is wanted. One that others made stays as it is, unless it is of no
# use here.
jb_fits() {
  case $(cat "$jb_stamp" 2>/dev/null) in
    "$jb_device $jb_bucket $jb_flags")
      jb_say "gs://$jb_bucket is mounted on $jb_folder already"
      return
      ;;
    "$jb_device "*) return 1 ;;
  esac
  case $jb_seen,$jb_who,$jb_options, in
    closed,*) jb_taken "gs://$jb_source, for another user alone," ;;
    *,user,* | *,everyone,*,allow_other,*) ;;
    *) return 1 ;;
  esac
  jb_say "gs://$jb_bucket is mounted on $jb_folder already, not by jobman: with its flags of then"
}

# A stamp of another boot is of no use any more. Without a stamp the mount counts as another's.
jb_write_stamp() {
  jb_stamps=${jb_stamp%/*}
  (umask 077 && mkdir -p "$jb_stamps") && jb_new=$(mktemp "$jb_stamps/.new.XXXXXX") || return 0
  printf '%s\n' "$jb_device $jb_bucket $jb_flags" >"$jb_new" && mv -f "$jb_new" "$jb_stamp"
  for jb_old in "$jb_stamps"/*; do
    case ${jb_old##*/} in
      "$jb_boot."*) ;;
      *) rm -f "$jb_old" ;;
    esac
  done
}

# jb_unmount [lazily]: as the user who may have mounted it, else as root.
jb_unmount() {
  jb_tool=$(command -v fusermount3 || command -v fusermount || echo false)
  jb_limit "$jb_touch_s" "$jb_tool" "-u${1:+z}" "$jb_folder" 2>/dev/null && return
  jb_can_be_root || return 1
  # shellcheck disable=SC2086
  jb_root timeout -k 10 "$jb_touch_s" umount ${1:+-l} "$jb_folder" 2>/dev/null
}

# --- The program ---

jb_need_gcsfuse() {
  jb_has gcsfuse && return
  jb_say 'installing gcsfuse'
  jb_has apt-get || jb_fail 'install gcsfuse on the hosts: there is no apt-get'
  jb_can_be_root || jb_fail 'install gcsfuse on the hosts: this user may not (no sudo)'
  if [ -n "${JOBMAN_GCSFUSE_DEB:-}" ]; then
    jb_install_package "$JOBMAN_GCSFUSE_DEB"
  else
    jb_add_repository
    jb_install gcsfuse
  fi
  jb_has gcsfuse || jb_fail 'the package was installed, but there is no program gcsfuse on PATH'
}

# jb_download URL FILE: ends with 3 if the server answers that there is no such file.
jb_download() {
  if ! jb_has curl; then
    jb_limit "$jb_download_s" wget -q -T 30 -t 1 -O "$2" "$1"
    return
  fi
  jb_answer=$(curl -fsSL --connect-timeout 30 -m "$jb_download_s" -o "$2" -w '%{http_code}' "$1") &&
    return
  case $jb_answer in
    40[134] | 410) jb_say "$jb_if_missing ($1: HTTP status $jb_answer)" && return 3 ;;
  esac
  return 1
}

# jb_fetch_file URL NAME IF_MISSING: downloads it to a file, which jb_got names. If there is none, the
# step ends with the sentence IF_MISSING.
jb_fetch_file() {
  jb_need_temp
  jb_got=$jb_temp/$2 jb_if_missing=$3
  jb_has curl || jb_has wget || jb_install curl ca-certificates
  jb_fetch "fetching $1" jb_download "$1" "$jb_got"
}

# The repository is added once it is known to exist: one that does not would break apt-get update.
jb_add_repository() {
  jb_release=$(lsb_release -c -s 2>/dev/null || sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  jb_release=gcsfuse-$jb_release
  jb_none='Google has no gcsfuse for this system: name a package in the variable JOBMAN_GCSFUSE_DEB'
  jb_fetch_file "$jb_google_apt/dists/$jb_release/InRelease" release "$jb_none"
  jb_fetch_file "$jb_google_apt/doc/apt-key.gpg" key "$jb_none"
  jb_key=/usr/share/keyrings/cloud.google.gpg
  [ "$(head -c 5 "$jb_got" | tr -d '\0')" != ----- ] || jb_key=/usr/share/keyrings/cloud.google.asc
  jb_root install -D -m 644 "$jb_got" "$jb_key" &&
    printf 'deb [signed-by=%s] %s %s main\n' "$jb_key" "$jb_google_apt" "$jb_release" >"$jb_temp/list" &&
    jb_root install -D -m 644 "$jb_temp/list" /etc/apt/sources.list.d/gcsfuse.list ||
    jb_fail 'cannot add the repository of gcsfuse: is the disk full?'
}

# jb_install_package FILE|URL
jb_install_package() {
  case $1 in
    http://* | https://*) jb_fetch_file "$1" gcsfuse.deb 'JOBMAN_GCSFUSE_DEB: it is not there' ;;
    *) jb_got=$(jb_tilde "$1") ;;
  esac
  [ -r "$jb_got" ] || jb_fail "JOBMAN_GCSFUSE_DEB: there is no file $jb_got on the host"
  dpkg-deb -f "$jb_got" Package >/dev/null || jb_fail "JOBMAN_GCSFUSE_DEB: $1 is not a Debian package"
  jb_fetch "installing $1" jb_apt_get install --no-install-recommends "$(readlink -f "$jb_got")"
}

# --- The mount ---

# jb_make_folder FOLDER KEY: creates it, as root where the user may not; then it is the user's.
jb_make_folder() {
  [ ! -d "$1" ] || return 0
  [ ! -e "$1" ] || jb_fail "$1 is a file: name a folder in $2"
  mkdir -p "$1" 2>/dev/null && return
  jb_can_be_root && jb_root mkdir -p "$1" && jb_root chown "$(id -u):$(id -g)" "$1" ||
    jb_fail "cannot create the folder $1: name one in the home folder in $2"
}

# The folder for the mount: there, empty and the user's, as fusermount wants it.
jb_prepare_folder() {
  jb_make_folder "$jb_folder" gcsfuse.mount_path
  jb_found=$(jb_limit "$jb_touch_s" ls -A "$jb_folder" 2>/dev/null || jb_root ls -A "$jb_folder") ||
    jb_fail "cannot look into $jb_folder: name another folder in gcsfuse.mount_path"
  jb_found=$(printf '%s' "$jb_found" | head -n 3 | tr '\n' ' ')
  [ -z "$jb_found" ] || jb_fail "$jb_folder is not empty (it holds ${jb_found% }). Name another folder" \
    'in gcsfuse.mount_path, or move what is there'
  [ -w "$jb_folder" ] || { jb_can_be_root && jb_root chown "$(id -u):$(id -g)" "$jb_folder"; } ||
    jb_fail "$jb_folder is not this user's: name another folder in gcsfuse.mount_path"
}

# cache.prefix, in a shell of its own: the one that runs the commands of jobs.
jb_run_prefix() {
  [ -n "$jb_prefix" ] || return 0
  jb_limit "$jb_script_s" "$(command -v bash || command -v sh)" -c "$jb_prefix" </dev/null ||
    jb_fail "gcsfuse.cache.prefix of gs://$jb_bucket failed ($?), so it was not mounted"
}

jb_may_share() { grep -qs '^[[:space:]]*user_allow_other' /etc/fuse.conf; }

# Sets jb_as (who mounts) and jb_share (whether others see it).
jb_choose_user() {
  jb_as=user jb_share=''
  if [ "$(id -u)" = 0 ] || jb_may_share; then jb_share=yes; fi
  [ "$jb_who" = everyone ] || return 0
  if jb_can_be_root; then
    jb_as=root jb_share=yes
  elif [ -z "$jb_share" ]; then
    jb_fail "the container could not see $jb_folder: this user has no sudo, and /etc/fuse.conf does not" \
      'say user_allow_other'
  fi
}

# jb_start_gcsfuse FLAG...: for jb_fetch. Flags that an older gcsfuse does not know are left out.
jb_start_gcsfuse() {
  while :; do
    jb_call_gcsfuse "$@" && return
    jb_refused=$(sed -n 's/.*unknown flag: --\([a-z-]*\).*/\1/p
      s/.*flag provided but not defined: -*\([a-z-]*\).*/\1/p' "$jb_log" | head -n 1)
    jb_count=$#
    for jb_flag in "$@"; do
      shift
      [ "${jb_flag%%=*}" = "--$jb_refused" ] || set -- "$@" "$jb_flag"
    done
    [ $# -lt "$jb_count" ] || break
    jb_say "this gcsfuse does not know --$jb_refused: mounting without it"
  done
  # It may have got there after its time was over.
  jb_find_mount && [ "${jb_source##*/}" = "$jb_bucket" ] && return
  jb_explain
}

# jb_call_gcsfuse FLAG...: what it prints is in the file jb_log. It stays when the step has ended, so
# nothing may count it as a process of the run.
jb_call_gcsfuse() {
  jb_need_temp
  jb_log=$jb_temp/log
  [ -z "$jb_share" ] || set -- -o allow_other "$@"
  set -- timeout -k 10 "$jb_mount_s" "$(command -v gcsfuse)" "$@" "$jb_bucket" "$jb_folder"
  (
    unset JOBMAN_RUN_DIR JOBMAN_RUN_ID JOBMAN_NOTICE_FILE
    cd / || exit 1
    if [ "$jb_as" = root ]; then
      jb_credentials=GOOGLE_APPLICATION_CREDENTIALS
      jb_root env ${GOOGLE_APPLICATION_CREDENTIALS:+"$jb_credentials=$GOOGLE_APPLICATION_CREDENTIALS"} "$@"
    else
      "$@"
    fi
  ) >"$jb_log" 2>&1 </dev/null
  jb_ended=$?
  return $jb_ended
}

jb_log_has() { grep -qiE -e "$1" "$jb_log"; }

# Says why gcsfuse failed. Returns if the network may be at fault, else ends the step.
jb_explain() {
  tail -n 8 "$jb_log" | cut -c1-800
  if [ "$jb_ended" = 124 ] || [ "$jb_ended" = 137 ] || jb_log_has "$jb_net_words"; then return 1; fi
  if jb_log_has "bucket doesn't exist|bucket does not exist|unknown bucket|error 404"; then
    jb_fail "there is no bucket $jb_bucket, or the hosts may not see it: check gcsfuse.bucket_name"
  elif jb_log_has 'error 40[13]|bad credentials|permissiondenied|does not have storage'; then
    jb_fail "the hosts' service account may not use gs://$jb_bucket: give it the role" \
      'roles/storage.objectUser there; the slice needs the scope cloud-platform'
  elif jb_log_has 'find default credentials'; then
    jb_fail "the host has no credentials for gs://$jb_bucket: give the slice a service account"
  elif jb_log_has 'fuse device not found|/dev/fuse|executable file not found'; then
    jb_fail 'the host cannot mount: it lacks /dev/fuse or fusermount (the package fuse)'
  fi
  jb_fail "gcsfuse could not mount gs://$jb_bucket on $jb_folder; its last lines are above"
}
