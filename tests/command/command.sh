#!/bin/sh
# The kernelet command from a table to C and back. $1: the command, $2: a folder of its own.
set -eu
kernelet=$1
rm -rf "$2" && mkdir -p "$2" && cd "$2"

fail() {
    printf 'command.sh: %s\n' "$*" >&2
    exit 1
}
# expect CODE WORDS command...: the command ends with this code, and says these words.
expect() {
    code=$1 words=$2
    shift 2
    set +e
    "$@" >out.txt 2>&1
    got=$?
    set -e
    if [ "$got" -ne "$code" ]; then cat out.txt >&2 && fail "'$*' ended with $got, not $code"; fi
    grep -q -e "$words" out.txt || { cat out.txt >&2 && fail "'$*' does not say '$words'"; }
}

# A wave over two inputs, of which one has no effect, and a column of words; CRLF, a byte-order mark, a comment.
awk 'BEGIN {
    printf "\357\273\277# measured by hand\r\n\"the place, x\",other;s,name,y\r\n"
    srand(7)
    for (i = 0; i < 240; ++i) {
        x = 6 * rand(); o = rand(); noise = rand() + rand() + rand() - 1.5
        printf "%.6f,%.4f,\"a \"\"%d\"\"\",%.6f\r\n", x, o, i % 3, sin(x) + 0.05 * noise
    }
}' >wave.csv

"$kernelet" fit wave.csv --drop name -o wave.model 2>said.txt
grep -q 'converged: ' said.txt || fail "fit says nothing of the fit"
[ "$(wc -l <said.txt)" -eq 2 ] || fail "fit draws a bar into a pipe"
"$kernelet" predict wave.model wave.csv >predicted.csv
[ "$(wc -l <predicted.csv)" -eq 241 ] || fail "predict does not give a row per row"
tr -d '\r' <wave.csv | tail -n +3 | awk -F, '{ print $NF }' >truth.txt
tail -n +2 predicted.csv | paste - truth.txt |
    awk '{ s += ($1 - $2)^2 } END { if (sqrt(s / NR) > 0.04) { print "error " sqrt(s / NR); exit 1 } }' ||
    fail "the model does not predict its own rows"

# By name, whatever the order of the columns; by number where there is no header.
tr -d '\r' <wave.csv | tail -n +3 | awk -F, 'BEGIN { print "other;s,\"the place, x\"" } { print $2 "," $1 }' >turned.csv
"$kernelet" predict wave.model turned.csv >turned.txt
cmp -s predicted.csv turned.txt || fail "columns are not found by their names"
tr -d '\r' <wave.csv | tail -n +3 | awk -F, '{ print $1 "\t" $2 }' >bare.tsv
"$kernelet" predict wave.model bare.tsv >bare.txt
cmp -s predicted.csv bare.txt || fail "columns without names are not taken by number"
"$kernelet" predict wave.model - <turned.csv | cmp -s - predicted.csv || fail "- is not the standard input"
"$kernelet" predict wave.model turned.csv --noise | awk -F, 'NR > 1 && !($2 > 0) { exit 1 }' || fail "no deviations"

# The same numbers from C, to the digits of a double.
if command -v cc >/dev/null 2>&1; then
    "$kernelet" export wave.model -o wave.c --name wave
    cat >main.c <<'END'
#include <stdio.h>
double wave(const double x[2]);
int main(void) {
    double x[2];
    while (scanf("%lf,%lf", &x[1], &x[0]) == 2) printf("%.17g\n", wave(x));
    return 0;
}
END
    cc -std=c99 -O1 -Wall -Wextra -Werror -pedantic wave.c main.c -lm -o wave
    tail -n +2 predicted.csv >numbers.txt
    tail -n +2 turned.csv | ./wave | paste - numbers.txt |
        awk '{ d = $1 - $2; if (d > 1e-12 || d < -1e-12) { print; exit 1 } } END { if (NR != 240) exit 1 }' ||
        fail "exported C predicts otherwise"
fi

"$kernelet" inspect wave.model | grep -q 'the place, x' || fail "inspect does not name the inputs"
"$kernelet" inspect wave.model --json >wave.json
if command -v python3 >/dev/null 2>&1; then python3 -m json.tool wave.json >/dev/null || fail "no JSON"; fi
"$kernelet" report wave.model wave.csv -o wave.html 2>/dev/null
for word in '<svg' 'ellipse' 'standard error' 'gap P - D' 'kernelet fit wave.csv'; do
    grep -q -e "$word" wave.html || fail "the report lacks '$word'"
done
if grep -q -e 'http' -e '<script' wave.html; then fail "the report asks for more than itself"; fi

# Classes by name.
awk 'BEGIN {
    srand(3); print "u;v;kind"
    for (i = 0; i < 150; ++i) { c = i % 3; print 3 * c + rand() ";" rand() ";" (c == 0 ? "ash" : c == 1 ? "birch" : "oak, old") }
}' >trees.csv
"$kernelet" fit trees.csv -o trees.model 2>said.txt
"$kernelet" predict trees.model trees.csv --probabilities >trees.txt
head -n 1 trees.txt | grep -q 'predicted,P(ash),P(birch),"P(oak, old)"' || fail "no column per class"
[ "$(grep -c '^"oak, old",' trees.txt)" -eq 50 ] || fail "classes are mixed up"
"$kernelet" cross-validate trees.csv --folds 3 2>/dev/null | grep -q 'log loss' || fail "cross-validate has no log loss"
"$kernelet" report trees.model trees.csv -o trees.html 2>/dev/null
"$kernelet" export trees.model | grep -q 'trees\|model' || fail "classes are not exported"

# What is wrong is named, by line and column.
printf 'a,b\n1,2\n3,\n' >missing.csv
expect 1 "line 3, column 'b'" "$kernelet" fit missing.csv -o none.model
printf 'a,b\n1,2\nx,4\n' >word.csv
expect 1 "line 3, column 'a': 'x' is not a number" "$kernelet" fit word.csv -o none.model
printf 'a,b\n1,2\n3\n' >short.csv
expect 1 'line 3: 1 fields, not 2' "$kernelet" fit short.csv -o none.model --header --separator ,
expect 1 "no column 'c'; there are 2: a, b" "$kernelet" fit word.csv --target c -o none.model
expect 1 'cannot open nothing.csv' "$kernelet" fit nothing.csv -o none.model
expect 1 'no kernel is called' "$kernelet" fit wave.csv --drop name --kernel gauss -o none.model
expect 1 'tolerance = -1' "$kernelet" fit wave.csv --drop name --tolerance -1 -o none.model
expect 1 'is no model' "$kernelet" inspect wave.csv
expect 2 'required' "$kernelet" fit
expect 0 'examples:' "$kernelet" --help
expect 0 '^0\.' "$kernelet" --version
if [ -e none.model ]; then fail "a refused fit wrote a file"; fi
expect 3 'wrote hurried.model' "$kernelet" fit wave.csv --drop name --time-limit 1e-9 -o hurried.model
"$kernelet" predict hurried.model turned.csv >/dev/null || fail "a fit that was stopped has no model"

# ^C: the best model so far.
awk 'BEGIN { srand(5); print "a,b,c,d,y"
    for (i = 0; i < 4000; ++i) { a = rand(); b = rand(); c = rand(); d = rand()
        print a "," b "," c "," d "," sin(9 * a * b) + cos(7 * c) + d + 0.1 * rand() } }' >long.csv
"$kernelet" fit long.csv -o long.model 2>said.txt &
child=$!
sleep 1
kill -INT $child 2>/dev/null || fail "the fit to be stopped was over too early"
set +e
wait $child
got=$?
set -e
[ $got -eq 3 ] || fail "a fit stopped by ^C ended with $got"
grep -q 'stopped by ^C' said.txt || fail "a fit stopped by ^C does not say so"
"$kernelet" predict long.model long.csv >/dev/null || fail "a fit stopped by ^C has no model"
echo ok
