name = 'complexity'
set encoding utf8
if (strstrt(GPVAL_TERMINALS, "pngcairo")) {
    set terminal pngcairo size 1200,700 enhanced font "Sans,12"
} else {
    set terminal png size 1200,700
}
set output name.".png"
set datafile separator ","
red = 0xb2182b; blue = 0x2166ac; amber = 0xe08214; ink = 0x333333; pale = 0x9a9a9a
sign_color(a) = a > 0 ? red : blue
set border lc rgb pale
set tics textcolor rgb ink nomirror out scale 0.6
set lmargin at screen 0.075
set label 1 "Centers off the samples: 10 kernels reach what KOMP needs 72 for (m = 20, n = 120)" at screen 0.075, 0.955 font ",16" textcolor rgb ink
set lmargin at screen 0.075000; set rmargin at screen 0.500000
set tmargin at screen 0.82; set bmargin at screen 0.10
set key at screen 0.075000, 0.925 left top horizontal maxcols 2 Left reverse samplen 1.5 textcolor rgb ink

set multiplot
set grid ytics lc rgb 0xececec lt 1
set logscale y
set format y "10^{%T}"
set xrange [0:51]
set xtics 10
set xlabel "kernels at most" textcolor rgb ink
set ylabel "median squared error, m = 10, n = 100" textcolor rgb ink
plot "complexity_error.csv" using 1:6 skip 1 with linespoints pt 7 ps 0.9 lw 2 lc rgb blue title "KOMP", \
     "" using 1:9 skip 1 with linespoints pt 5 ps 0.9 lw 2 lc rgb amber title "PII', Algorithm 1", \
     "" using 1:4 skip 1 with linespoints pt 7 ps 0.9 lw 2 lc rgb red title "PII', defaults"
unset logscale y
unset label 1
set lmargin at screen 0.580000; set rmargin at screen 0.975000
set tmargin at screen 0.82; set bmargin at screen 0.10
set key at screen 0.580000, 0.925 left top horizontal maxcols 2 Left reverse samplen 1.5 textcolor rgb ink

set format y "%g"
set yrange [0:*]
set xrange [-0.6:8.6]
set xtics () font ",10"
set boxwidth 0.42 relative
set style fill solid 0.75 noborder
set xlabel "Gaussians m, samples n" textcolor rgb ink
set ylabel "kernels to the same error; n + 1 where KOMP has none" textcolor rgb ink
plot "complexity.csv" using ($0 - 0.22):3:xtic(sprintf("%d,%d", $1, $2)) skip 1 with boxes fc rgb red \
         title "PII', defaults", \
     "" using ($0 + 0.22):4 skip 1 with boxes fc rgb blue title "KOMP's smallest as good"
unset multiplot
