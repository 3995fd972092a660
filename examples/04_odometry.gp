# A figure of eight by odometry: draws examples/odometry.svg.
#   04_odometry >odometry.txt && gnuplot -e "data='odometry.txt'; out='examples/odometry.svg'" examples/04_odometry.gp &&
#   cmake/docs/small_svg.py examples/odometry.svg
ink = '#3a4149'
set terminal svg size 1000,520 dynamic noenhanced font 'Helvetica,Arial,sans-serif,13' background '#ffffff'
set encoding utf8
set output out
set border 3 linewidth 1 linecolor rgb ink
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back linewidth 0.7 linetype 1 linecolor rgb '#dfe3e8'
set margins 8,2,3.5,2.5
set size ratio -1
set xlabel 'x (m)' offset 0,0.4 textcolor rgb ink
set ylabel 'y (m)' textcolor rgb ink
set style ellipse units xy noclip
set xrange [-4.6:4.6]
set key outside top center horizontal textcolor rgb ink
plot data index 4 using 1:2:3:4:5 with ellipses fillstyle solid 0.15 noborder linecolor rgb '#0072b2' title '2 sigma', \
     data index 0 using 1:2 with lines linewidth 5 linecolor rgb '#d0d5da' title 'true path', \
     data index 3 using 1:2 with lines linewidth 1.2 linecolor rgb '#d55e00' title 'Euler', \
     data index 2 using 1:2 with lines linewidth 1.2 dashtype 2 linecolor rgb '#e69f00' title 'Runge-Kutta', \
     data index 1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' title 'exact arcs'
