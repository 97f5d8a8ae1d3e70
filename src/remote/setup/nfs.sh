# shellcheck shell=sh disable=SC2015,SC2034,SC2088,SC2154
# nfs: a folder that all hosts share. Host 0 exports it from its disk to the others, or all mount a
# folder of another server. Variables that tests set: JOBMAN_NFS_WAIT_S, JOBMAN_EXPORTS.

jb_nfs_wait_s=${JOBMAN_NFS_WAIT_S:-1800} # for the server: host 0 may be installing it
jb_nfs_limit_s=30                        # for a call about a file system that may hang
jb_exports=${JOBMAN_EXPORTS:-/etc/exports.d/jobman.exports}

# jb_nfs PATH SERVER:/FOLDER|"" COMMAND|"": with "", host 0 exports PATH. COMMAND, run by the user, opens
# the firewall.
jb_nfs() {
  case $1 in '~/'*) jb_path=$HOME/${1#'~/'} ;; *) jb_path=$1 ;; esac
  jb_path=$(jb_plain "$jb_path")
  jb_nfs_server=$2 jb_nfs_rule=$3
  if [ -n "$2" ]; then
    jb_nfs_mount "$(jb_plain "$2")" "$jb_path"
  elif [ "${JOBMAN_HOST_INDEX:-0}" = 0 ]; then
    jb_nfs_export "$jb_path"
  else
    jb_nfs_mount "$JOBMAN_HEAD:$jb_path" "$jb_path"
  fi
}

# jb_plain PATH: as mounts are listed, without // and a / at the end.
jb_plain() { printf '%s\n' "$1" | sed 's,//*,/,g; s,\(.\)/$,\1,'; }

# jb_nfs_folder PATH: makes the folder, for everybody: users may have other numbers on other hosts.
jb_nfs_folder() {
  ! jb_limit "$jb_nfs_limit_s" test -d "$1" || return 0
  jb_limit "$jb_nfs_limit_s" mkdir -p "$1" 2>/dev/null ||
    jb_root timeout -k 5 "$jb_nfs_limit_s" mkdir -p "$1" || jb_cannot create "$1"
  chmod 1777 "$1" 2>/dev/null || jb_root chmod 1777 "$1" || jb_fail "cannot open $1 to all users"
}

# jb_nfs_export PATH: the hosts of the job may mount it.
jb_nfs_export() {
  PATH=$PATH:/usr/sbin:/sbin
  jb_has exportfs && ! jb_half_installed nfs-kernel-server || jb_install nfs-kernel-server
  jb_nfs_folder "$1"
  [ -w "$1" ] || jb_say "note: $(id -un) may not write to $1"
  jb_line="\"$1\""
  for jb_one in $(printf '%s' "${JOBMAN_HOSTS:-}" | tr ',' ' '); do
    jb_line="$jb_line $jb_one(rw,sync,no_subtree_check,no_root_squash)"
  done
  jb_root mkdir -p "${jb_exports%/*}" &&
    printf '%s\n' "$jb_line" | jb_root tee "$jb_exports.new" >/dev/null &&
    jb_root mv -f "$jb_exports.new" "$jb_exports" ||
    {
      jb_root rm -f "$jb_exports.new"
      jb_cannot write "$jb_exports"
    }
  jb_nfs_start || jb_fail "the NFS server of host 0 does not start, see above"
  jb_root timeout -k 5 "$jb_nfs_limit_s" exportfs -ra ||
    jb_fail "host 0 cannot export $1, see above: is it on its own disk, and is /etc/exports right?"
  jb_say "$1 is exported to the hosts of the job"
}

jb_nfs_start() {
  if [ -d /run/systemd/system ]; then
    jb_root timeout -k 5 120 systemctl start nfs-server
  else
    jb_root timeout -k 5 120 service nfs-kernel-server start
  fi
}

# jb_nfs_mounted PATH: prints what is mounted there.
jb_nfs_mounted() { jb_limit "$jb_nfs_limit_s" findmnt -n -f -o SOURCE --mountpoint "$1" 2>/dev/null; }

# jb_nfs_drop SOURCE PATH: takes a mount away whose server is gone.
jb_nfs_drop() {
  jb_say "$1, mounted on $2, does not answer or is of another host: mounting it anew"
  jb_root timeout -k 5 "$jb_nfs_limit_s" umount -f -l "$2" ||
    jb_fail "cannot unmount $2, see above: restart the host (jobman exec ${JOBMAN_JOB_ID:-ID} --host" \
      "${JOBMAN_HOST_INDEX:-N} -- sudo reboot)"
}

# jb_nfs_mount SOURCE PATH
jb_nfs_mount() {
  jb_stamp=$HOME/.jobman/nfs/$(uname -n).$(printf '%s' "$2" | cksum | tr ' ' -)
  jb_mounted=$(jb_nfs_mounted "$2")
  case $? in
    124 | 137) jb_later "the mounts of this host do not answer: restart it, or take another slice" ;;
  esac
  case $jb_mounted in
    '') ;;
    "$1")
      if jb_limit "$jb_nfs_limit_s" stat "$2/." >/dev/null 2>&1; then
        jb_say "$1 is mounted on $2 already"
        return
      fi
      jb_nfs_drop "$1" "$2"
      ;;
    *)
      # Ours, of a host 0 that was replaced; others' mounts stay.
      [ -z "$jb_nfs_server" ] && [ "$(cat "$jb_stamp" 2>/dev/null)" = "$jb_mounted" ] ||
        jb_fail "$2 has $jb_mounted mounted on it: unmount it, or choose another nfs.path"
      jb_nfs_drop "$jb_mounted" "$2"
      ;;
  esac
  jb_can_be_root || jb_fail "cannot mount $1: this user may not (no sudo without a password)"
  PATH=$PATH:/usr/sbin:/sbin
  jb_has mount.nfs && ! jb_half_installed nfs-common || jb_install nfs-common
  jb_nfs_folder "$2"
  [ -z "$(jb_limit "$jb_nfs_limit_s" ls -A "$2" 2>/dev/null)" ] ||
    jb_fail "$2 holds files, which $1 would hide: move them, or choose another nfs.path"
  jb_began_s=$(date +%s) jb_told_s=0
  until jb_why=$(jb_root timeout -k 5 "$jb_nfs_limit_s" mount -t nfs -o retry=0 "$1" "$2" 2>&1); do
    case $jb_why in
      *'access denied'* | *'o such file'*)
        # Host 0 may not have exported it yet.
        [ -z "$jb_nfs_server" ] || {
          printf '%s\n' "$jb_why"
          jb_fail "$1 cannot be mounted, see above: is nfs.export right, and may the hosts mount it?"
        }
        ;;
      *'nknown filesystem'* | *'o such device'* | *'bad usage'* | *'not known'* | *'only root'*)
        printf '%s\n' "$jb_why"
        jb_fail "$1 cannot be mounted, see above"
        ;;
    esac
    jb_now_s=$(date +%s)
    [ $((jb_now_s - jb_began_s)) -lt "$jb_nfs_wait_s" ] || {
      printf '%s\n' "$jb_why"
      jb_later "cannot mount $1 after $jb_nfs_wait_s s, see above: is the server up, and does a" \
        "firewall rule let the hosts reach it at tcp:2049?${jb_nfs_rule:+ ($jb_nfs_rule)}"
    }
    if [ $((jb_now_s - jb_told_s)) -ge 60 ]; then
      jb_say "waiting for $1: $(printf '%s\n' "${jb_why:-no answer}" | tail -n 1)"
      jb_told_s=$jb_now_s
    fi
    sleep 5
  done
  mkdir -p "${jb_stamp%/*}" && printf '%s\n' "$1" >"$jb_stamp" ||
    jb_say "note: a change of host 0 will not be noticed, as $jb_stamp cannot be written"
  jb_say "mounted $1 on $2"
}
