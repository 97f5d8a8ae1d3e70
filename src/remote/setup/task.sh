# shellcheck shell=sh disable=SC2034,SC2088,SC2154
# task: what a run of a task of a queue needs before its script begins: a clean working folder below
# the home folder with the repository at its branch, and the environment, looked up. It runs in a
# subshell before the script (src/remote/setup/task-enter.sh), with common.sh and environment.sh.
#
# ~/.jobman/git/KEY is a bare repository for each URL: what an earlier run fetched is not fetched
# again. A working folder bears a mark that jobman made it, and for which run; the next run removes a
# folder with that mark, and none without. The mark is there twice, since a task may well run
# `git clean -fdx`, or remove .git.
#
# Variables that tests set: JOBMAN_GIT_LIMIT_S, and those of common.sh and environment.sh.

jb_git_limit_s=${JOBMAN_GIT_LIMIT_S:-600} # for one call of git
jb_trash=$HOME/.jobman/trash
jb_newline='
'

# jb_task RUN WORKDIR URL BRANCH ENVIRONMENT: RUN is the same on all hosts of the run, since they may
# share a home folder. URL and ENVIRONMENT may be empty. Leaves the files `commit` and `environment`
# in JOBMAN_RUN_DIR.
jb_task() {
  jb_run=$1 jb_workdir=$2 jb_url=$3 jb_branch=$4 jb_commit='' jb_shown="~/$2"
  jb_task_place
  [ -z "$5" ] || jb_task_environment "$5"
  [ -z "$jb_url" ] || jb_task_can_git
  jb_lock tasks
  if ! jb_task_has_mark || [ "$jb_marked_run" != "$jb_run" ]; then
    jb_task_may_clear
    jb_commit=''
    [ -z "$jb_url" ] || jb_fetch "fetching $jb_branch of $jb_url" jb_task_fetch
    jb_task_clear
    jb_task_make
  fi
  jb_write "$JOBMAN_RUN_DIR/commit" "$jb_commit$jb_newline"
  if [ -n "$jb_url" ]; then
    jb_say "$jb_shown has $jb_branch of $jb_url, commit $jb_commit"
  else
    jb_say "$jb_shown is a new folder, without a repository"
  fi
}

# As jb_lock says it.
jb_owner_name() {
  echo "the start of another task${jb_holder:+ (process ${jb_holder%%,*} on ${jb_holder##*,})}"
}

# --- The folder. ---

# Sets jb_dir. No link is followed: what lies behind it need not be below the home folder.
jb_task_place() {
  case /$jb_workdir/ in
    *//* | */./* | */../*)
      jb_fail "the workdir \"$jb_workdir\" is no folder below the home folder: write its path from" \
        'there, such as train or work/train'
      ;;
  esac
  jb_dir=$(CDPATH='' cd -P -- "$HOME" && pwd -P) || jb_fail "cannot enter the home folder $HOME"
  jb_rest=$jb_workdir/
  while [ -n "$jb_rest" ]; do
    jb_dir=$jb_dir/${jb_rest%%/*} jb_rest=${jb_rest#*/}
    [ ! -L "$jb_dir" ] ||
      jb_fail "$jb_dir is a link, which a workdir must not be or pass through: give the task another" \
        'workdir, or remove the link from the host'
    [ ! -e "$jb_dir" ] || [ -d "$jb_dir" ] ||
      jb_fail "$jb_dir is no folder: give the task another workdir, or remove it from the host"
  done
}

# Whether jobman made the folder, which still is where it was made. Sets jb_marked_run, jb_marked_by
# (the id of that run on its host) and jb_commit.
jb_task_has_mark() {
  jb_place_hash=$(jb_hash "$jb_dir")
  for jb_one in "$jb_dir/.jobman-task" "$jb_dir/.git/jobman-task"; do
    jb_line='' jb_where='' jb_marked_run='' jb_marked_by='' jb_commit=''
    if [ -L "$jb_one" ] || [ -L "${jb_one%/*}" ] || [ ! -f "$jb_one" ]; then continue; fi
    {
      read -r jb_line && read -r jb_where && read -r jb_marked_run && read -r jb_marked_by &&
        read -r jb_commit
    } <"$jb_one"
    [ "$jb_where" != "$jb_place_hash" ] || return 0
  done
  return 1
}

# jb_task_mark RUN: "unfinished" until everything is there.
jb_task_mark() {
  jb_text="jobman made this folder for a run of a task, and removes it before the next one
$jb_place_hash
$1
${JOBMAN_RUN_ID:-}
$jb_commit
"
  jb_write "$jb_dir/.jobman-task" "$jb_text"
  [ ! -d "$jb_dir/.git" ] || jb_write "$jb_dir/.git/jobman-task" "$jb_text"
}

# Ends the step if the folder must not be removed.
jb_task_may_clear() {
  [ -d "$jb_dir" ] || return 0
  jb_mount=$(jb_task_mount)
  [ -z "$jb_mount" ] ||
    jb_fail "$jb_mount is mounted there, so $jb_shown cannot be emptied: mount it elsewhere, or give" \
      'the task another workdir'
  [ -n "$(ls -A "$jb_dir")" ] || return 0
  jb_task_has_mark ||
    jb_fail "$jb_shown is there and jobman did not make it, so it is not emptied: move it away on the" \
      'host, or give the task another workdir'
  jb_task_is_used || return 0
  jb_fail "$jb_shown is in use by another task (run $jb_marked_by): give one of them another workdir"
}

# What is mounted on the folder or below it: removing the folder would remove what lies there.
jb_task_mount() {
  JB_DIR=$jb_dir awk '
    function plain(text,   at, code, out) {
      while (at = match(text, /\\[0-7][0-7][0-7]/)) {
        code = substr(text, at + 1, 1) * 64 + substr(text, at + 2, 1) * 8 + substr(text, at + 3, 1)
        out = out substr(text, 1, at - 1) sprintf("%c", code)
        text = substr(text, at + 4)
      }
      return out text
    }
    BEGIN { dir = ENVIRON["JB_DIR"] }
    index(plain($5) "/", dir "/") == 1 { print plain($5); exit }' /proc/self/mountinfo 2>/dev/null
}

# Whether the run that the mark names goes on, on this machine: another job's, since the controller
# has ended those of this job.
jb_task_is_used() {
  case $jb_marked_by in '' | */*) return 1 ;; esac
  [ "$jb_marked_by" != "${JOBMAN_RUN_ID:-}" ] || return 1
  jb_of=$HOME/.jobman/runs/$jb_marked_by jb_pid='' jb_start=''
  [ ! -s "$jb_of/exit" ] || return 1
  read -r jb_pid jb_start 2>/dev/null <"$jb_of/pid"
  [ -n "$jb_pid" ] && [ "$(jb_born "$jb_pid")" = "$jb_start" ]
}

# Removes the folder. It is moved first: a folder that is half removed would have lost its mark.
jb_task_clear() {
  (umask 077 && mkdir -p "$jb_trash") || jb_cannot make "$jb_trash"
  if [ -d "$jb_dir" ] && [ -n "$(ls -A "$jb_dir")" ]; then
    jb_old=$(mktemp -d "$jb_trash/XXXXXX") || jb_cannot 'write to' "$jb_trash"
    mv "$jb_dir" "$jb_old/" || jb_root mv "$jb_dir" "$jb_old/" || jb_cannot remove "$jb_shown"
  fi
  rm -rf "$jb_trash" 2>/dev/null && return
  # A task may leave folders that it may not write to, or those of a container's root.
  chmod -R u+rwx "$jb_trash" 2>/dev/null
  rm -rf "$jb_trash" 2>/dev/null || jb_root rm -rf "$jb_trash" ||
    jb_say "what an earlier task left cannot be removed from $jb_trash, see above; going on"
}

jb_task_make() {
  mkdir -p "$jb_dir" || jb_cannot make "$jb_shown"
  jb_task_mark unfinished
  if [ -n "$jb_url" ]; then
    jb_task_checkout >"$jb_scratch/output" 2>&1 || jb_task_no_checkout $?
  fi
  jb_task_mark "$jb_run"
}

# --- The repository. ---

jb_task_can_git() {
  jb_has git ||
    jb_fail 'git is not installed on this host, and the task has a repo: install it in a setup step'
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_OBJECT_DIRECTORY GIT_COMMON_DIR \
    GIT_NAMESPACE SSH_ASKPASS
  export LC_ALL=C GIT_TERMINAL_PROMPT=0
  export GIT_SSH_COMMAND="${GIT_SSH_COMMAND:-ssh} -o BatchMode=yes -o ConnectTimeout=30"
  jb_branch_ref=refs/heads/$jb_branch
  git check-ref-format "$jb_branch_ref" ||
    jb_fail "\"$jb_branch\" is not the name of a branch: correct the branch of the task"
  jb_key=$(jb_hash "$jb_url" | cut -c 1-24)
  jb_cache=$HOME/.jobman/git/$jb_key jb_depth=--depth=1 jb_anew=''
  jb_ref=refs/jobman/$(jb_hash "$jb_branch" | cut -c 1-24)
}

# jb_git FOLDER ARGUMENT...: with that folder as its repository. git looks for none elsewhere: the home
# folder may be one. What it does in the background would outlive the step.
jb_git() {
  jb_repository=$1
  shift
  jb_limit "$jb_git_limit_s" git -c gc.autoDetach=false -c maintenance.autoDetach=false \
    --git-dir="$jb_repository" "$@" </dev/null
}

# One try, for jb_fetch. Nobody else uses the cache now, so locks in it are of processes that were killed.
jb_task_fetch() {
  jb_known=''
  if [ -d "$jb_cache" ]; then
    find "$jb_cache" -name '*.lock' -type f -exec rm -f {} +
    jb_known=$(jb_git "$jb_cache" rev-parse -q --verify "$jb_ref^{commit}" 2>/dev/null)
  fi
  jb_task_get >"$jb_scratch/output" 2>&1 && return
  jb_task_judge $?
}

jb_task_get() {
  if [ ! -d "$jb_cache" ]; then
    (umask 077 && mkdir -p "$jb_cache") && jb_git "$jb_cache" init -q --bare --template= || return
  fi
  jb_git "$jb_cache" fetch -q ${jb_depth:+"$jb_depth"} --no-tags --no-recurse-submodules -- \
    "$jb_url" "+$jb_branch:$jb_ref" || return
  jb_commit=$(jb_git "$jb_cache" rev-parse -q --verify "$jb_ref^{commit}")
}

# What git and ssh print when there is no such repository, or not for us.
jb_no_entry_signs='could not read username|could not read password|authentication failed|permission denied|'\
'access denied|repository not found|repository .* not found|does not exist|returned error: 40[0-9]|'\
'does not appear to be a git repository|not authorized|invalid credentials|http basic'
jb_git_network_signs='returned error: 429|connection closed|connection was|hung up|early eof|rpc failed|'\
'unexpected disconnect|kex_exchange|unable to connect|failed to connect|could not connect'

# jb_task_judge CODE: after a try that failed: 1 if another may help, else 3. The last line that it
# prints says what to do.
jb_task_judge() {
  if [ -n "$jb_depth" ] && jb_said 'dumb http|not support shallow'; then
    jb_depth=''
    jb_task_get >"$jb_scratch/output" 2>&1 && return
    jb_task_judge $?
    return
  fi
  tail -n 5 "$jb_scratch/output"
  if jb_said "$jb_full_signs"; then
    jb_say_full
  elif [ "$1" = 124 ]; then
    jb_later "fetching $jb_branch of $jb_url took longer than $jb_git_limit_s s and was ended"
  elif jb_said "couldn't find remote ref|remote branch .* not found"; then
    jb_say "$jb_url has no branch $jb_branch: correct the branch of the task (git ls-remote $jb_url" \
      'lists them)'
  elif jb_said "$jb_network_signs|$jb_git_network_signs"; then
    [ -z "$jb_known" ] ||
      jb_say "commit $jb_known of an earlier run is not used: the branch may have moved since"
    return 1
  elif jb_said 'host key verification failed'; then
    jb_say "this host does not know the server of $jb_url: name its key in a config_entry of" \
      'ssh.identities, or give the https URL of the repository'
  elif jb_said "$jb_no_entry_signs"; then
    jb_say "$jb_url is not there, or needs a key that this host does not have: correct the URL, or" \
      'bring the key with ssh.identities'
  elif [ -n "$jb_anew" ]; then
    jb_say "git cannot fetch $jb_branch of $jb_url, see above"
  else
    jb_anew=yes
    rm -rf "$jb_cache" # it may be damaged
    return 1
  fi
  return 3
}

# Copies the commit from the cache: what happens to that later does not reach the folder.
jb_task_checkout() {
  set -- "$jb_dir/.git" --work-tree="$jb_dir"
  jb_git "$@" init -q && jb_git "$@" remote add origin "$jb_url" &&
    jb_git "$@" fetch -q ${jb_depth:+"$jb_depth"} --no-tags --no-recurse-submodules -- \
      "$jb_cache" "+$jb_ref:refs/remotes/origin/$jb_branch" &&
    jb_git "$@" update-ref "$jb_branch_ref" "$jb_commit" &&
    jb_git "$@" symbolic-ref HEAD "$jb_branch_ref" &&
    jb_git "$@" config "branch.$jb_branch.remote" origin &&
    jb_git "$@" config "branch.$jb_branch.merge" "$jb_branch_ref" &&
    mkdir -p "$jb_dir/.git/info" && echo /.jobman-task >>"$jb_dir/.git/info/exclude" &&
    jb_git "$@" reset -q --hard
}

# jb_task_no_checkout CODE. It may have fetched more (git-lfs), so the network may be at fault.
jb_task_no_checkout() {
  tail -n 5 "$jb_scratch/output"
  [ "$1" != 124 ] ||
    jb_later "unpacking $jb_url into $jb_shown took longer than $jb_git_limit_s s and was ended"
  if jb_said "$jb_full_signs"; then
    jb_say_full
    exit 1
  fi
  ! jb_said "$jb_network_signs|$jb_git_network_signs" ||
    jb_later "unpacking $jb_url into $jb_shown failed, see above: does the host reach the internet?"
  rm -rf "$jb_cache" # the next run begins with a whole one
  jb_fail "cannot unpack $jb_url into $jb_shown, see above"
}

# --- The environment. ---

# jb_task_environment NAME: one that the setup step conda made, ~/NAME, or one that a conda of this
# host knows. Writes the file `environment`: its kind, where it is, and the program that knows it.
jb_task_environment() {
  jb_name=$1 jb_kind=conda jb_prefix='' jb_exe=''
  { read -r jb_prefix && read -r jb_exe; } 2>/dev/null <"$HOME/.jobman/conda/$1/where"
  if [ ! -d "$jb_prefix" ] || [ ! -x "$jb_exe" ]; then
    if [ -f "$HOME/$1/bin/activate" ] && [ -x "$HOME/$1/bin/python" ]; then
      jb_kind=venv jb_prefix=$HOME/$1 jb_exe=none
    else
      jb_prefix=''
      ! jb_find_conda || jb_find_prefix
      [ -n "$jb_prefix" ] ||
        jb_fail "there is no environment $1 on this host, neither ~/$1 nor one of conda: make it with" \
          'the section venv or conda of the job file, or in a setup step'
    fi
  fi
  jb_write "$JOBMAN_RUN_DIR/environment" "$jb_kind$jb_newline$jb_prefix$jb_newline$jb_exe$jb_newline"
}

# Of conda.sh: removes half an installation. A setup step of another job may be at it.
jb_drop_half() { :; }
