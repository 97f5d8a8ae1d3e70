# Completion of jobman for bash: eval "$(jobman completion bash)"
_jobman() {
  local words=() files=() lead
  _jobman_words
  # Readline replaces $2, of "--for=RUN" the RUN: an answer must not repeat what precedes it.
  lead=${words[${#words[@]}-1]%"$2"}
  COMPREPLY=()
  _jobman_ask "${lead//[\\\"\']/}" "$2"
  if ((${#files[@]})); then
    _jobman_add_files
  elif [[ $lead != *[\"\'] ]]; then
    _jobman_quote
  fi
  [[ ${COMPREPLY[0]-} == *[=:] ]] && compopt -o nospace 2>/dev/null
  return 0
}

# The words up to the cursor. Bash also breaks them at "=" and ":", the program does not.
_jobman_words() {
  local rest=${COMP_LINE:0:COMP_POINT} blanks word
  for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    blanks=${rest%%[![:space:]]*}
    rest=${rest#"$blanks"}
    [[ $rest == "$word"* ]] || word=$rest  # the cursor is within it
    if [[ -n $blanks || ${#words[@]} -eq 0 ]]; then
      words+=("$word")
    else
      words[${#words[@]}-1]+=$word
    fi
    rest=${rest#"$word"}
  done
}

# Asks the program: its answers without $1, which precedes them, and files that begin with $2.
_jobman_ask() {
  local line asked=("${words[@]//[\\\"\']/}")
  while IFS= read -r line; do
    line=${line%%$'\t'*}
    case $line in
      :files | :jobfiles) _jobman_files "$line" "$2" ;;
      *) COMPREPLY+=("${line#"$1"}") ;;
    esac
  done < <(jobman __complete "${asked[@]:1}" 2>/dev/null)
}

_jobman_files() {
  local file
  while IFS= read -r file; do files+=("$file"); done < <(
    if [[ $1 == :files ]]; then
      compgen -f -- "$2"
    else
      compgen -d -- "$2"
      compgen -f -X '!*.yaml' -- "$2"
      compgen -f -X '!*.yml' -- "$2"
    fi
  )
}

# Only where there are files may readline take the answers for such: it adds a slash to the name of
# a job that is also that of a folder. Of these, both are offered.
_jobman_add_files() {
  local file offered
  printf -v offered '\n%s\n' "${COMPREPLY[@]}"
  compopt -o filenames 2>/dev/null
  for file in "${files[@]}"; do
    [[ $offered == *$'\n'"$file"$'\n'* ]] && file+=/
    COMPREPLY+=("$file")
  done
}

# The name of a job may have blanks.
_jobman_quote() {
  local i
  for i in "${!COMPREPLY[@]}"; do
    [[ ${COMPREPLY[i]} == *[![:alnum:]_.,:=/@%+-]* ]] || continue
    printf -v "COMPREPLY[i]" %q "${COMPREPLY[i]}"
  done
}
complete -F _jobman jobman
