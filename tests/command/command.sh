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

# A trend is part of what inspect prints: with it, the kernels give the model. A missed tolerance is code 3, whatever else
# bound the fit.
awk 'BEGIN { srand(11); print "a,b,y"; for (i = 0; i < 120; ++i) { a = 4 * rand(); b = rand()
    print a "," b "," 3 + 2 * a - 5 * b + 0.01 * rand() } }' >plane.csv
"$kernelet" fit plane.csv -o plane.model 2>/dev/null
"$kernelet" inspect plane.model >plane.txt
"$kernelet" inspect plane.model --json | grep -q '"trend": {"constant": ' || fail "inspect --json has no trend"
grep -q 'plus the trend .* x (a) .* x (b)' plane.txt || fail "inspect does not print the slopes of a trend"
expect 3 'wrote few.model' "$kernelet" fit wave.csv --drop name --tolerance 0.01 --max-kernels 1 -o few.model

# What is wrong is named, by line and column.
printf 'a,b\n1,2\n3,\n' >missing.csv
expect 1 "line 3, column 'b'" "$kernelet" fit missing.csv -o none.model
printf 'a,b\n1,2\nx,4\n' >word.csv
expect 1 "line 3, column 'a': 'x' is not a number" "$kernelet" fit word.csv -o none.model
printf 'a,b\n1,2\n3\n' >short.csv
expect 1 'line 3: 1 field, not 2' "$kernelet" fit short.csv -o none.model --header --separator ,
expect 1 "no column 'c'; there are 2: a, b" "$kernelet" fit word.csv --target c -o none.model
expect 1 'cannot open nothing.csv' "$kernelet" fit nothing.csv -o none.model
expect 1 'no kernel is called' "$kernelet" fit wave.csv --drop name --kernel gauss -o none.model
expect 1 'tolerance = -1' "$kernelet" fit wave.csv --drop name --tolerance -1 -o none.model
expect 1 'is no model' "$kernelet" inspect wave.csv
expect 2 'required' "$kernelet" fit
expect 0 'examples:' "$kernelet" --help
expect 0 '^0\.' "$kernelet" --version
expect 2 "no command 'learn'" "$kernelet" learn wave.csv
expect 2 'Usage: kernelet' "$kernelet"
for command in fit predict inspect cross-validate export report; do
    expect 0 "kernelet $command .*\.\(csv\|tsv\|model\)" "$kernelet" $command --help
done
expect 2 "must be a number above zero, not '0'" "$kernelet" fit wave.csv --max-kernels 0
expect 2 "must be a number above zero, not '-1'" "$kernelet" fit wave.csv --time-limit -1
expect 2 'without a sign' "$kernelet" fit wave.csv --seed -1
expect 1 'takes one character' "$kernelet" fit wave.csv --separator ''
expect 1 'takes one character' "$kernelet" fit wave.csv --separator 5
expect 1 'is a folder' "$kernelet" fit . -o none.model
expect 1 'is a folder' "$kernelet" inspect .
expect 1 'is a folder' "$kernelet" fit wave.csv --drop name -o .
expect 1 'cannot write nowhere/none.model: No such file' "$kernelet" fit long_before_it_is_read.csv -o nowhere/none.model
expect 1 'numbers of columns begin at 1' "$kernelet" fit wave.csv --target 0 -o none.model
printf 'a,b\n1,2\n2,1e400\n3,4\n' >huge.csv
expect 1 "line 3, column 'b': '1e400' is larger than any double" "$kernelet" fit huge.csv -o none.model
expect 1 "'1e400' is larger than any double" "$kernelet" fit huge.csv --target a -o none.model
awk 'BEGIN { print "a,b"; for (i = 0; i < 40; ++i) print i "," (i == 30 ? "x" : i / 7) }' >typo.csv
expect 1 "line 32, column 'b': 'x' is not a number" "$kernelet" fit typo.csv -o none.model
awk 'BEGIN { print "a,b"; for (i = 0; i < 40; ++i) print i ",one" }' >single.csv
expect 1 "same label 'one' in all rows" "$kernelet" fit single.csv -o none.model
expect 1 'a classifier needs two classes' "$kernelet" cross-validate single.csv
awk 'BEGIN { print "a,b"; for (i = 0; i < 2000; ++i) print i ",name" i }' >names.csv
expect 1 '2000 different labels' "$kernelet" fit names.csv -o none.model
expect 1 'folds 1 must be between 2 and' "$kernelet" cross-validate wave.csv --drop name --folds 1
expect 1 'name = .9x. must be a C identifier' "$kernelet" export wave.model --name 9x
head -n 8 wave.model >short.model
expect 1 'short.model, line 9: the file ends here' "$kernelet" inspect short.model
if [ -e none.model ]; then fail "a refused fit wrote a file"; fi
expect 3 'wrote hurried.model' "$kernelet" fit wave.csv --drop name --time-limit 1e-9 -o hurried.model
"$kernelet" predict hurried.model turned.csv >/dev/null || fail "a fit that was stopped has no model"

# Columns are never taken by position where the names of a header differ, nor one column for two of the same name.
printf 'y,other;s\n1,2\n' >renamed.csv
expect 1 'lacks inputs of the model: the place, x' "$kernelet" predict wave.model renamed.csv
awk 'BEGIN { print "a,a,y"; for (i = 0; i < 60; ++i) print i % 8 "," i % 7 "," (i % 7)^2 }' >twins.csv
"$kernelet" fit twins.csv --regression -o twins.model 2>/dev/null
"$kernelet" predict twins.model twins.csv | paste -d , - twins.csv |
    awk -F, 'NR > 1 && ($1 - $4)^2 > 4 { exit 1 }' || fail "one column is taken for two inputs of the same name"

# A constant is a model too, with all that is made of models; a device is written to, not replaced.
awk 'BEGIN { print "a,b"; for (i = 0; i < 20; ++i) print i ",3.5" }' >flat.csv
expect 0 "'b' is 3.5 in all rows" "$kernelet" fit flat.csv -o flat.model
expect 0 'model has no kernels' "$kernelet" fit flat.csv -o flat.model
expect 0 '0 gaussian kernels' "$kernelet" inspect flat.model
expect 0 'double model' "$kernelet" export flat.model
expect 0 'wrote flat.html' "$kernelet" report flat.model flat.csv -o flat.html
if grep -q -e 'nan' -e 'inf,' flat.html; then fail "the report of a constant is not made of numbers"; fi
ln -s flat.model link.model
"$kernelet" fit flat.csv -o link.model 2>/dev/null
[ -L link.model ] || fail "a link is replaced and not followed"
mkfifo pipe && cat pipe >piped.model &
sleep 0.2
"$kernelet" fit flat.csv -o pipe 2>/dev/null
[ -p pipe ] || fail "a pipe is replaced by a file"
wait
"$kernelet" inspect piped.model >/dev/null || fail "nothing came through the pipe"
if ls ./*.part >/dev/null 2>&1; then fail "unfinished files are left"; fi
# Letters of another encoding; a table that another header guess would lose.
printf 'Temp\351rature,y\n1,2\n2,3\n3,5\n4,4\n' >latin.csv
"$kernelet" fit latin.csv --regression -o latin.model 2>/dev/null
"$kernelet" inspect latin.model --json >latin.json
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import json; json.load(open("latin.json", encoding="utf-8"))["certificate"][0]["dual_value"]' ||
        fail "JSON is not UTF-8 or has no certificate"
fi

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
"$kernelet" cross-validate long.csv >folds.txt 2>said.txt &
child=$!
sleep 1
kill -INT $child 2>/dev/null || fail "the cross-validation to be stopped was over too early"
set +e
wait $child
got=$?
set -e
[ $got -eq 3 ] || fail "a cross-validation stopped by ^C ended with $got"
grep -q 'stopped by ^C' said.txt || fail "a cross-validation stopped by ^C does not say so"
if grep -q 'nan' folds.txt; then fail "a cross-validation without a fold has a score"; fi
echo ok
