# shellcheck shell=sh disable=SC2154
# Between the preparation of a task, which has left its exit code in jb_code, and its script: enters
# the working folder jb_workdir and the environment, in the shell that runs the script. An exit code
# of its own says that the script did not begin (include/jobman/remote/task_script.hpp).
case $jb_code in
  0) ;;
  75 | 12[89] | 1[3-9][0-9] | 2[0-9][0-9]) exit "$jb_code" ;; # another time; ended by a signal
  *) exit 78 ;;
esac
CDPATH='' cd -- "$HOME/$jb_workdir" || exit 78
jb_commit=''
read -r jb_commit <"$JOBMAN_RUN_DIR/commit"
[ -z "$jb_commit" ] || export JOBMAN_TASK_COMMIT="$jb_commit"
jb_kind=''
{ read -r jb_kind && read -r jb_prefix && read -r jb_exe; } 2>/dev/null <"$JOBMAN_RUN_DIR/environment"
case $jb_kind in
  venv)
    # shellcheck disable=SC1091
    . "$jb_prefix/bin/activate" || exit 78
    ;;
  conda)
    case $jb_exe in
      */conda) eval "$("$jb_exe" shell.posix hook)" ;;
      *) eval "$("$jb_exe" shell hook -s posix)" ;;
    esac
    "${jb_exe##*/}" activate "$jb_prefix" || {
      echo "jobman: $jb_exe cannot activate $jb_prefix"
      exit 78
    }
    ;;
esac
unset jb_code jb_commit jb_workdir jb_kind jb_prefix jb_exe
