# shellcheck shell=sh disable=SC2154,SC2317
# The last part of podrun: runs the line on the chosen hosts, with a prefix for each line that they
# print. The command's processes have JOBMAN_PODRUN in their environment, by which an interrupt finds
# them.

jp_window=64   # connections that are being opened at once
jp_patience=30 # seconds in which one of them should be, or the next ones are opened all the same
jp_slow=10     # seconds after which the last hosts are named on a terminal

jp_dir=$(mktemp -d) || exit 75
trap 'rm -rf "$jp_dir"' EXIT
jp_tag=JOBMAN_PODRUN=$$.$(date +%s)
# The first line that it prints tells that the connection is there. A shell stays until the command has
# ended, and reports its code: if a signal ended what sshd started, ssh would say 255, as after a lost
# connection. What follows a run ends with the connection, so nothing stays between it and sshd.
jp_call="echo $jp_tag; exec "
if [ -z "$jp_verb" ]; then
  # That shell would also print which signal it was, so its stderr is closed; the command takes the real
  # one from 3.
  jp_inner="exec 3>&2 2>/dev/null; env $jp_tag${jp_limit:+ timeout -k 10 $jp_limit} sh -c $(jp_quote "exec 2>&3 3>&-; $jp_enter") \"\$0\"; exit \$?"
  jp_call="${jp_call}sh -c $(jp_quote "$jp_inner") $(jp_quote "$jp_line")"
else
  jp_call="${jp_call}env $jp_tag $jp_shell $(jp_quote "$jp_line")"
fi

# jp_pause SECONDS: in a process of its own, which TERM ends at once.
jp_pause() {
  trap 'kill "$!" 2>/dev/null; exit' TERM
  sleep "$1" >/dev/null 2>&1 9>&- &
  wait "$!"
}

jp_say_waits() {
  jp_pause 5
  echo 'podrun: waits for the end of its standard input, which goes to each host; if there is none: podrun ... </dev/null' >&2
}

# jp_cannot_keep WHAT: ends podrun; a tool has just said why.
jp_cannot_keep() {
  echo "podrun: $1 could not be kept in $jp_dir, see above; TMPDIR may name a folder with room" >&2
  exit 75
}

# Sets jp_input, a file. Each host reads at its own pace, so the input is kept until the end.
jp_input=/dev/null
jp_keep_input() {
  case $jp_verb in
    '') ;;
    detach)
      jp_input=$jp_dir/input
      printf '%s\n' "$jp_order" >"$jp_input" || jp_cannot_keep 'the command'
      return
      ;;
    *) return ;;
  esac
  # None, a terminal or /dev/null.
  if [ ! -e /dev/stdin ] || [ -c /dev/stdin ]; then return; fi
  exec 8<&0
  cat <&8 >"$jp_dir/input" &
  jp_reader=$!
  jp_say_waits &
  jp_saying=$!
  trap 'kill "$jp_reader" "$jp_saying" 2>/dev/null; exit 130' INT TERM HUP
  wait "$jp_reader" || jp_reader=
  kill "$jp_saying" 2>/dev/null
  exec 8<&-
  [ -n "$jp_reader" ] || jp_cannot_keep 'the standard input'
  [ ! -s "$jp_dir/input" ] || jp_input=$jp_dir/input
}

# jp_on FILE HOST LINE INPUT: in the home folder. FILE has the number of ssh while it runs.
jp_on() {
  if [ "$2" = "$jp_self" ]; then
    (cd "$HOME" && exec sh -c "$3") <"$4" 9>&-
    return
  fi
  # shellcheck disable=SC2086
  $jp_bound ssh $jp_ssh_options -- "$2" "$3" <"$4" 9>&- &
  echo "$!" 2>/dev/null >"$1" || [ -d "$jp_dir" ] || kill "$!" # podrun has given up
  wait "$!" 2>/dev/null # dash says there which signal ended it
  jp_ended=$?
  rm -f "$1"
  return "$jp_ended"
}

# jp_spread CALL TARGET...: `CALL NUMBER HOST` for each, which goes on in the background and writes a
# line to descriptor 9 once it is connected, or has failed: only so many are on their way to there.
jp_spread() {
  jp_each=$1
  shift
  mkfifo "$jp_dir/news.$jp_each" && exec 9<>"$jp_dir/news.$jp_each" || exit 75
  jp_free=$jp_window jp_moved='' jp_ticking=
  [ $# -le "$jp_window" ] || {
    while kill -0 "$$" 2>/dev/null; do jp_pause "$jp_patience" && echo tick >&9; done &
    jp_ticking=$!
    echo "$jp_ticking" >"$jp_dir/ticks.$jp_each.ssh"
  }
  for jp_target; do
    jp_turn
    "$jp_each" "${jp_target%%=*}" "${jp_target#*=}" || break
  done
  [ -z "$jp_ticking" ] || kill "$jp_ticking" 2>/dev/null
  rm -f "$jp_dir/ticks.$jp_each.ssh"
}

# jp_turn: waits until the next connection may be opened.
jp_turn() {
  while [ "$jp_free" = 0 ]; do
    read -r jp_news <&9 || return 0 # a signal
    case $jp_news in
      tick)
        # Hosts that are connected and then run nothing do not hold up the others for ever.
        [ -n "$jp_moved" ] || jp_free=$jp_window
        jp_moved=
        ;;
      *) jp_free=1 jp_moved=yes ;;
    esac
  done
  jp_free=$((jp_free - 1))
}

# jp_pass NUMBER: its output, with its number before each line unless it is to be folded. What a login
# shell prints may precede the line of jp_call.
jp_pass() {
  jp_mark="host $1 | "
  [ -z "$jp_fold$jp_out" ] || jp_mark=
  while IFS= read -r jp_text; do
    case $jp_text in
      *"$jp_tag")
        jp_text=${jp_text%"$jp_tag"}
        [ -z "$jp_text" ] || printf '%s%s\n' "$jp_mark" "$jp_text"
        echo >&9
        [ -n "$jp_mark" ] || exec cat 9>&-
        # shellcheck disable=SC2016  # for perl
        ! command -v perl >/dev/null ||
          exec perl -e '$m = shift; $| = 1; while (<STDIN>) { chomp; print "$m$_\n" or exit 1 }' \
            "$jp_mark" 9>&-
        exec sed -u "s/^/$jp_mark/" 9>&- # reads byte by byte, and ends no last line
        ;;
    esac
    printf '%s%s\n' "$jp_mark" "$jp_text"
  done
  [ -z "$jp_text" ] || printf '%s%s\n' "$jp_mark" "$jp_text"
  echo >&9
}

# jp_keep NUMBER: where its output goes.
jp_keep() {
  if [ -n "$jp_fold" ]; then
    jp_to=$jp_dir/$1.out
  elif [ -n "$jp_out" ]; then
    jp_to=$(jp_file "$1").out
  else
    (jp_pass "$1") || true 2>/dev/null >"$jp_dir/$1.lost"
    return
  fi
  (jp_pass "$1" >>"$jp_to") || {
    true 2>/dev/null >"$jp_dir/$1.lost"
    echo >&9 # where the file could not be opened, nothing else has said so
  }
}

# jp_group: of lines NUMBER and KEY, with a tab, for each key a line FIRST, LABEL and KEY: "hosts 0-2,5 (4)".
# shellcheck disable=SC2016  # for awk
jp_group() {
  awk -F '\t' '
    { if (!($2 in hosts)) order[++count] = $2
      hosts[$2] = hosts[$2] " " $1 }
    END {
      for (g = 1; g <= count; ++g) {
        n = split(hosts[order[g]], all, " ")
        text = ""
        for (i = 1; i <= n; i = k + 1) {
          for (k = i; k < n && all[k + 1] == all[k] + 1; ++k);
          text = text (i > 1 ? "," : "") all[i] (k > i ? "-" all[k] : "")
        }
        print all[1] "\t" (n > 1 ? "hosts " text " (" n ")" : "host " text) "\t" order[g]
      }
    }'
}
jp_tab=$(printf '\t')

# jp_show FIRST LABEL: the output that these hosts have in common.
jp_show() {
  if [ ! -s "$jp_dir/$1.out" ]; then
    echo "$2: (no output)"
    return
  fi
  if [ "$(tail -n +2 "$jp_dir/$1.out" | wc -c)" -eq 0 ]; then printf '%s: ' "$2"; else echo "$2:"; fi
  cat "$jp_dir/$1.out"
  [ -z "$(tail -c 1 "$jp_dir/$1.out")" ] || echo
}

# jp_show_folds NUMBER...
# shellcheck disable=SC2016  # for awk
jp_show_folds() {
  (cd "$jp_dir" && for jp_number; do echo "$jp_number.out"; done | xargs sha256sum) |
    awk '{ print $2 + 0 "\t" $1 }' | jp_group |
    while IFS=$jp_tab read -r jp_first jp_label _; do jp_show "$jp_first" "$jp_label"; done
}

jp_begun='' jp_pids='' jp_interrupts=0
jp_run() {
  [ "$jp_interrupts" = 0 ] || return
  jp_begun="$jp_begun $1=$2"
  {
    if [ -n "$jp_out" ]; then
      exec 2>/dev/null
      # The folder may go at any time. `command`: a failing exec alone would end the shell.
      command exec 2>>"$(jp_file "$1").err" || true >"$jp_dir/$1.lost"
    else
      exec 2>&1
    fi
    jp_on "$jp_dir/$1.ssh" "$2" "$jp_call" "$jp_input"
    jp_ended=$?
    # After the third interrupt the folder is gone.
    [ ! -d "$jp_dir" ] || echo "$jp_ended" 2>/dev/null >"$jp_dir/$1"
  } | jp_keep "$1" &
  jp_pids="$jp_pids $!"
}

# jp_awaited TARGET...: prints "hosts 3,7 (2)", those that have not ended; nothing while none has.
jp_awaited() {
  jp_ends=''
  for jp_target; do
    jp_number=${jp_target%%=*}
    if [ -s "$jp_dir/$jp_number" ]; then jp_ends=yes; else printf '%s\t\n' "$jp_number"; fi
  done >"$jp_dir/awaited"
  [ -z "$jp_ends" ] || jp_group <"$jp_dir/awaited" | cut -f 2 |
    sed 's/^\(.\{60\}[0-9-]*\),.*\( (.*\)/\1,...\2/'
}

# jp_name_awaited TARGET...: in the background, again once they are fewer.
jp_name_awaited() {
  jp_named=''
  while jp_pause "$jp_slow" && kill -0 "$$" 2>/dev/null; do
    jp_last_ones=$(jp_awaited "$@" 2>/dev/null)
    [ -z "$jp_last_ones" ] || [ "$jp_last_ones" = "$jp_named" ] ||
      echo "podrun: waiting for $jp_last_ones" >&2
    jp_named=$jp_last_ones
  done
}

# jp_begin_naming TARGET...: on a terminal, in place of an earlier one.
jp_naming=''
jp_begin_naming() {
  jp_end_naming
  [ -t 2 ] || return 0
  jp_name_awaited "$@" &
  jp_naming=$!
  echo "$jp_naming" >"$jp_dir/naming.ssh"
}
jp_end_naming() {
  [ -z "$jp_naming" ] || kill "$jp_naming" 2>/dev/null
  jp_naming=''
  rm -f "$jp_dir/naming.ssh"
}

# jp_TERM, jp_KILL NUMBER HOST: to the processes of the command, where it has not ended.
jp_TERM() { jp_end TERM "$@"; }
jp_KILL() { jp_end KILL "$@"; }
jp_end() {
  [ -d "$jp_dir" ] || return
  jp_kill="for f in \$(grep -lF $jp_tag /proc/[0-9]*/environ 2>/dev/null); do f=\${f#/proc/}; kill -$1 \${f%/environ} 2>/dev/null; done; true"
  {
    [ -s "$jp_dir/$2" ] ||
      jp_on "$jp_dir/$2.$1.ssh" "$3" "$jp_kill" /dev/null >/dev/null 2>&1
    echo >&9
  } &
}

# Ends the ssh processes, which would wait for their hosts. The folder goes first: what they leave
# writes into it.
jp_give_up() {
  jp_left=$(cat "$jp_dir"/*.ssh 2>/dev/null)
  rm -rf "$jp_dir"
  # shellcheck disable=SC2086
  [ -z "$jp_left" ] || kill $jp_left 2>/dev/null
  exit 130
}

# In the background: the next interrupt may come before all hosts are told.
# shellcheck disable=SC2086
jp_interrupted() {
  if [ -n "$jp_verb" ]; then
    jp_show_what_came
    jp_goes_on
    jp_give_up
  fi
  jp_interrupts=$((jp_interrupts + 1))
  case $jp_interrupts in
    1)
      echo 'podrun: TERM to the command on all hosts; again: KILL' >&2
      jp_begin_naming $jp_begun
      jp_spread jp_TERM $jp_begun &
      ;;
    2)
      echo 'podrun: KILL to the command on all hosts; again: ends the wait' >&2
      jp_spread jp_KILL $jp_begun &
      ;;
    *) echo 'podrun: the command may go on where it has not ended' >&2 && jp_give_up ;;
  esac
}

jp_keep_input
jp_had_input=''
[ -n "$jp_verb" ] || [ "$jp_input" = /dev/null ] || jp_had_input=input
[ -z "$jp_again" ] || [ -n "$jp_had_input" ] || [ "$(jp_then 4)" != input ] ||
  jp_refuse 'the last command had an input, which is not kept; give it again: podrun --rerun-failed < FILE'
[ -z "$jp_out" ] || jp_make_out
trap jp_interrupted INT TERM HUP
# shellcheck disable=SC2086
jp_begin_naming $jp_targets
# shellcheck disable=SC2086
jp_spread jp_run $jp_targets
# A signal ends `wait`.
for jp_pid in $jp_pids; do
  while kill -0 "$jp_pid" 2>/dev/null; do wait "$jp_pid"; done
done
jp_end_naming

[ -z "$jp_fold" ] || {
  jp_numbers=''
  for jp_target in $jp_begun; do jp_numbers="$jp_numbers ${jp_target%%=*}"; done
  # shellcheck disable=SC2086
  [ -z "$jp_numbers" ] || jp_show_folds $jp_numbers
}

# jp_remember NUMBER...: these failed. With --rerun-failed those that were left out have still failed.
# As with `jobman exec`, 64 KiB of a command are kept.
jp_remember() {
  for jp_number in $jp_failed; do
    case "$jp_targets " in *" $jp_number="*) ;; *) set -- "$@" "$jp_number" ;; esac
  done
  [ ${#jp_line} -le 65536 ] || jp_line=''
  if [ $# -eq 0 ] || [ -z "${HOME:-}" ]; then
    rm -f "$jp_last"
  elif ! (umask 077 && mkdir -p "${jp_last%/*}" &&
    printf '%s\n%s\n%s\n%s\n%s\n' "$jp_hosts" "$*" "$jp_limit" "$jp_had_input" "$jp_line" \
      >"$jp_last.$$" && mv -f "$jp_last.$$" "$jp_last"); then
    rm -f "$jp_last.$$" "$jp_last"
    echo 'podrun: --rerun-failed will not know of this, see above' >&2
  fi
}

# jp_how CODE: how the command ended, in words.
jp_how() {
  case $jp_limit:$1 in
    :124) if [ -n "$jp_bound" ]; then echo "no answer within ${jp_answer_s}s"; else echo 'exit code 124'; fi ;;
    ?*:124) echo "timeout: the command took longer than $jp_limit" ;;
    ?*:137) echo "exit code 137, by KILL: it took longer than $jp_limit, or the host had no memory left" ;;
    *) echo "exit code $1" ;;
  esac
}

# jp_fails NUMBER WHY. Kept without a file: TMPDIR may be full.
jp_failures=''
jp_fails() {
  jp_bad="$jp_bad $1"
  jp_failures="$jp_failures$1$jp_tab$2
"
}

jp_worst=0 jp_bad=''
for jp_target in $jp_targets; do
  jp_number=${jp_target%%=*}
  case "$jp_begun " in
    *" $jp_target "*) ;;
    *)
      jp_fails "$jp_number" 'the command did not begin'
      continue
      ;;
  esac
  jp_code=255
  read -r jp_code 2>/dev/null <"$jp_dir/$jp_number"
  jp_text=$(jp_how "$jp_code")
  if [ -z "$jp_code" ]; then
    jp_code=75
    jp_text="its exit code could not be kept (is the disk of $jp_dir full?)"
  fi
  [ -z "$jp_out" ] || [ -e "$(jp_file "$jp_number").out" ] || true >"$jp_dir/$jp_number.lost"
  if [ -e "$jp_dir/$jp_number.lost" ]; then
    jp_code=75 # its own may be that of writing to nobody
    jp_text='output could not be written (is the disk full?)'
    [ -n "$jp_out$jp_fold" ] || jp_text='output could not be written (does nobody read it, or is the disk full?)'
  fi
  [ "$jp_code" = 0 ] || {
    jp_fails "$jp_number" "$jp_text"
  }
  [ -z "$jp_out" ] || [ -s "$(jp_file "$jp_number").err" ] || rm -f "$(jp_file "$jp_number").err"
  [ "$jp_code" -le "$jp_worst" ] || jp_worst=$jp_code
done
printf '%s' "$jp_failures" | jp_group |
  while IFS=$jp_tab read -r jp_first jp_label jp_text; do echo "podrun: $jp_label: $jp_text" >&2; done
[ "$jp_interrupts" = 0 ] || exit 130
[ "$jp_verb" != detach ] || jp_summary || jp_worst=75
# shellcheck disable=SC2086
[ -n "$jp_verb" ] || jp_remember $jp_bad
exit "$jp_worst"
