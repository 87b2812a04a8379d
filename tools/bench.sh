#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every layout on one pair of CPUs, in turn, so that whatever drifts drifts for
# all: prints ns per buffer, and each layout as a multiple of ring.
#
# usage: tools/bench.sh LAYOUT...	from the top of the tree, after make
#	BENCH_ROUNDS	runs of each layout (11)
#	BENCH_CYCLES	buffers in a run (1000000)
#	BENCH_CPUS	"GUEST HOST", if the pair is to be another

rounds=${BENCH_ROUNDS:-11}
cycles=${BENCH_CYCLES:-1000000}

# The first pair that is not two threads of one core, else the first.
pair=${BENCH_CPUS:-$(sh run-on-all.sh --list | awk '
	$3 != "smt" { print; found = 1; exit }
	NR == 1 { first = $0 }
	END { if (!found) print first }')}
# shellcheck disable=SC2086
set -- "${pair:-none}" "$@"
pair=$1
shift
if [ "$pair" = none ]; then
	echo "bench: only one CPU to use: guest and host take turns on it" >&2
	pin=
	where="one CPU"
else
	guest=${pair%% *}
	host=${pair#* }
	host=${host%% *}
	pin="--guest-affinity $guest --host-affinity $host"
	where="guest CPU $guest, host CPU $host"
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/ringtest.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

round=0
while [ $round -lt "$rounds" ]; do
	for layout in "$@"; do
		# shellcheck disable=SC2086
		./"$layout" $pin --run-cycles "$cycles" --format csv \
			2>"$dir/err" >"$dir/out" || {
			cat "$dir/err" >&2
			exit 1
		}
		tail -n 1 "$dir/out" | cut -d, -f13 >>"$dir/$layout"
	done
	round=$((round + 1))
	[ ! -t 2 ] || printf '\rround %d of %d' $round "$rounds" >&2
done
[ ! -t 2 ] || printf '\r                    \r' >&2

# least, median and greatest of the numbers in a file
three() {
	sort -n "$1" | awk '{ v[NR] = $1 }
		END { print v[1], (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[NR] }'
}

echo "$rounds runs of $cycles buffers each, in turn; $where"
echo
printf '%-22s %10s %10s %10s %10s\n' layout 'ns/buffer' least most 'x ring'
base=
[ ! -f "$dir/ring" ] || base=$(three "$dir/ring" | cut -d' ' -f2)
for layout in "$@"; do
	three "$dir/$layout" | awk -v layout="$layout" -v base="$base" '{
		printf "%-22s %10.2f %10.2f %10.2f %10s\n", layout, $2, $1, $3,
			base ? sprintf("%.2f", $2 / base) : "-" }'
done
