# Controllers that replace each other, an emergency stop and its recovery: draws examples/switch.svg.
#   12_switch >switch.txt && gnuplot -e "data='switch.txt'; out='examples/switch.svg'" examples/12_switch.gp &&
#   cmake/docs/small_svg.py examples/switch.svg
ink = '#3a4149'
set terminal svg size 1000,520 dynamic noenhanced font 'Helvetica,Arial,sans-serif,13' background '#ffffff'
set encoding utf8
set output out
set border 3 linewidth 1 linecolor rgb ink
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back linewidth 0.7 linetype 1 linecolor rgb '#dfe3e8'
set multiplot layout 3,1 margins 0.08,0.985,0.105,0.95 spacing 0.065,0.05
unset key
set xrange [0:6.5]
set format x ''
do for [at in "2 2.5 3 4 5.5"] { set arrow from at+0,graph 0 to at+0,graph 1 nohead linetype 1 dashtype 3 linecolor rgb ink }
set label 'hold' at 2.05,graph 0.9 textcolor rgb ink
set label 'wave' at 2.55,graph 0.9 textcolor rgb ink
set label 'emergency stop' at 3.05,graph 0.9 textcolor rgb ink
set label 'reset' at 4.05,graph 0.9 textcolor rgb ink
set label 'wave fails' at 5.55,graph 0.9 textcolor rgb ink
set ylabel 'position (rad)' textcolor rgb ink
# The first row is older than the first answer of the drive.
plot data every 5::1 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2'
unset label
set ylabel 'velocity (rad/s)' textcolor rgb ink
plot data every 5 using 1:3 with lines linewidth 1.8 linecolor rgb '#d55e00'
set format x '%g'
set xlabel 'time (s)' offset 0,0.4 textcolor rgb ink
set ylabel 'power, controller' textcolor rgb ink
set yrange [-0.2:2.4]
set ytics ('none' 0, 'wave' 1, 'hold' 2)
plot data every 5 using 1:5 with steps linewidth 1.8 linecolor rgb "#009e73", data every 5 using 1:($4*0.5) with steps linewidth 1 dashtype 2 linecolor rgb ink
unset multiplot
