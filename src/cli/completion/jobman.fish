# Completion of jobman for fish: jobman completion fish > ~/.config/fish/completions/jobman.fish
function __jobman_complete
  set -l current (commandline -ct)
  set -l words (commandline -opc) "$current"
  for line in (jobman __complete $words[2..-1] 2>/dev/null)
    set -l parts (string split \t -- "$line")
    switch "$parts[1]"
      case ':files'
        __jobman_files "$current" '' $parts[2]
      case ':jobfiles'
        __jobman_files "$current" '(?:/|\.ya?ml)$' $parts[2]
      case '*'
        printf '%s\n' "$line"
    end
  end
end

# Files that match `pattern`. In the word at the cursor, `lead` precedes them.
function __jobman_files --argument-names current pattern lead
  set -l begun (string sub --start (math 1 + (string length -- "$lead")) -- "$current")
  for file in (complete --do-complete "'' $begun")
    string match --quiet --regex -- "$pattern" $file
    and printf '%s\n' "$lead$file"
  end
end
complete -c jobman -f -a '(__jobman_complete)'
