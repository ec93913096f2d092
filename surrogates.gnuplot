name = 'surrogates'
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
set label 1 "Error of surrogates from 300 samples, in deviations of the function: left without noise, right with 0.05" at screen 0.075, 0.955 font ",16" textcolor rgb ink
set lmargin at screen 0.075000; set rmargin at screen 0.500000
set tmargin at screen 0.82; set bmargin at screen 0.10
set key at screen 0.075000, 0.925 left top horizontal maxcols 2 Left reverse samplen 1.5 textcolor rgb ink

set multiplot
set grid ytics lc rgb 0xececec lt 1
set logscale y
set format y "10^{%T}"
set xrange [-0.5:5.5]
set xtics rotate by -30 ("borehole" 0, "OTL" 1, "Friedman" 2, "Ishigami" 3, "Branin" 4, "Franke" 5)
set ylabel "error" textcolor rgb ink
plot "surrogates.csv" using 1:($2 == 0 ? $5 : 1/0) skip 1 with points pt 5 ps 1.2 lc rgb blue title "Gaussian process", \
     "" using 1:($2 == 0 ? $7 : 1/0) skip 1 with points pt 9 ps 1.2 lc rgb amber title "support vectors", \
     "" using 1:($2 == 0 ? $4 : 1/0) skip 1 with points pt 7 ps 1.4 lc rgb red title "kernelet"
unset label 1
set lmargin at screen 0.580000; set rmargin at screen 0.975000
set tmargin at screen 0.82; set bmargin at screen 0.10
set key at screen 0.580000, 0.925 left top horizontal maxcols 2 Left reverse samplen 1.5 textcolor rgb ink

plot "surrogates.csv" using 1:($2 > 0 ? $5 : 1/0) skip 1 with points pt 5 ps 1.2 lc rgb blue notitle, \
     "" using 1:($2 > 0 ? $7 : 1/0) skip 1 with points pt 9 ps 1.2 lc rgb amber notitle, \
     "" using 1:($2 > 0 ? $4 : 1/0) skip 1 with points pt 7 ps 1.4 lc rgb red notitle
unset multiplot
