# One CiA 402 drive there and back: draws examples/can_drive.svg.
#   06_can_drive >can_drive.txt && gnuplot -e "data='can_drive.txt'; out='examples/can_drive.svg'" examples/06_can_drive.gp &&
#   cmake/docs/small_svg.py examples/can_drive.svg
ink = '#3a4149'
set terminal svg size 1000,480 dynamic noenhanced font 'Helvetica,Arial,sans-serif,13' background '#ffffff'
set encoding utf8
set output out
set border 3 linewidth 1 linecolor rgb ink
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back linewidth 0.7 linetype 1 linecolor rgb '#dfe3e8'

set multiplot layout 2,1 margins 0.08,0.985,0.115,0.92 spacing 0.065,0.06
set key at screen 0.985,0.975 top right horizontal textcolor rgb ink
set format x ''
set ylabel 'position (rad)' textcolor rgb ink
plot data using 1:2 with lines linewidth 4 linecolor rgb '#d0d5da' title 'reference', \
     data using 1:3 with lines linewidth 1.6 linecolor rgb '#0072b2' title 'measured'
unset key
set format x '%g'
set xlabel 'time (s)' offset 0,0.4 textcolor rgb ink
set ylabel 'velocity (rad/s)' textcolor rgb ink
plot data using 1:4 with lines linewidth 1.4 linecolor rgb '#0072b2'
unset multiplot
