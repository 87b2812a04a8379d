#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How the cost of a buffer depends on what may be chosen: ring size, buffers
# under way, batch, length of the run, and how long each side works on a buffer.
# Writes DIR/scale.csv and, with gnuplot, a picture of each.
#
# usage: tools/bench-scale.sh DIR LAYOUT...	from the top of the tree
#	SCALE_CYCLES	buffers in a run (1000000)
#	SCALE_LONGEST	buffers in the longest run (10000000)
#	SCALE_REPEAT	runs of each, of which the median is taken (5)
#	CPUS		"GUEST HOST", if the pair is to be another

out=$1
shift
cycles=${SCALE_CYCLES:-1000000}
longest=${SCALE_LONGEST:-10000000}
repeat=${SCALE_REPEAT:-5}
pin=$(sh tools/pair.sh) || exit 1
mkdir -p "$out" || exit 1
echo 'sweep,layout,x,y,ns_per_buffer' >"$out/scale.csv"

# point SWEEP LAYOUT X Y OPTION...: a row, or none where the layout refuses
point() {
	sweep=$1 layout=$2 x=$3 y=$4
	shift 4
	# shellcheck disable=SC2086
	./"$layout" $pin --repeat "$repeat" --format csv "$@" 2>/dev/null |
		awk -F, 'NR > 1 { print $13 }' | sort -n |
		awk -v row="$sweep,$layout,$x,$y" '{ v[NR] = $1 }
			END { if (NR) print row "," v[int((NR + 1) / 2)] }' \
			>>"$out/scale.csv"
	[ ! -t 2 ] || printf '\r%-60s' "$sweep $layout $x $y" >&2
}

# powers FROM TO [FACTOR]
powers() {
	awk -v n="$1" -v to="$2" -v by="${3:-2}" 'BEGIN {
		for (; n <= to; n *= by)
			printf "%d\n", n }'
}

for layout in "$@"; do
	for n in $(powers 2 32768); do
		point size "$layout" "$n" '' --ring-size "$n" \
			--run-cycles "$cycles"
	done
	for n in $(powers 1 256); do
		point outstanding "$layout" "$n" '' --outstanding "$n" \
			--run-cycles "$((cycles / 4))"
	done
	for n in $(powers 1 256 4); do
		point batch "$layout" "$n" '' --sleep --batch "$n" \
			--run-cycles "$((cycles / 10))"
	done
	for n in $(powers 100000 "$longest" 10); do
		point cycles "$layout" "$n" '' --run-cycles "$n"
	done
done
# One layout is enough for this: ring, if it is one of them.
work=$1
for layout; do
	[ "$layout" != ring ] || work=ring
done
for guest in 0 25 50 100 200 400; do
	for host in 0 25 50 100 200 400; do
		point work "$work" "$guest" "$host" --guest-work "$guest" \
			--host-work "$host" --run-cycles "$((cycles / 4))"
	done
done
[ ! -t 2 ] || printf '\r%-60s\r' '' >&2
echo "figures: $out/scale.csv"

command -v gnuplot >/dev/null || {
	echo 'pictures: none, as gnuplot is missing (Debian package gnuplot-nox)'
	exit 0
}

# lines SWEEP TITLE XLABEL LAYOUT...
lines() {
	sweep=$1 title=$2 xlabel=$3
	shift 3
	# Rows of one layout each, two blank lines between them.
	awk -F, -v sweep="$sweep" '
		$1 != sweep { next }
		$2 != last { if (last) print "\n"; print "\"" $2 "\""; last = $2 }
		{ print $3, $5 }' "$out/scale.csv" >"$out/$sweep.dat"
	n=$(grep -c '"' "$out/$sweep.dat")
	[ "$n" -gt 0 ] || return
	gnuplot >"$out/$sweep.svg" <<-END || exit 1
		set terminal svg size 900,520 noenhanced font 'sans,13' background 'white'
		set title '$title'
		set xlabel '$xlabel'
		set ylabel 'Time (ns per buffer)'
		set logscale xy
		set logscale x 2
		set grid
		set key outside right
		if ('$sweep' eq 'cycles') { set logscale x 10; set format x '10^{%T}'; }
		plot for [i=0:$((n - 1))] '$out/$sweep.dat' index i using 1:2 \
			with linespoints lw 2 pt i+1 title columnheader(1)
	END
	rm "$out/$sweep.dat"
	echo "picture: $out/$sweep.svg"
}

lines size 'Ring size' 'Entries in the ring'
lines outstanding 'Buffers under way, ring of 256' 'Most buffers under way'
lines batch 'Batch, asleep' 'Buffers to a notification'
lines cycles 'Length of the run' 'Buffers in the run'

awk -F, '$1 == "work" { print $3, $4, $5 }' "$out/scale.csv" >"$out/work.dat"
gnuplot >"$out/work.svg" <<-END || exit 1
	set terminal svg size 640,520 noenhanced font 'sans,13' background 'white'
	stats '$out/work.dat' using 3 nooutput
	middle = (STATS_min + STATS_max) / 2
	set title '$work: work on each side'
	set xlabel 'Guest work (cycles per buffer)'
	set ylabel 'Host work (cycles per buffer)'
	set cblabel 'Time (ns per buffer)'
	set palette defined (0 '#fff3b0', 1 '#f6b65b', 2 '#d95f4c', 3 '#8a2a6b', 4 '#2b1055')
	place(v) = v == 0 ? 0 : log(v / 25.) / log(2) + 1
	set xtics ('0' 0, '25' 1, '50' 2, '100' 3, '200' 4, '400' 5)
	set ytics ('0' 0, '25' 1, '50' 2, '100' 3, '200' 4, '400' 5)
	set xrange [-.5:5.5]
	set yrange [-.5:5.5]
	plot '$out/work.dat' using (place(\$1)):(place(\$2)):3 with image pixels notitle, \
		'' using (place(\$1)):(place(\$2)):(sprintf('%.0f', \$3)):(\$3 > middle ? 16777215 : 0) \
		with labels textcolor rgb variable notitle
END
rm "$out/work.dat"
echo "picture: $out/work.svg"
