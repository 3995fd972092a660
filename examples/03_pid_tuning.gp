# Four PIDs on one joint: draws examples/pid.svg.
#   03_pid_tuning >pid.txt && gnuplot -e "data='pid.txt'; out='examples/pid.svg'" examples/03_pid_tuning.gp &&
#   cmake/docs/small_svg.py examples/pid.svg
ink = '#3a4149'
set terminal svg size 1000,480 dynamic noenhanced font 'Helvetica,Arial,sans-serif,13' background '#ffffff'
set encoding utf8
set output out
set border 3 linewidth 1 linecolor rgb ink
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back linewidth 0.7 linetype 1 linecolor rgb '#dfe3e8'
array name[4] = ['PD', 'PID without anti-windup', 'PID', 'PID, set-point weight 0.4']
array colour[4] = ['#8a8a8a', '#d55e00', '#0072b2', '#009e73']

set multiplot layout 2,1 margins 0.08,0.985,0.115,0.92 spacing 0.065,0.06
unset key
array at[4] = [0.08, 0.14, 0.36, 0.43]
do for [k = 1:4] { set label k '━ '.name[k] at screen at[k], screen 0.962 textcolor rgb colour[k] }
set xrange [0:5]
set format x ''
set ylabel 'position (rad)' textcolor rgb ink
plot data index 0 using 1:2 with lines linewidth 1 dashtype 2 linecolor rgb ink, \
     for [k = 1:4] data index k-1 using 1:3 with lines linewidth 1.8 linecolor rgb colour[k]
unset label
set label 'disturbance' at 4.03,2.6 textcolor rgb ink
set arrow from 4,graph 0 to 4,graph 1 nohead dashtype 3 linecolor rgb ink
set format x '%g'
set xlabel 'time (s)' offset 0,0.4 textcolor rgb ink
set ylabel 'torque (N m)' textcolor rgb ink
set yrange [-3.3:3.3]
plot for [k = 1:4] data index k-1 using 1:4 with lines linewidth 1.4 linecolor rgb colour[k]
unset multiplot
