# Several logs of low rate on one channel. A request is a line `F SEQ COMMAND`; each line of the command's output comes
# as `@WORD SEQ TEXT`, its end as `@WORD SEQ! EXIT_CODE`. A line is cut below PIPE_BUF and written at once, so that
# lines of several logs are never torn. All ends with standard input: the whole process group, since a follower that
# waits for its next line notices nothing by itself. A pattern that counts to 3900 cost 15 ms a line; `s/.//3901g` 0.2.
# busybox has no `sed -u`, and without it lines come in blocks.
export LC_ALL=C
unset ENV BASH_ENV CDPATH S
if sed -u '' </dev/null >/dev/null 2>&1; then
  tag() { sed -u -e 's/.//3901g' -e "s/^/@$N $1 /"; }
else
  tag() { while IFS= read -r l; do printf '@%s %s %.3900s\n' "$N" "$1" "$l"; done; }
fi
feed() {
  r=$({ { /bin/sh -c "$2" 2>&1 3>&- 4>&-; echo $? >&3; } | tag "$1" >&4 3>&-; } 3>&1)
  printf '@%s %s! %s\n' "$N" "$1" "$r" >&4
}
exec 4>&1
printf '@%s hello %s %s\n' "$N" $$ "$P"
while IFS=' ' read -r c q a; do
  case $c in
    F) feed "$q" "$a" </dev/null & ;;
  esac
done
trap '' TERM
kill 0
