#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every layout on one pair of CPUs, in turn, so that whatever drifts drifts for
# all: ns per buffer, as a multiple of ring, and as a multiple of what a cache
# line's round trip takes between these two CPUs.
#
# usage: tools/bench.sh LAYOUT...	from the top of the tree, after make
#	BENCH_ROUNDS	runs of each layout (11)
#	BENCH_CYCLES	buffers in a run (1000000)
#	CPUS		"GUEST HOST", if the pair is to be another

rounds=${BENCH_ROUNDS:-11}
cycles=${BENCH_CYCLES:-1000000}
pin=$(sh tools/pair.sh) || exit 1

dir=$(mktemp -d "${TMPDIR:-/tmp}/ringtest.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

# The line is timed before and after the layouts.
trips() {
	# shellcheck disable=SC2086
	./cacheline $pin --repeat 3 --format csv 2>/dev/null |
		awk -F, 'NR > 1 { print $6 }' >>"$dir/trips"
}

# ring first: it is what compare takes the others' ratios to.
layouts=
for layout in "$@"; do
	[ "$layout" = ring ] || layouts="$layouts $layout"
done
set --
for layout in ring $layouts; do
	set -- "$@" "./$layout $pin --run-cycles $cycles"
done

trips
./compare --runs "$rounds" --format csv "$@" >"$dir/csv" || exit 1
trips
sort -n "$dir/trips" >"$dir/sorted"
trip=$(awk '{ v[NR] = $1 }
	END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }' \
	"$dir/sorted")

echo "$rounds runs of $cycles buffers each, in turn; ${pin:-one CPU}"
echo "a cache line's round trip between the two CPUs: $trip ns"
# On a virtual machine the CPUs themselves may be moved.
awk 'NR == 1 { least = $1 }
	END { if ($1 > 1.5 * least) printf "(it went from %s to %s ns: repeat" \
		" before you quote the last column)\n", least, $1 }' "$dir/sorted"
echo
awk -F, -v trip="$trip" '
BEGIN {
	printf "%-20s %10s %9s %9s %8s %12s\n", "layout", "ns/buffer", "least",
		"most", "x ring", "x line trip"
}
NR > 1 {
	gsub(/"/, "")
	name = $3
	sub(/^\.\//, "", name)
	sub(/ .*/, "", name)
	printf "%-20s %10.2f %9.2f %9.2f %8.2f %12.3f%s\n", name, $7, $10, $11,
		$2 == "A" ? 1 : $18, $7 / trip,
		$14 != "" ? sprintf("  two groups: %.1f and %.1f", $14, $16) : ""
	# noring is no layout: it is the price of the harness.
	if (name == "noring")
		next
	if (!n++ || $7 < least) { least = $7; fastest = name }
	if ($7 > most) { most = $7; slowest = name }
}
END {
	printf "\nfrom the fastest, %s, to the slowest, %s: %.1f times\n",
		fastest, slowest, most / least
}' "$dir/csv"
