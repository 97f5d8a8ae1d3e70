#compdef jobman
# Completion of jobman for zsh: jobman completion zsh > "${fpath[1]}/_jobman"
_jobman() {
  local line word about files= lead= ret=1 tab=$'\t'
  local -a choices open asked
  asked=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}")
  for line in ${(f)"$(jobman __complete "${asked[@]}" 2>/dev/null)"}; do
    word=${line%%$tab*}
    about=${${line#$word}#$tab}
    case $word in
      (:files|:jobfiles) files=$word lead=$about ;;
      (*[=:]) open+=("${word//:/\\:}${about:+:$about}") ;;
      (*) choices+=("${word//:/\\:}${about:+:$about}") ;;
    esac
  done
  (( $#choices )) && _describe jobman choices && ret=0
  (( $#open )) && _describe jobman open -S '' && ret=0
  [[ -n $lead ]] && compset -p $#lead
  [[ $files == :files ]] && _files && ret=0
  [[ $files == :jobfiles ]] && _files -g '*.(yaml|yml)' && ret=0
  return ret
}
# From a folder of $fpath this file is the function's body, and this its first call.
if [[ ${funcstack[1]} == _jobman ]]; then
  _jobman "$@"
else
  compdef _jobman jobman
fi
