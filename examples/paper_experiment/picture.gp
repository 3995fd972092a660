# The three ways to command the same motion, as takt recorded them. Draws examples/picture.svg, or the picture
# of the page of examples/run.sh:
#
#     gnuplot -e "data='ways.txt'; out='examples/picture.svg'" examples/paper_experiment/picture.gp &&
#     cmake/docs/small_svg.py examples/picture.svg
#
# `paper_experiment ways` writes `data`: three blocks of time (s), command, reference and measured (degrees).
ink = '#3a4149'
set terminal svg size 1000,520 dynamic noenhanced font 'Helvetica,Arial,sans-serif,13' background '#ffffff'
set encoding utf8
set output out
set border 3 linewidth 1 linecolor rgb ink
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back linewidth 0.7 linetype 1 linecolor rgb '#dfe3e8'
array title[3] = ['10 Hz stream, held', '200 Hz stream, interpolated by the client', 'one trajectory, interpolated by takt']

# A legend of gnuplot itself is limited to the width of its panel.
set label 1 '━ command' at screen 0.70, screen 0.965 textcolor rgb '#8a8a8a'
set label 2 '━ reference' at screen 0.80, screen 0.965 textcolor rgb '#0072b2'
set label 3 '━ measured' at screen 0.90, screen 0.965 textcolor rgb '#d55e00'
array measured[3]
do for [way = 0:2] {
  stats data index way using 1 nooutput
  measured[way + 1] = STATS_max > 0
}
nothing = "set label 4 'not measured' at graph 0.5,0.5 center textcolor rgb ink; set yrange [-1:1]; set format y ''; plot NaN notitle; unset label 4; set yrange [*:*]; set format y '%g°'"
set multiplot layout 2,3 margins 0.085,0.985,0.12,0.86 spacing 0.065,0.15
unset key
set format y '%g°'
set xtics 0.1
set xrange [2.3:2.7]
do for [way = 0:2] {
  if (way == 1) { unset label }
  set title title[way + 1] offset 0,-0.4 textcolor rgb ink
  if (way == 0) { set ylabel 'position' offset 0,0 textcolor rgb ink } else { unset ylabel }
  if (!measured[way + 1]) { eval nothing; continue }
  plot data index way using 1:2 with steps linewidth 1.6 linecolor rgb '#9a9a9a' notitle, \
       '' index way using 1:3 with lines linewidth 2 linecolor rgb '#0072b2' notitle, \
       '' index way using 1:4 with lines linewidth 2 linecolor rgb '#d55e00' notitle
}
unset title
set xtics 1
set xrange [0:5.2]
set ytics 4
set xlabel 'time (s)' textcolor rgb ink
do for [way = 0:2] {
  if (way == 0) { set ylabel 'command − measured' offset 0,0 textcolor rgb ink } else { unset ylabel }
  if (!measured[way + 1]) { eval nothing; continue }
  set yrange [-12:4]
  plot data index way using 1:($2 - $4) with lines linewidth 1.4 linecolor rgb '#0072b2' notitle
}
unset multiplot
