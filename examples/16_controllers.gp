# The ready-made controllers: draws examples/controllers.svg.
#   16_controllers >controllers.txt && gnuplot -e "data='controllers.txt'; out='examples/controllers.svg'" examples/16_controllers.gp &&
#   cmake/docs/small_svg.py examples/controllers.svg
ink = '#3a4149'
blue = '#0072b2'
orange = '#d55e00'
set terminal svg size 1080,840 dynamic noenhanced font 'Helvetica,Arial,sans-serif,12' background '#ffffff'
set encoding utf8
set output out
set border 3 linewidth 1 linecolor rgb ink
set tics nomirror out scale 0.5 textcolor rgb ink
set grid back linewidth 0.7 linetype 1 linecolor rgb '#dfe3e8'
set key top right samplen 1.5 textcolor rgb ink
set xlabel 'time (s)' textcolor rgb ink
set xtics 1
set style line 1 linewidth 1.2 dashtype 2 linecolor rgb ink
set style line 2 linewidth 1.8 linecolor rgb blue
set style line 3 linewidth 1.8 linecolor rgb orange
set style line 4 linewidth 0.6 linecolor rgb '#9aa4af'
set multiplot layout 3,3 margins 0.06,0.94,0.07,0.96 spacing 0.075,0.13
set title 'ForwardController: velocities that end' textcolor rgb ink
set xlabel offset 0,0.4
set ylabel 'rad/s' textcolor rgb ink offset 1
plot data index 0 every 8 using 1:2 with lines linestyle 1 title 'setpoint', data index 0 every 8 using 1:3 with lines linestyle 2 title 'measured'
set title 'PidController: a step, then a load'
set ylabel 'rad'
set key bottom right
plot data index 1 every 8 using 1:2 with lines linestyle 1 title 'setpoint', data index 1 every 8 using 1:3 with lines linestyle 2 title 'measured'
set title 'HoldController: a load for a second'
set key bottom right
plot data index 2 every 8 using 1:2 with lines linestyle 2 title 'measured'
set title 'GripperController: grasps an object'
set xtics 0.5
set key bottom right
plot data index 3 every 8 using 1:2 with lines linestyle 1 title 'reference', data index 3 every 8 using 1:3 with lines linestyle 2 title 'measured', \
     data index 3 every 8 using 1:($4 > 0 ? $3 : NaN) with lines linestyle 3 title 'stalled'
set title 'AdmittanceController: a push of 5 N m'
set xtics 1
set key top right
plot data index 4 every 8 using 1:($2 / 10) with lines linestyle 1 title 'force / 10', data index 4 every 8 using 1:3 with lines linestyle 2 title 'measured'
set title 'ChainedFilter: low-pass and rate limit'
set ylabel ''
set key bottom right
plot data index 5 every 4 using 1:2 with lines linestyle 4 title 'state', data index 5 every 4 using 1:3 with lines linestyle 3 title 'command'
set title 'ForceTorqueBroadcaster: tool, zeroed at 1 s'
set ylabel 'N'
set ytics 2
set key bottom left
plot data index 6 every 4 using 1:2 with lines linestyle 4 title 'sensor', data index 6 every 4 using 1:3 with lines linestyle 3 title 'published'
set title 'GpioController: a client that falls silent'
set ylabel ''
set yrange [-0.1:1.5]
set ytics 0.5
set key top right
plot data index 7 every 8 using 1:2 with lines linestyle 1 title 'button', data index 7 every 8 using 1:3 with lines linestyle 3 title 'lamp'
set title 'SineSweepController: velocity response'
set yrange [*:*]
set logscale x
set xtics autofreq
set ytics 1
set xlabel 'frequency (Hz)'
set ylabel 'dB'
set y2label 'degrees' textcolor rgb ink offset -1
set border 11
set y2tics 20
set key bottom left
plot data index 8 every 1 using 1:2 with lines linestyle 2 title 'gain', data index 8 every 1 using 1:3 axes x1y2 with lines linestyle 3 title 'phase'
unset multiplot
