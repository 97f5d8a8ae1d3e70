# shellcheck shell=sh disable=SC2034,SC2154
# conda: an environment NAME of conda, mamba or micromamba, made from a file. Its file .jobman-made
# says what it is: the hash of that file; "whole": an environment, but with other packages;
# "unfinished". In ~/.jobman/conda/NAME, "where" says where it is and what made it (for the command,
# see InConda), and "begun" that it was begun and not finished. An environment that jobman did not
# make is kept, and gets the packages of the file.
#
# Variables that tests set: JOBMAN_CONDA_URL.

jb_conda_site=https://repo.anaconda.com/miniconda
jb_conda_url=${JOBMAN_CONDA_URL:-$jb_conda_site/Miniconda3-latest-Linux-$(uname -m).sh}
jb_download_limit_s=900
jb_installer_limit_s=900

# jb_conda NAME FILE_TEXT
jb_conda() {
  jb_name=$1 jb_notes=$HOME/.jobman/conda/$1
  jb_want=$(jb_hash "$2")
  export CONDA_ALWAYS_YES=1 MAMBA_ALWAYS_YES=1
  export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 GIT_TERMINAL_PROMPT=0
  if jb_conda_is_made; then return; fi
  jb_lock conda
  if jb_conda_is_made; then return; fi
  mkdir -p "$jb_notes" || jb_fail "cannot make $jb_notes, see above"
  jb_find_conda || jb_install_conda
  jb_text_file=$HOME/.jobman-conda-$jb_name.yml
  jb_write "$jb_text_file" "$2"
  jb_fetch "making the conda environment $jb_name" jb_conda_make
  jb_conda_finish
}

# No call of conda: it takes a second to start.
jb_conda_is_made() {
  jb_prefix='' jb_exe=''
  { read -r jb_prefix && read -r jb_exe; } 2>/dev/null <"$jb_notes/where" || return
  jb_conda_word
  [ "$jb_word" = "$jb_want" ] && [ -x "$jb_exe" ] && jb_say "the conda environment $jb_name is up to date"
}

jb_conda_word() {
  jb_word=''
  read -r jb_word 2>/dev/null <"$jb_prefix/.jobman-made"
}
jb_conda_note() { jb_write "$jb_prefix/.jobman-made" "$1
"; }

jb_conda_finish() {
  jb_find_prefix
  [ -n "$jb_prefix" ] || jb_fail "$jb_exe made the environment $jb_name and does not list it"
  jb_conda_note "$jb_want"
  jb_write "$jb_notes/where" "$jb_prefix
$jb_exe
"
  rm -f "$jb_notes/begun"
  jb_say "the conda environment $jb_name is made, in $jb_prefix"
}

# --- conda itself. ---

# Sets jb_exe. The profile may have made conda a function, which is not what is looked for.
jb_find_conda() {
  jb_drop_half
  for jb_exe in "$(jb_path conda)" "${CONDA_EXE:-}" "$HOME/miniconda/bin/conda" \
    "$HOME/miniconda3/bin/conda" "$HOME/miniforge3/bin/conda" "$HOME/mambaforge/bin/conda" \
    /opt/conda/bin/conda "$(jb_path mamba)" "$(jb_path micromamba)" "${MAMBA_EXE:-}" \
    "$HOME/.local/bin/micromamba"; do
    case $jb_exe in /*) [ -z "$("$jb_exe" --version 2>/dev/null)" ] || return 0 ;; esac
  done
  jb_exe=''
  return 1
}
jb_path() { (unset -f "$1" && command -v "$1") 2>/dev/null; }

# An installation that was interrupted may look whole.
jb_drop_half() {
  [ ! -e "$HOME/.jobman/miniconda-begun" ] || rm -rf "$HOME/miniconda"
}

jb_install_conda() {
  jb_say 'there is no conda on this host: installing Miniconda into ~/miniconda'
  jb_fetch 'installing Miniconda' jb_get_conda
  jb_exe=$HOME/miniconda/bin/conda
}

# Half a download is found out by the installer, which checks itself, or by conda, which must run.
jb_get_conda() {
  jb_drop_half
  [ ! -e "$HOME/miniconda" ] ||
    jb_fail "$HOME/miniconda is there and its conda does not run: repair it, or move it away"
  jb_installer=$jb_scratch/miniconda.sh
  jb_download "$jb_conda_url" "$jb_installer" || return
  if [ ! -s "$jb_installer" ]; then
    jb_say "$jb_conda_url is empty"
    return 1
  fi
  jb_write "$HOME/.jobman/miniconda-begun" ''
  jb_shell=$(command -v bash || command -v sh)
  if ! jb_limit "$jb_installer_limit_s" "$jb_shell" "$jb_installer" -b -u -p "$HOME/miniconda" \
    >"$jb_scratch/output" 2>&1; then
    tail -n 20 "$jb_scratch/output"
    ! jb_said "$jb_full_signs" || jb_fail "a disk of this host is full ($(jb_disks)): free some of it"
    return 1
  fi
  if ! "$HOME/miniconda/bin/conda" --version | grep .; then
    jb_say "what $jb_conda_url installed does not run: did it arrive whole?"
    return 1
  fi
  rm -f "$HOME/.jobman/miniconda-begun"
}

# jb_download URL FILE
jb_download() {
  if jb_has curl; then
    jb_http=$(curl -fsSL --connect-timeout 30 --max-time "$jb_download_limit_s" -o "$2" \
      -w '%{http_code}' "$1") && return
    case $? in 23) jb_fail "cannot write to ${TMPDIR:-/tmp}: $(jb_disks)" ;; esac
    case $jb_http in
      408 | 429) return 1 ;;
      4*) jb_fail "$1 is not to be had (HTTP $jb_http): install conda on the hosts" ;;
    esac
    return 1
  fi
  jb_has wget || jb_fail 'Miniconda cannot be fetched: this host has neither curl nor wget'
  jb_limit "$jb_download_limit_s" wget -q -T 30 -O "$2" "$1"
}

# --- The environment. ---

# Sets jb_prefix; empty when there is no such environment.
jb_find_prefix() {
  jb_prefix=$("$jb_exe" env list 2>/dev/null |
    awk -v name="$jb_name" '$1 == name { sub(/^[^\/]*/, ""); print; exit }')
}

# One try. What an earlier one began and did not finish is removed, since conda takes it for whole.
jb_conda_make() {
  jb_find_prefix
  jb_conda_word
  if [ -e "$jb_notes/begun" ] || [ "$jb_word" = unfinished ]; then
    jb_say "the conda environment $jb_name is incomplete (its setup was interrupted): making it anew"
    jb_conda_remove
  fi
  if [ -z "$jb_prefix" ]; then jb_conda_create; else jb_conda_update; fi
}

jb_conda_remove() {
  "$jb_exe" env remove -y -n "$jb_name" >/dev/null 2>&1
  jb_root_prefix=$("$jb_exe" info --base 2>/dev/null)
  for jb_one in "$jb_prefix" "$jb_root_prefix/envs/$jb_name" "$HOME/.conda/envs/$jb_name"; do
    case $jb_one in /*/envs/"$jb_name") rm -rf "$jb_one" ;; esac
  done
  jb_find_prefix
}

# Nothing is left of what could not be made.
jb_conda_create() {
  jb_write "$jb_notes/begun" ''
  case $jb_exe in
    */micromamba) jb_conda_tool create -y -n "$jb_name" -f "$jb_text_file" ;;
    *) jb_conda_tool env create -n "$jb_name" -f "$jb_text_file" ;;
  esac
  jb_result=$?
  [ "$jb_result" != 0 ] || return 0
  jb_conda_remove
  rm -f "$jb_notes/begun"
  return "$jb_result"
}

# What the file no longer names is removed from an environment that jobman made.
jb_conda_update() {
  jb_ours=''
  if [ -n "$jb_word" ]; then
    jb_ours=yes
    jb_conda_note unfinished
  fi
  case $jb_exe:$jb_ours in
    */micromamba:yes) jb_conda_tool create -y -n "$jb_name" -f "$jb_text_file" ;;
    */micromamba:) jb_conda_tool install -y -n "$jb_name" -f "$jb_text_file" ;;
    *:yes) jb_conda_tool env update -n "$jb_name" -f "$jb_text_file" --prune ;;
    *) jb_conda_tool env update -n "$jb_name" -f "$jb_text_file" ;;
  esac
  jb_result=$?
  if [ "$jb_result" != 0 ] && [ -n "$jb_ours" ] && ! jb_had_begun; then jb_conda_note whole; fi
  return "$jb_result"
}

jb_conda_tool() {
  jb_cure="the packages of conda.config_file cannot be installed, see above: correct the file"
  jb_tool "$jb_cure" "$jb_exe" "$@"
  jb_result=$?
  [ "$jb_result" = 0 ] || ! jb_said 'terms of service have not been accepted' || jb_conda_terms
  return "$jb_result"
}

# That is for the user to do, not for a program.
jb_conda_terms() {
  jb_say 'conda wants its terms of service accepted: if you do, set' \
    'CONDA_PLUGINS_AUTO_ACCEPT_TOS: "yes" in job.environment; or take other channels in' \
    'conda.config_file (conda-forge, nodefaults)'
}
