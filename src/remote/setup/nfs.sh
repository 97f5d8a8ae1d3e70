# shellcheck shell=sh disable=SC2015,SC2034,SC2088,SC2154
# nfs: a folder that all hosts share. Host 0 exports it from its disk to the others, or all mount a
# folder of another server. Variables that tests set: JOBMAN_NFS_WAIT_S, JOBMAN_EXPORTS.

jb_nfs_wait_s=${JOBMAN_NFS_WAIT_S:-1800} # for the server: host 0 may be installing it
jb_nfs_limit_s=30                        # for a call about a file system that may hang
jb_exports=${JOBMAN_EXPORTS:-/etc/exports.d/jobman.exports}

# jb_nfs PATH SERVER:/FOLDER|"": with "", host 0 exports PATH.
jb_nfs() {
  case $1 in '~/'*) jb_path=$HOME/${1#'~/'} ;; *) jb_path=$1 ;; esac
  jb_path=$(jb_plain "$jb_path")
  jb_nfs_server=$2
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

# jb_nfs_folder PATH: makes the folder, for the user.
jb_nfs_folder() {
  [ ! -d "$1" ] || return 0
  mkdir -p "$1" 2>/dev/null || jb_root mkdir -p "$1" || jb_cannot create "$1"
  [ -w "$1" ] || jb_root chown "$(id -u):$(id -g)" "$1" || jb_fail "cannot give $1 to $(id -un)"
}

# jb_nfs_export PATH: the hosts of the job may mount it.
jb_nfs_export() {
  jb_has exportfs || [ -x /usr/sbin/exportfs ] || jb_install nfs-kernel-server
  PATH=$PATH:/usr/sbin:/sbin
  jb_nfs_folder "$1"
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
    jb_fail "host 0 cannot export $1, see above: is it on its own disk?"
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
    jb_fail "cannot unmount $2, see above: restart the host (jobman reboot --force)"
}

# jb_nfs_mount SOURCE PATH
jb_nfs_mount() {
  jb_mounted=$(jb_nfs_mounted "$2")
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
      # Of a host 0 that was replaced; with nfs.export it is somebody's, and stays.
      [ -z "$jb_nfs_server" ] && [ "${jb_mounted#*:}" = "$2" ] ||
        jb_fail "$2 has $jb_mounted mounted on it: unmount it, or choose another nfs.path"
      jb_nfs_drop "$jb_mounted" "$2"
      ;;
  esac
  jb_has mount.nfs || [ -x /sbin/mount.nfs ] || jb_install nfs-common
  jb_nfs_folder "$2"
  [ -z "$(ls -A "$2" 2>/dev/null)" ] ||
    jb_fail "$2 holds files, which $1 would hide: move them, or choose another nfs.path"
  jb_waited_s=0
  until jb_why=$(jb_root timeout -k 5 "$jb_nfs_limit_s" mount -t nfs -o retry=0 "$1" "$2" 2>&1); do
    case $jb_why in
      *'access denied'* | *'o such file'*)
        # Host 0 may not have exported it yet.
        [ -z "$jb_nfs_server" ] || {
          printf '%s\n' "$jb_why"
          jb_fail "$1 cannot be mounted, see above: is nfs.export right, and may the hosts mount it?"
        }
        ;;
    esac
    [ "$jb_waited_s" -lt "$jb_nfs_wait_s" ] || {
      printf '%s\n' "$jb_why"
      jb_later "cannot mount $1 after $jb_nfs_wait_s s, see above: is the server up, and does a" \
        "firewall rule let the hosts reach it at tcp:2049?"
    }
    [ $((jb_waited_s % 60)) != 0 ] || jb_say "waiting for $1"
    sleep 5
    jb_waited_s=$((jb_waited_s + 5))
  done
  jb_say "mounted $1 on $2"
}
