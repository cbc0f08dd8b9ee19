# Fast readings, pulled. A request is a line `T SEQ FILE FILE...`; the answer is framed by the random word in N.
# `head` on several files forks once for all of them and heads each with its name; its errors come in between.
export LC_ALL=C
unset ENV BASH_ENV CDPATH S
printf '@%s hello %s %s\n' "$N" $$ "$P"
while IFS=' ' read -r c q f; do
  case $c in
    T) printf '@%s begin %s\n' "$N" "$q"; head -n 20000 $f 2>&1; printf '\n@%s end %s\n' "$N" "$q" ;;
  esac
done
