# shellcheck shell=sh disable=SC2034,SC2154,SC2088
# venv: a Python virtual environment, ~/NAME; NAME may be FOLDER/NAME. Its file .jobman-made says what
# it is: the hash of what it was made from; "whole": an environment, but with other packages;
# "unfinished": something began to change it and was interrupted. Without the file it is somebody
# else's, for instance Python jobman's, and is kept.

# jb_venv NAME PYTHON REQUIREMENTS
jb_venv() {
  jb_name=$1 jb_python=$2 jb_dir=$HOME/$1
  jb_plain_name=$(printf '%s' "$1" | tr / +) # for names of files; no other environment has it
  jb_want=$(jb_hash "$2" "$3")
  unset PYTHONHOME
  export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore
  export GIT_TERMINAL_PROMPT=0
  if jb_venv_is_made; then return; fi
  jb_find_python
  jb_lock "venv-$jb_plain_name"
  if jb_venv_is_made; then return; fi
  jb_venv_create
  jb_venv_install "$3"
  jb_venv_note "$jb_want"
  jb_say "~/$jb_name is made, with $jb_python"
}

jb_venv_is_made() {
  jb_venv_word
  [ "$jb_word" = "$jb_want" ] && [ -f "$jb_dir/bin/activate" ] && [ -x "$jb_dir/bin/python" ] &&
    jb_say "~/$jb_name is up to date"
}

jb_venv_word() {
  jb_word=''
  read -r jb_word 2>/dev/null <"$jb_dir/.jobman-made"
}
jb_venv_note() { jb_write "$jb_dir/.jobman-made" "$1
"; }

# --- Its Python. ---

# jb_version PYTHON: "python3.10"
jb_version() { "$1" -c 'import sys; print("python%d.%d" % sys.version_info[:2])' 2>/dev/null; }

# Sets jb_exe to a Python of that version that can make environments, which Debian's cannot without
# a package of its own. Empty: uv will find or fetch one.
jb_find_python() {
  jb_look_for_python && return
  if jb_has uv; then return; fi
  jb_install_python
  jb_look_for_python || jb_fail "$jb_python was installed and still cannot make environments"
}

jb_look_for_python() {
  for jb_exe in "$jb_python" python3; do
    jb_exe=$(command -v "$jb_exe") && [ "$(jb_version "$jb_exe")" = "$jb_python" ] &&
      "$jb_exe" -I -c 'import ensurepip, venv' 2>/dev/null && return
  done
  jb_exe=''
  return 1
}

jb_install_python() {
  jb_lack="$jb_python (with its module venv) is not on this host"
  jb_has apt-get || jb_fail "$jb_lack, and there is neither uv nor apt-get: $(jb_other_python)"
  jb_can_be_root || jb_fail "$jb_lack, and this user may not install it (no sudo): $(jb_other_python)"
  jb_say "$jb_lack: installing it"
  # One list that cannot be had does no harm if another has the package.
  jb_listed=yes
  jb_apt_get update || jb_listed=no
  if ! apt-cache show "$jb_python-venv" >/dev/null 2>&1; then
    [ "$jb_listed" = yes ] ||
      jb_later "$jb_lack, and apt-get update failed, see above: does the host reach the internet?"
    jb_fail "$jb_lack, and apt knows no package $jb_python-venv: $(jb_other_python)"
  fi
  jb_fetch "installing $jb_python" jb_apt_get install --no-install-recommends \
    "$jb_python" "$jb_python-venv"
}

jb_other_python() {
  jb_this=$(jb_version python3)
  echo "set venv.python to another version${jb_this:+ (this host has $jb_this)}, or have uv on the hosts"
}

# --- The environment. ---

# Sets jb_state: whole, unfinished, other (of the Python jb_is), none.
jb_venv_look() {
  jb_venv_word
  jb_state=unfinished
  [ "$jb_word" != unfinished ] || return
  if [ ! -e "$jb_dir/pyvenv.cfg" ]; then
    jb_state=none
  elif jb_is=$(jb_version "$jb_dir/bin/python") && [ "$jb_is" != "$jb_python" ]; then
    jb_state=other
  elif [ -n "$jb_is" ] && [ -f "$jb_dir/bin/activate" ] && jb_venv_can_install; then
    jb_state=whole
  fi
}
jb_venv_can_install() { jb_has uv || "$jb_dir/bin/python" -I -m pip --version >/dev/null 2>&1; }

# Makes it unless it is there. A folder that is no environment keeps what is in it.
jb_venv_create() {
  jb_venv_look
  case $jb_state in
    whole) return ;;
    other) jb_say "~/$jb_name is of $jb_is, and $jb_python is asked for: making it anew" ;;
    unfinished) jb_say "~/$jb_name is incomplete (an earlier setup was interrupted): making it anew" ;;
  esac
  [ "$jb_state" = none ] || jb_venv_clear
  mkdir -p "$jb_dir" || jb_fail "cannot make the folder ~/$jb_name, see above"
  jb_venv_note unfinished
  set -- "$jb_exe" -I -m venv "$jb_dir"
  [ -n "$jb_exe" ] || set -- uv venv --allow-existing --seed --python "${jb_python#python}" "$jb_dir"
  jb_fetch "making ~/$jb_name" jb_tool "cannot make the environment ~/$jb_name, see above" "$@"
  jb_has uv || jb_upgrade_pip
  jb_venv_note whole
}

# What makes it an environment; other files may lie beside that.
jb_venv_clear() {
  for jb_one in bin include lib lib64 pyvenv.cfg; do
    rm -rf "$jb_dir/${jb_one:?}" || jb_fail "cannot remove ~/$jb_name/$jb_one"
  done
}

# The pip that comes with an old Python knows no new wheels. It will often do, so this may fail.
jb_upgrade_pip() {
  jb_limit 120 "$jb_dir/bin/python" -I -m pip install -q --retries 0 --timeout 10 --upgrade pip \
    >/dev/null 2>&1 && return
  jb_say 'pip could not be upgraded; going on with the one that is there'
  jb_venv_can_install || jb_later "the upgrade of pip in ~/$jb_name broke off"
}

# The requirements lie in the home folder, since they may name other files there.
jb_venv_install() {
  [ -n "$1" ] || return 0
  jb_text_file=$HOME/.jobman-requirements-$jb_plain_name.txt
  jb_write "$jb_text_file" "$1"
  jb_fetch "installing the packages of ~/$jb_name" jb_venv_packages
}

# A failure before the first package leaves the environment as it was.
jb_venv_packages() {
  jb_venv_note unfinished
  set -- "$jb_dir/bin/python" -I -m pip install --log "$jb_scratch/pip.log" -r "$jb_text_file"
  if jb_has uv; then
    jb_speak_uv
    set -- uv pip install --python "$jb_dir/bin/python" -r "$jb_text_file"
  fi
  jb_tool 'the packages of venv.requirements_file cannot be installed, see above: correct the file' \
    "$@"
  jb_result=$?
  [ "$jb_result" = 0 ] || jb_had_begun || jb_venv_note whole
  return "$jb_result"
}

# The file was written for pip, which takes the best version of all indexes.
jb_speak_uv() {
  export UV_INDEX_STRATEGY="${UV_INDEX_STRATEGY:-unsafe-best-match}"
  [ -z "${PIP_INDEX_URL:-}" ] || export UV_INDEX_URL="${UV_INDEX_URL:-$PIP_INDEX_URL}"
  [ -z "${PIP_EXTRA_INDEX_URL:-}" ] ||
    export UV_EXTRA_INDEX_URL="${UV_EXTRA_INDEX_URL:-$PIP_EXTRA_INDEX_URL}"
}
