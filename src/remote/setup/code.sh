# shellcheck shell=sh disable=SC2015,SC2034,SC2088,SC2154
# code: the files that travel with the job. The archive, which the controller has put on the host, has
# `files`, the names (\ and line break as \\ and \n), and below `code/` the files themselves.
#
# ~/.jobman/code/KEY is the book of a folder: `files`, the names that snapshots may have put there.
# Everything else in the folder is somebody else's and stays.

# jb_code PATH SHA256
jb_code() {
  jb_shown=$1
  case $1 in '~/'*) jb_path=$HOME/${1#'~/'} ;; *) jb_path=$1 ;; esac
  jb_archive=${JOBMAN_CODE_FILE:-}
  [ -f "$jb_archive" ] || jb_later "the archive of the code is not on this host any more"
  jb_dir=$jb_path jb_why=''
  jb_book=$HOME/.jobman/code/$(jb_hash "$jb_path" | cut -c 1-16)
  jb_lock "code-${jb_book##*/}"
  jb_code_folder
  jb_code_names
  jb_code_clear
  jb_code_unpack
  jb_count=$(wc -l <"$jb_book/files" | tr -d ' ')
  case $jb_count in 1) jb_count='one file' ;; *) jb_count="$jb_count files" ;; esac
  jb_say "$jb_shown has the $jb_count of snapshot $(printf '%s' "$2" | cut -c 1-12)"
}

# The folder, which this step must have made, or found empty.
jb_code_folder() {
  if [ -d "$jb_path" ]; then
    [ -d "$jb_book" ] || [ -z "$(ls -A "$jb_path")" ] ||
      jb_fail "$jb_shown holds files that jobman did not put there: choose another code.path, or" \
        "remove the folder from the host"
  elif [ -e "$jb_path" ] || [ -L "$jb_path" ]; then
    jb_fail "$jb_shown is no folder on this host: choose another code.path, or remove it"
  else
    mkdir -p "$jb_path" 2>/dev/null || jb_root mkdir -p "$jb_path" ||
      jb_fail "cannot create $jb_shown, see above: choose another code.path"
  fi
  [ -w "$jb_path" ] || jb_root chown "$(id -u):$(id -g)" "$jb_path" ||
    jb_fail "cannot write to $jb_shown: choose another code.path"
  (umask 077 && mkdir -p "$jb_book" && : >>"$jb_book/files") || jb_code_full "$jb_book"
}

# Notes the new names beside the old ones before a file is written: whatever ends this step, the next
# one knows what may be there.
jb_code_names() {
  jb_why=$(tar -xzOf "$jb_archive" files 2>&1 >"$jb_scratch/files") || jb_code_full "$jb_scratch"
  jb_why=''
  awk '!seen[$0]++' "$jb_book/files" "$jb_scratch/files" >"$jb_book/files.new" &&
    mv -f "$jb_book/files.new" "$jb_book/files" || jb_code_full "$jb_book"
}

# Removes what earlier snapshots had and this one does not, before it is unpacked: a file of the old
# one may be a folder of the new one.
jb_code_clear() {
  awk 'NR == FNR { new[$0]; next } !($0 in new)' "$jb_scratch/files" "$jb_book/files" \
    >"$jb_scratch/gone" || jb_code_full "$jb_scratch"
  while IFS= read -r jb_line; do
    case $jb_line in
      *\\*)
        jb_name=$(printf '%b.' "$jb_line")
        jb_name=${jb_name%.}
        ;;
      *) jb_name=$jb_line ;;
    esac
    rm -f "$jb_path/$jb_name" 2>/dev/null
    while case $jb_name in */*) ;; *) false ;; esac do
      jb_name=${jb_name%/*}
      rmdir "$jb_path/$jb_name" 2>/dev/null || break
    done
  done <"$jb_scratch/gone"
}

jb_code_unpack() {
  jb_why=$(tar -xzmof "$jb_archive" -C "$jb_path" --strip-components=1 2>&1) || jb_code_full "$jb_path"
  jb_why=''
  cp "$jb_scratch/files" "$jb_book/files.new" && mv -f "$jb_book/files.new" "$jb_book/files" ||
    jb_code_full "$jb_book"
}

# What tar says, besides, when the last bytes that fit were written.
jb_code_signs='no space|wrote only|write error'

# jb_code_full FOLDER: it could not be written to; jb_why may say more. Ends the step.
jb_code_full() {
  [ -z "${jb_why:-}" ] || printf '%s\n' "$jb_why" | tail -n 5
  if printf '%s\n' "${jb_why:-$jb_full_signs}" | grep -qiE -e "$jb_code_signs|$jb_full_signs"; then
    jb_fail "no room for the code in $1 ($(jb_disks)): free some of it or ask for a larger disk"
  fi
  jb_fail "cannot unpack the code into $jb_shown, see above"
}
