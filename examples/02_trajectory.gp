# The five ways through the same waypoints: draws examples/through.svg.
#   02_trajectory >through.txt && gnuplot -e "data='through.txt'; out='examples/through.svg'" examples/02_trajectory.gp &&
#   cmake/docs/small_svg.py examples/through.svg
ink = '#3a4149'
set terminal svg size 1000,560 dynamic noenhanced font 'Helvetica,Arial,sans-serif,13' background '#ffffff'
set encoding utf8
set output out
set border 3 linewidth 1 linecolor rgb ink
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back linewidth 0.7 linetype 1 linecolor rgb '#dfe3e8'
array name[5] = ['stop', 'given', 'smooth', 'cubic', 'monotone']
array colour[5] = ['#8a8a8a', '#e69f00', '#0072b2', '#d55e00', '#009e73']
array label[3] = ['position (rad)', 'velocity (rad/s)', 'acceleration (rad/s²)']
$waypoints << END
0 0
1 0.9
1.6 1
2.4 1
3.4 0
4 0.3
END

set multiplot layout 3,1 margins 0.075,0.985,0.105,0.93 spacing 0.065,0.05
unset key
do for [way = 1:5] {
  set label way '━ '.name[way] at screen 0.40 + 0.10 * way, screen 0.965 textcolor rgb colour[way]
}
set xrange [0:4]
set format x ''
do for [row = 1:3] {
  if (row == 3) { set format x '%g'; set xlabel 'time (s)' offset 0,0.4 textcolor rgb ink }
  set ylabel label[row] offset 0.5,0 textcolor rgb ink
  if (row == 1) { set yrange [-0.2:1.2] } else { set autoscale y }
  plot for [way = 1:5] data index way - 1 using 1:(column(row + 1)) with lines linewidth 1.8 linecolor rgb colour[way] notitle, \
       $waypoints using 1:(row == 1 ? $2 : NaN) with points pointtype 7 pointsize 0.6 linecolor rgb ink notitle
  unset label
}
unset multiplot
