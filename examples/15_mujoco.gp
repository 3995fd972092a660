# An arm in MuJoCo: draws examples/mujoco.svg.
#   15_mujoco >mujoco.txt && gnuplot -e "data='mujoco.txt'; out='examples/mujoco.svg'" examples/15_mujoco.gp &&
#   cmake/docs/small_svg.py examples/mujoco.svg
ink = '#3a4149'
set terminal svg size 900,430 dynamic noenhanced font 'Helvetica,Arial,sans-serif,13' background '#ffffff'
set encoding utf8
set output out
set border 3 linewidth 1 linecolor rgb ink
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back linewidth 0.7 linetype 1 linecolor rgb '#dfe3e8'
unset key
set xrange [0.5:6]
set multiplot layout 2,1 margins 0.09,0.98,0.15,0.97 spacing 0.05
set ylabel 'force at the wrist (N)' textcolor rgb ink
set format x ''
set label 'holds 2 kg' at 1.05,graph 0.93 textcolor rgb ink
set label 'pushed by 150 N' at 2.55,graph 0.93 textcolor rgb ink
set label 'drops it' at 4.05,graph 0.93 textcolor rgb ink
do for [t in "1 2.5 4"] { set arrow from real(t),graph 0 to real(t),graph 1 nohead linetype 1 dashtype 3 linecolor rgb ink }
plot data using 1:2 with lines linewidth 1.6 linecolor rgb '#0072b2'
unset label
set format x '%g'
set xlabel 'time (s)' textcolor rgb ink
set ylabel 'tracking error (mrad)' textcolor rgb ink
plot data using 1:3 with lines linewidth 1.6 linecolor rgb '#d55e00'
unset multiplot
