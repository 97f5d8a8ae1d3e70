#!/bin/sh
# hardening.sh PROGRAM...: each program carries what a release build promises, as read from the
# program itself. One that is not built is left out. Exit code 0: yes, 1: no, 77: cannot tell here.
set -u
for tool in readelf objdump; do
  command -v $tool >/dev/null || { echo "needs $tool: install binutils"; exit 77; }
done
failed=0
seen=''

lacks() {
  echo "${program##*/}: no $1"
  failed=1
}

for program in "$@"; do
  [ -x "$program" ] || continue
  seen=yes
  facts=$(readelf -hldnW "$program" && readelf -sW "$program")
  has() { echo "$facts" | grep -qE "$1"; }
  has 'Type: +DYN' || lacks 'position-independent code'
  has 'GNU_RELRO' || lacks 'relocations that are read-only'
  has 'GNU_STACK.* RW ' || lacks 'stack without code'
  has 'BIND_NOW|FLAGS_1.*NOW' || lacks 'binding at the start'
  has '__stack_chk_fail' || lacks 'stack protector'
  has '__mem(cpy|move)_chk' || lacks 'checked copies of unknown size (_FORTIFY_SOURCE=3)'
  has 'glibcxx_assert_fail' || lacks 'checks in the standard library (_GLIBCXX_ASSERTIONS)'
  has 'X86-64' || continue
  has 'x86 feature:.*SHSTK' || lacks 'note of a shadow stack'
  objdump -d --disassemble=main "$program" | grep -q endbr64 || lacks 'landing pads'
  objdump -d --no-show-raw-insn "$program" |
    grep -qE 'orq +.0x0,(0x[0-9a-f]+)?\(%rsp\)' || lacks 'probes of large stack frames'
done
[ -n "$seen" ] || { echo "no program is built"; exit 77; }
exit $failed
