#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How the cost of a buffer depends on what may be chosen: ring size, buffers
# under way, batch, length of the run, and how long each side works on a buffer.
# Says first how long it will take, and then how far it is. Writes DIR/scale.csv
# row by row and, with gnuplot, a picture of each.
#
# usage: tools/bench-scale.sh DIR LAYOUT...	from the top of the tree
#	BENCH_ROUNDS	runs of each, of which the median is taken (5)
#	BENCH_CYCLES	buffers in most runs (1000000), the longest ten times that
#	CPUS		"GUEST HOST", if the pair is to be another

. tools/lib.sh

[ $# -ge 2 ] || fail 2 'usage: tools/bench-scale.sh DIR LAYOUT...'
out=$1
shift
rounds=${BENCH_ROUNDS:-5}
cycles=${BENCH_CYCLES:-1000000}
whole BENCH_ROUNDS "$rounds" runs
whole BENCH_CYCLES "$cycles" buffers
pin=$(sh tools/pair.sh) || exit 1
mkdir -p -- "$out" || exit 1

# powers FROM TO [FACTOR]
powers() {
	awk -v n="$1" -v to="$2" -v by="${3:-2}" 'BEGIN {
		for (; n <= to; n *= by)
			printf "%d\n", n }'
}

# A line for each point: SWEEP LAYOUT X Y CYCLES OPTION...; - where there is no Y
for layout; do
	for n in $(powers 2 32768); do
		echo "size $layout $n - $cycles --ring-size $n"
	done
	for n in $(powers 1 256); do
		echo "outstanding $layout $n - $((cycles / 4)) --outstanding $n"
	done
	for n in $(powers 1 256 4); do
		echo "batch $layout $n - $((cycles / 10)) --sleep --batch $n"
	done
	for n in $((cycles / 10)) "$cycles" $((cycles * 10)); do
		echo "cycles $layout $n - $n"
	done
done >"$dir/points"
# One layout is enough for this: ring, if it is one of them.
work=$1
for layout; do
	[ "$layout" != ring ] || work=ring
done
for guest in 0 25 50 100 200 400; do
	for host in 0 25 50 100 200 400; do
		echo "work $work $guest $host $((cycles / 4))" \
			"--guest-work $guest --host-work $host"
	done
done >>"$dir/points"
points=$(wc -l <"$dir/points")

# measure LAYOUT OPTION...: false, and no rows, where the layout refuses
measure() {
	layout=$1
	shift
	# shellcheck disable=SC2086
	run ./"$layout" $pin --format csv "$@" >"$dir/rows" 2>"$dir/err"
	case $? in
	0) return 0 ;;
	2 | 77) return 1 ;;
	esac
	[ ! -t 2 ] || printf '\r%-60s\r' '' >&2
	cat "$dir/err" >&2
	fail 1 "$layout $*: failed"
}

# A hundredth of each run says how long they take.
start=$(date +%s)
while read -r sweep layout x y n options; do
	# shellcheck disable=SC2086
	! measure "$layout" $options --run-cycles $((n / 100 + 1)) ||
		tail -n 1 "$dir/rows"
done <"$dir/points" >"$dir/probes"
minutes=$(awk -F, -v rounds="$rounds" -v probing=$(($(date +%s) - start)) '
	{ sum += $12 }
	END { printf "%.0f", (sum * 100 * rounds / 1e9 + probing) / 60 + 0.5 }' \
	"$dir/probes")
echo "bench-scale.sh: $points points, $rounds runs of each: about $minutes min" >&2

echo 'sweep,layout,x,y,ns_per_buffer' >"$out/scale.csv" || exit 1
start=$(date +%s)
next=$((start + 60)) nr=0
while read -r sweep layout x y n options; do
	nr=$((nr + 1))
	now=$(date +%s)
	told="$(((now - start) / 60)) of about $minutes min, point $nr of \
$points: $sweep $layout $x $y"
	told=${told% -}
	if [ -t 2 ]; then
		printf '\r%-75.75s' "$told" >&2
	elif [ "$now" -ge "$next" ]; then
		echo "bench-scale.sh: $told" >&2
		next=$((now + 60))
	fi
	# shellcheck disable=SC2086
	measure "$layout" $options --run-cycles "$n" --repeat "$rounds" ||
		continue
	awk -F, 'NR > 1 { print $13 }' "$dir/rows" | sort -n |
		awk -v row="$sweep,$layout,$x,${y#-}" '{ v[NR] = $1 }
			END { print row "," v[int((NR + 1) / 2)] }' \
			>>"$out/scale.csv"
done <"$dir/points"
[ ! -t 2 ] || printf '\r%-75s\r' '' >&2
printf 'figures: %s\n' "$out/scale.csv"

command -v gnuplot >/dev/null || {
	echo 'pictures: none, as gnuplot is missing (Debian package gnuplot-nox)'
	exit 0
}

# picture NAME: by the gnuplot commands on stdin, which find the data in data
picture() {
	(cd "$dir" && gnuplot >svg) && cat "$dir/svg" >"$out/$1.svg" || exit 1
	printf 'picture: %s\n' "$out/$1.svg"
}

# lines SWEEP TITLE XLABEL
lines() {
	# Rows of one layout each, two blank lines between them.
	awk -F, -v sweep="$1" '
		$1 != sweep { next }
		$2 != last { if (last) print "\n"; print "\"" $2 "\""; last = $2 }
		{ print $3, $5 }' "$dir/scale.csv" >"$dir/data"
	n=$(grep -c '"' "$dir/data")
	[ "$n" -gt 0 ] || return
	picture "$1" <<-END
		set terminal svg size 900,520 noenhanced font 'sans,13' background 'white'
		set title '$2'
		set xlabel '$3'
		set ylabel 'Time (ns per buffer)'
		set logscale xy
		set logscale x 2
		set grid
		set key outside right
		if ('$1' eq 'cycles') { set logscale x 10; set format x '10^{%T}'; }
		plot for [i=0:$((n - 1))] 'data' index i using 1:2 \
			with linespoints lw 2 pt i+1 title columnheader(1)
	END
}

# Found by a name that is no user's text.
cp -- "$out/scale.csv" "$dir/scale.csv" || exit 1
lines size 'Ring size' 'Entries in the ring'
lines outstanding 'Buffers under way, ring of 256' 'Most buffers under way'
lines batch 'Batch, asleep' 'Buffers to a notification'
lines cycles 'Length of the run' 'Buffers in the run'

awk -F, '$1 == "work" { print $3, $4, $5 }' "$dir/scale.csv" >"$dir/data"
picture work <<-END
	set terminal svg size 640,520 noenhanced font 'sans,13' background 'white'
	stats 'data' using 3 nooutput
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
	plot 'data' using (place(\$1)):(place(\$2)):3 with image pixels notitle, \
		'' using (place(\$1)):(place(\$2)):(sprintf('%.0f', \$3)):(\$3 > middle ? 16777215 : 0) \
		with labels textcolor rgb variable notitle
END
