# shellcheck shell=sh disable=SC2034,SC2154
# checks: the host proves that it has its accelerator.

# The device files of the chips: /dev/accelN up to v4, /dev/vfio/N since. In a variable for tests.
jb_chip_devices=${JOBMAN_CHIP_DEVICES:-/dev/accel[0-9]* /dev/vfio/[0-9]*}

# jb_devices COUNT TYPE: the host has as many.
jb_devices() {
  jb_wanted=$1 jb_type=$2 jb_found=0
  # shellcheck disable=SC2086
  for jb_one in $jb_chip_devices; do
    [ ! -e "$jb_one" ] || jb_found=$((jb_found + 1))
  done
  [ "$jb_found" -ge "$jb_wanted" ] ||
    {
      # 76: the slice is given up for another.
      jb_say "this host has $jb_found of the $jb_wanted chips of a $jb_type: another slice is needed"
      exit 76
    }
  jb_say "$jb_found chips are here"
}
