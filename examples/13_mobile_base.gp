# A mobile base by its odometry: draws examples/base.svg.
#   13_mobile_base >base.txt && gnuplot -e "data='base.txt'; out='examples/base.svg'" examples/13_mobile_base.gp &&
#   cmake/docs/small_svg.py examples/base.svg
ink = '#3a4149'
set terminal svg size 1000,420 dynamic noenhanced font 'Helvetica,Arial,sans-serif,13' background '#ffffff'
set encoding utf8
set output out
set border 3 linewidth 1 linecolor rgb ink
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back linewidth 0.7 linetype 1 linecolor rgb '#dfe3e8'
unset key
set multiplot
set origin 0,0
set size 0.42,1
set size ratio -1
set xlabel 'x (m)' textcolor rgb ink
set ylabel 'y (m)' textcolor rgb ink
plot data every 5 using 2:3 with lines linewidth 2 linecolor rgb '#0072b2'
set size noratio
set origin 0.42,0
set size 0.58,1
set xlabel 'time (s)' textcolor rgb ink
set ylabel 'speed (m/s), rotation (rad/s)' textcolor rgb ink
set arrow from 8,graph 0 to 8,graph 1 nohead dashtype 3 linecolor rgb ink
set label 'silence' at 7.95,graph 0.5 right textcolor rgb ink
plot data every 10 using 1:7 with lines linewidth 1 dashtype 2 linecolor rgb ink, data every 10 using 1:8 with lines linewidth 1 dashtype 2 linecolor rgb ink, \
     data every 10 using 1:5 with lines linewidth 1.8 linecolor rgb '#d55e00', data every 10 using 1:6 with lines linewidth 1.8 linecolor rgb '#009e73'
unset multiplot
