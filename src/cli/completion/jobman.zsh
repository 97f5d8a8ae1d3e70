#compdef jobman
# Completion of jobman for zsh: jobman completion zsh > "${fpath[1]}/_jobman"
_jobman() {
  local line files= ret=1 tab=$'\t'
  local -a choices
  for line in ${(f)"$(jobman __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
    if [[ $line == :files ]]; then files=1; else choices+=("${line/$tab/:}"); fi
  done
  (( $#choices )) && _describe jobman choices && ret=0
  [[ -n $files ]] && _files && ret=0
  return ret
}
# From a folder of $fpath this file is the function's body, and this its first call.
if [[ ${funcstack[1]} == _jobman ]]; then
  _jobman "$@"
else
  compdef _jobman jobman
fi
