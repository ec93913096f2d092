#pragma once

#include <Eigen/Core>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

/// Helpers of the examples and the experiments of benchmarks/paper: CSV files, and gnuplot scripts that
/// draw them, all in the current folder.
namespace plot {

/// A header line, then one line per row.
inline void write_csv(const std::string& path, const std::string& header, const Eigen::MatrixXd& table,
                      int digits = Eigen::FullPrecision) {
    const Eigen::IOFormat csv(digits, Eigen::DontAlignCols, ",", "\n");
    std::ofstream file(path);
    file << header << '\n' << table.format(csv) << '\n';
    if (!file) throw std::runtime_error("cannot write " + path);
}

/// Writes name.gnuplot and runs it, which makes name.png; without gnuplot, prints how to get it.
inline void draw(const std::string& name, const std::string& body, int height = 700) {
    std::ofstream(name + ".gnuplot") << "name = '" << name << "'; height = " << height << R"gnuplot(
set encoding utf8
if (strstrt(GPVAL_TERMINALS, "pngcairo")) {
    set terminal pngcairo size 1200,height enhanced font "Sans,12"
} else {
    set terminal png size 1200,height
}
set output name.".png"
set datafile separator ","
red = 0xb2182b; blue = 0x2166ac; amber = 0xe08214; ink = 0x333333; pale = 0x9a9a9a
sign_color(a) = a > 0 ? red : blue
set border lc rgb pale
set tics textcolor rgb ink nomirror out scale 0.6
set lmargin at screen 0.075
)gnuplot" << body;
    if (std::system("gnuplot --version > gnuplot.log 2>&1") != 0)
        std::cout
            << "gnuplot is not here: install it (apt-get install gnuplot-nox, dnf install gnuplot, brew "
               "install gnuplot) and run  gnuplot "
            << name << ".gnuplot\n";
    else if (std::system(("gnuplot " + name + ".gnuplot").c_str()) == 0)
        std::cout << "drawn: " << name << ".png\n";
    else
        throw std::runtime_error("gnuplot failed on " + name + ".gnuplot");
}

/// The finding, above the picture.
inline std::string title(const std::string& text) {
    return "set label 1 \"" + text + "\" at screen 0.075, 0.955 font \",16\" textcolor rgb ink\n";
}

/// Where the next plot goes, from left to right as shares of the picture: below the title and, between the
/// two, its key.
inline std::string panel(double left, double right) {
    const std::string from = std::to_string(left);
    return "set lmargin at screen " + from + "; set rmargin at screen " + std::to_string(right) +
           "\nset tmargin at screen 0.82; set bmargin at screen 0.10\n" + "set key at screen " + from +
           ", 0.925 left top horizontal maxcols 2 Left reverse samplen 1.5 textcolor rgb ink\n";
}

/// fit.png, from fit.csv, curve.csv and kernels.csv: samples and model; each kernel's own part of the model, whole; the
/// centers and the widths of the kernels.
inline void draw_fit() {
    draw("fit", R"gnuplot(
stats "kernels.csv" using 2 skip 1 nooutput
K = int(STATS_records); narrowest = STATS_min; widest = STATS_max
array Z[K]; array W[K]; array A[K]
stats "kernels.csv" using (j = int($0) + 1, Z[j] = $1, W[j] = $2, A[j] = $3) skip 1 nooutput
least = STATS_min; most = STATS_max
kernel(j, u) = A[j] * exp(-0.5 * u**2)

set multiplot
set rmargin at screen 0.975
set xrange [-5.25:5.25]
set xtics 1
set format x ""
set grid ytics lc rgb 0xececec lt 1

set tmargin at screen 0.87; set bmargin at screen 0.61
set label 1 sprintf("sin(½πx²) learned by %d Gaussian kernels, each with its own center and width", K) \
    at screen 0.075, 0.965 font ",16" textcolor rgb ink
set key at screen 0.975, 0.915 right center horizontal maxrows 1 Left reverse samplen 1.5 textcolor rgb ink
set yrange [-1.35:1.35]
set ytics 0.5
set ylabel "y" offset 1 textcolor rgb ink
plot "curve.csv" using 1:2 skip 1 with lines lc rgb ink lw 1.8 title "model: the sum of the kernels", \
     "fit.csv" using 1:2 skip 1 with points pt 7 ps 0.6 lc rgb amber title "noisy samples", \
     NaN with boxes fc rgb red fs transparent solid 0.13 border lc rgb red title "kernels that add", \
     NaN with boxes fc rgb blue fs transparent solid 0.13 border lc rgb blue title "kernels that subtract"
unset label 1; unset key

set tmargin at screen 0.58; set bmargin at screen 0.33
set yrange [1.08*least:1.08*most]
set ytics 5
set ylabel "each kernel alone" offset 1 textcolor rgb ink
set samples 160
plot for [j=1:K] [u=-5:5] "+" using (Z[j] + W[j]*u):(kernel(j, u)) with filledcurves y=0 \
         fc rgb sign_color(A[j]) fs transparent solid 0.13 noborder notitle, \
     for [j=1:K] [u=-5:5] "+" using (Z[j] + W[j]*u):(kernel(j, u)) with lines \
         lc rgb sign_color(A[j]) lw 0.8 notitle

set tmargin at screen 0.30; set bmargin at screen 0.085
set format x "%g"
set xlabel "x:  center, and one width to each side" textcolor rgb ink
set ylabel "width" offset 1 textcolor rgb ink
set logscale y
set yrange [0.7*narrowest:1.7*widest]
set ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
plot "kernels.csv" using 1:2:2:(sign_color($3)) skip 1 with xerrorbars pt -1 lw 1.6 lc rgb variable, \
     "kernels.csv" using 1:2:(0.45 + 1.1*sqrt(abs($3))):(sign_color($3)) skip 1 \
         with points pt 7 ps variable lc rgb variable
unset multiplot
)gnuplot",
         900);
}

/// alpha.png, from alpha.csv (an even grid in z and log10 w) and kernels.csv.
inline void draw_alpha() {
    draw("alpha", R"gnuplot(
stats "alpha.csv" using ($4 == 0 ? NaN : abs($4)) skip 1 nooutput
T = STATS_min; M = STATS_max
at(share) = T + share * (M - T)
stats "alpha.csv" using 1:3 skip 1 nooutput
set xrange [STATS_min_x:STATS_max_x]
set yrange [STATS_min_y:STATS_max_y]
set cbrange [-M:M]
set palette defined (-M "#053061", -at(0.6) "#2166ac", -at(0.3) "#4393c3", -T "#a6d0e4", -T "#ffffff", \
                     T "#ffffff", T "#f7b799", at(0.3) "#d6604d", at(0.6) "#b2182b", M "#67001f") maxcolors 0
set rmargin at screen 0.865; set tmargin at screen 0.88; set bmargin at screen 0.10
set label 1 "α(z, w), the coefficient function of the dual problem" \
    at screen 0.075, 0.955 font ",16" textcolor rgb ink
set key at screen 0.865, 0.91 right center horizontal Left reverse samplen 1.5 textcolor rgb ink
set xlabel "center z" textcolor rgb ink
set ylabel "width w, logarithmic" offset 1 textcolor rgb ink
set xtics 1
set ytics ()
do for [w in "0.01 0.02 0.05 0.1 0.2 0.5 1 2 5"] { set ytics add (w log10(w)) }
set cblabel "α(z, w); white: zero, below the threshold" offset 1 textcolor rgb ink
plot "alpha.csv" using 1:3:4 skip 1 with image notitle, \
     "kernels.csv" using 1:(log10($2)) skip 1 with points pt 6 ps 1.6 lw 1.5 lc rgb ink \
         title "kernels of the model"
)gnuplot");
}

/// classifier.png, from probability.csv (a matrix: x1 in the first row, x2 in the first column), samples.csv
/// and kernels.csv: the probability of either class, the boundary, and each kernel as the ellipse of its
/// widths.
inline void draw_classifier() {
    draw("classifier", R"gnuplot(
stats "kernels.csv" using 1 skip 1 nooutput
K = int(STATS_records)
stats "kernels.csv" using (abs($5)) skip 1 nooutput
largest = STATS_max

set contour base
unset surface
set cntrparam levels discrete 0.5
set table "boundary.dat"
splot "probability.csv" nonuniform matrix skip 1 using 1:2:3
set cntrparam levels discrete 0.1, 0.9
set table "tenths.dat"
splot "probability.csv" nonuniform matrix skip 1 using 1:2:3
unset table
unset contour
set surface
part(k) = real(word(strcol(1), k))  # tables of contours have blanks between columns, and no choice

set size ratio -1
set rmargin at screen 0.865; set tmargin at screen 0.88; set bmargin at screen 0.10
set label 1 sprintf("Two moons separated by %d kernels, each with its own center and widths", K) \
    at screen 0.075, 0.965 font ",16" textcolor rgb ink
set key at screen 0.865, 0.91 right center horizontal maxcols 5 maxrows 1 Left reverse samplen 1 width -1 \
    textcolor rgb ink
set xlabel "x_1:  each kernel at its center, one width around; the dot grows with its coefficient" \
    textcolor rgb ink
set ylabel "x_2" offset 1 textcolor rgb ink
set xtics 1
set ytics 1
set xrange [-2.1:3.1]
set yrange [-1.29:1.79]
set cbrange [0:1]
set cbtics 0.25
set cblabel "probability of the red class" offset 1 textcolor rgb ink
set palette defined (0 "#a9cbe3", 0.25 "#d6e6f1", 0.5 "#fbfbfb", 0.75 "#fae0d4", 1 "#f2b59c") maxcolors 20
plot "probability.csv" nonuniform matrix skip 1 using 1:2:3 with image notitle, \
     "tenths.dat" using (part(1)):(part(2)) with lines dt (14, 8) lc rgb ink lw 1.2 title "10 %, 90 %", \
     "boundary.dat" using (part(1)):(part(2)) with lines lc rgb ink lw 2.4 title "boundary", \
     "samples.csv" using 1:($3 > 0 ? $2 : NaN) skip 1 with points pt 7 ps 0.62 lc rgb red notitle, \
     "samples.csv" using 1:($3 > 0 ? NaN : $2) skip 1 with points pt 7 ps 0.62 lc rgb blue notitle, \
     "kernels.csv" using 1:2:(2*$3):(2*$4):(0):(sign_color($5)) skip 1 with ellipses fs empty \
         lw 2.2 lc rgb variable notitle, \
     "kernels.csv" using 1:2:(1.6 + 1.8*sqrt(abs($5)/largest)) skip 1 with points pt 7 ps variable \
         lc rgb "white" notitle, \
     "kernels.csv" using 1:2:(1.2 + 1.8*sqrt(abs($5)/largest)):(sign_color($5)) skip 1 with points pt 7 \
         ps variable lc rgb variable notitle, \
     NaN with points pt 7 ps 0.7 lc rgb red title "samples", \
     NaN with points pt 7 ps 2.2 lc rgb red title "kernels for red", \
     NaN with points pt 7 ps 2.2 lc rgb blue title "kernels for blue"
)gnuplot");
}

/// cross_validation.png, from errors.csv: the limit on the number of kernels, their mean number, the error over all
/// samples, and that of each fold.
inline void draw_cross_validation(double noise) {
    draw("cross_validation", "noise = " + std::to_string(noise) + R"gnuplot(
stats "errors.csv" skip 1 nooutput
columns = int(STATS_columns)
stats "errors.csv" using 3 skip 1 nooutput
least = STATS_min
stats "errors.csv" using ($3 < 1.1*least ? $2 : NaN) skip 1 nooutput
enough = STATS_min
stats "errors.csv" using 1 skip 1 nooutput
first = STATS_min; last = STATS_max
set rmargin at screen 0.975; set tmargin at screen 0.84; set bmargin at screen 0.10
set label 1 sprintf("A chirp by cross-validation: from %.0f kernels on, more of them do not help", enough) \
    at screen 0.075, 0.955 font ",16" textcolor rgb ink
set key at screen 0.975, 0.90 right center horizontal maxrows 1 Left reverse samplen 1.5 textcolor rgb ink
set xlabel "the most kernels allowed; inside the frame, the mean number used" textcolor rgb ink
set ylabel "root mean squared error on the samples left out" offset 1 textcolor rgb ink
set xrange [first - 1:last + 1]
set xtics first, 2
set logscale y
set yrange [0.6*noise:1.1]
set ytics (0.02, 0.05, 0.1, 0.2, 0.5, 1)
set grid ytics lc rgb 0xececec lt 1
plot noise with lines dt (10, 6) lw 1.6 lc rgb amber title "noise", \
     for [k=4:columns] "errors.csv" using 1:k skip 1 with linespoints pt 7 ps 0.8 lw 0.8 lc rgb 0x92b7d6 \
         title (k == 4 ? "each fold" : ""), \
     "errors.csv" using 1:3 skip 1 with linespoints pt 7 ps 1.4 lw 2.4 lc rgb ink title "all folds", \
     "errors.csv" using 1:(0.72*noise):(sprintf("%.1f", $2)) skip 1 with labels textcolor rgb ink notitle
)gnuplot");
}

}  // namespace plot
