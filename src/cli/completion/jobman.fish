# Completion of jobman for fish: jobman completion fish > ~/.config/fish/completions/jobman.fish
function __jobman_complete
  set -l current (commandline -ct)
  set -l words (commandline -opc) "$current"
  for line in (jobman __complete $words[2..-1] 2>/dev/null)
    if test "$line" = ':files'
      __fish_complete_path "$current"
    else
      printf '%s\n' "$line"
    end
  end
end
complete -c jobman -f -a '(__jobman_complete)'
