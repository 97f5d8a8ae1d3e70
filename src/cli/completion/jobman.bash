# Completion of jobman for bash: eval "$(jobman completion bash)"
_jobman() {
  local line cur=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur") ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <(jobman __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o filenames -F _jobman jobman
