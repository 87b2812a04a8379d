#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every layout on one pair of CPUs, in turn, so that whatever drifts drifts for
# all: ns per buffer, as a multiple of ring, and as a multiple of what a cache
# line's round trip between these two CPUs took in the same round. If it is ended
# early, the table is of the rounds that there are.
#
# usage: tools/bench.sh LAYOUT...	from the top of the tree, after make
#	BENCH_ROUNDS	runs of each layout (11)
#	BENCH_CYCLES	buffers in a run (1000000)
#	CPUS		"GUEST HOST", if the pair is to be another

. tools/lib.sh

rounds=${BENCH_ROUNDS:-11}
cycles=${BENCH_CYCLES:-1000000}
whole BENCH_ROUNDS "$rounds" runs
whole BENCH_CYCLES "$cycles" buffers
pin=$(sh tools/pair.sh) || exit 1

# ring first: it is what compare takes the others' ratios to.
layouts=
for layout in "$@"; do
	[ "$layout" = ring ] || layouts="$layouts $layout"
done
set --
for layout in ring $layouts; do
	set -- "$@" "./$layout $pin --run-cycles $cycles"
done

# table: from what compare wrote
table() {
	[ -s "$dir/csv" ] || return
	cycles=$cycles pin=$pin awk -F, '
function name_of(text) {
	sub(/^\.\//, "", text)
	sub(/ .*/, "", text)
	return text
}
# the median of v[1..n], which it sorts
function median(v, n,  i, j, x) {
	for (i = 2; i <= n; i++) {
		x = v[i]
		for (j = i - 1; j > 0 && v[j] > x; j--)
			v[j + 1] = v[j]
		v[j + 1] = x
	}
	return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2
}
{
	gsub(/"/, "")
}
FNR == 1 {
	file++
	next
}
# every run
file == 1 {
	ns[$4, $2] = $7
	next
}
# every command, the line last
{
	command[++n] = $2
	rounds = $6
	name[n] = name_of($3)
	times[n] = $2 == "A" ? 1 : $18
	time[n] = sprintf("%10.2f %9.2f %9.2f %8.2f", $7, $10, $11, times[n])
	middle = $7
	if ($14 != "")
		groups[n] = sprintf("  two groups: %.1f and %.1f", $14, $16)
	least = $10
	most = $11
}
END {
	pin = ENVIRON["pin"]
	printf "%d runs of %s buffers each, in turn; %s\n", rounds,
		ENVIRON["cycles"], pin == "" ? "not pinned" : pin
	printf "a cache line'"'"'s round trip%s: %.1f ns (%.1f to %.1f)\n",
		pin == "" ? "" : " between the two CPUs", middle, least, most
	if (pin != "" && most > 1.5 * least)
		print "(a hypervisor moved the CPUs: repeat before you quote)"
	print ""
	printf "%-20s %10s %9s %9s %8s %12s\n", "layout", "ns/buffer", "least",
		"most", "x ring", "x line trip"
	for (i = 1; i < n; i++) {
		for (r = 1; r <= rounds; r++)
			trips[r] = ns[command[i], r] / ns[command[n], r]
		printf "%-20s %s %12.3f%s\n", name[i], time[i],
			median(trips, rounds), groups[i]
		# noring is no layout: it is the price of the harness.
		if (name[i] == "noring")
			continue
		if (!fastest || times[i] < times[fastest])
			fastest = i
		if (!slowest || times[i] > times[slowest])
			slowest = i
	}
	printf "\nfrom the fastest, %s, to the slowest, %s: %.1f times\n",
		name[fastest], name[slowest], times[slowest] / times[fastest]
}' "$dir/runs" "$dir/csv" >"$dir/table" && cat "$dir/table"
}
# A trap's stdout is that of the command which it interrupts.
exec 3>&1
trap 'stop; table >&3; exit 1' HUP INT QUIT TERM

# The line takes its turn as they do, in the guise of a layout: on a virtual
# machine the CPUs themselves may be moved, from one round to the next.
guise='s/tool/layout/;s/round_trip_ns/ns_per_buffer/'
run ./compare --runs "$rounds" --format csv --csv "$dir/runs" "$@" \
	"sh -c \"./cacheline $pin --format csv | sed '$guise'\"" >"$dir/csv"
set -- "$?"
table || set -- 1
exit "$1"
