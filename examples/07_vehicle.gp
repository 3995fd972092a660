# A lap of a simulated vehicle whose cable is cut for two seconds. Draws examples/vehicle.svg:
#
#     07_vehicle >vehicle.txt && gnuplot -e "data='vehicle.txt'; out='examples/vehicle.svg'" examples/07_vehicle.gp &&
#     cmake/docs/small_svg.py examples/vehicle.svg
ink = '#3a4149'
set terminal svg size 1000,760 dynamic noenhanced font 'Helvetica,Arial,sans-serif,13' background '#ffffff'
set encoding utf8
set output out
set border 3 linewidth 1 linecolor rgb ink
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back linewidth 0.7 linetype 1 linecolor rgb '#dfe3e8'
set style ellipse units xy noclip

set multiplot
set lmargin at screen 0.08
set rmargin at screen 0.985
set tmargin at screen 0.94
set bmargin at screen 0.49
set size ratio -1
set xrange [-15:15]
set yrange [-1.7:11.7]
set xlabel 'x (m)' offset 0,0.4 textcolor rgb ink
set ylabel 'y (m)' textcolor rgb ink
set key at screen 0.985,0.985 top right horizontal textcolor rgb ink
plot data index 1 using 1:2:3:4:5 with ellipses fillstyle solid 0.25 noborder linecolor rgb '#0072b2' title '2 sigma', \
     data index 0 every 4 using 2:3 with lines linewidth 5 linecolor rgb '#d0d5da' title 'true path', \
     data index 0 every 4 using 4:5 with lines linewidth 1.2 linecolor rgb '#0072b2' title 'odometry', \
     data index 2 using 1:2 with points pointtype 2 pointsize 1.2 linewidth 2 linecolor rgb '#d55e00' title 'no longer heard'
unset key
set size noratio
set xrange [0:*]
set yrange [0:2.5]
set ytics 1
set tmargin at screen 0.41
set bmargin at screen 0.26
set format x ''
unset xlabel
set ylabel 'speed (m/s)' textcolor rgb ink
plot data index 0 every 2 using 1:6 with lines linewidth 1.6 linecolor rgb '#0072b2'
set format x '%g'
set tmargin at screen 0.23
set bmargin at screen 0.08
set xlabel 'time (s)' offset 0,0.4 textcolor rgb ink
set ylabel 'telemetry (s old)' textcolor rgb ink
plot data index 0 every 2 using 1:($8/1000) with lines linewidth 1.6 linecolor rgb '#d55e00'
unset multiplot
