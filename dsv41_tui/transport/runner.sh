# Rare and risky readings: each runs apart, under a time limit, and tags every line of its answer, so that one that
# hangs in D state holds up nothing else. Requests are lines `J SEQ LIMIT_S SHELL TEXT` and, for one plain command
# without a shell between, `P SEQ LIMIT_S COMMAND`. Answers are `@WORD SEQ? 0` when it begins, lines `@WORD SEQ TEXT`
# and at the end `@WORD SEQ! EXIT_CODE`. A line is one write below PIPE_BUF, hence never torn.
# The timeout of busybox ends the command that it started and not that command's children: with busybox, give it one
# command, by P or by `exec`.
export LC_ALL=C
unset ENV BASH_ENV CDPATH S
if timeout -k 1 5 true 2>/dev/null; then
  lim() { s=$1; shift; exec timeout -k 2 "$s" "$@"; }
else
  lim() { s=$1; shift; "$@" & c=$!; ( sleep "$s"; kill -9 $c ) >/dev/null 2>&1 & k=$!; wait $c; r=$?; kill $k 2>/dev/null; exit $r; }
fi
say() { printf '@%s %s %.3900s\n' "$N" "$1" "$2"; }
job() {
  say "$1?" 0
  o=$(lim "$2" /bin/sh -c "$3" 2>&1)
  r=$?
  printf '%.200000s\n' "$o" | while IFS= read -r l; do say "$1" "$l"; done
  say "$1!" $r
}
probe() {
  say "$1?" 0
  o=$(eval "lim $2 $3" 2>&1)
  r=$?
  [ -z "$o" ] || say "$1" "$(printf '%s' "$o" | tr '\n' ' ')"
  say "$1!" $r
}
printf '@%s hello %s %s\n' "$N" $$ "$P"
while IFS=' ' read -r c q s a; do
  case $c in
    J) job "$q" "$s" "$a" </dev/null & ;;
    P) probe "$q" "$s" "$a" </dev/null & ;;
  esac
done
