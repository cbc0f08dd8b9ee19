# One long-lived command, A, that dies with standard input and hands its exit code on.
export LC_ALL=C
unset ENV BASH_ENV CDPATH S
printf '@%s hello %s %s\n' "$N" $$ "$P"
exec 3<&0
/bin/sh -c "exec $A" </dev/null 3<&- 2>&1 &
c=$!
{ cat <&3; kill $c; } >/dev/null 2>&1 &
k=$!
exec 3<&-
wait $c
r=$?
kill $k 2>/dev/null
exit $r
