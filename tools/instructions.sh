#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Instructions and branches for each transfer of two commands, counted by
# valgrind's callgrind: exact, and the same in each run. Each command runs twice,
# with different numbers of transfers, so that what it costs to start is left
# out. Only one thread is counted well: --in-turn and --transfers are appended,
# so the commands are of vringh_test.
#
# usage: tools/instructions.sh [-n TRANSFERS] COMMAND COMMAND
#
# A and B are the two commands, and B/A what B needs of each:
#	metric,a,b,ratio
#	instructions,229.10,248.30,1.0838

fail() {
	status=$1
	shift
	echo "instructions.sh: $*" >&2
	exit "$status"
}

transfers=10000
if [ "$1" = -n ]; then
	transfers=$2
	case $transfers in
	'' | 0 | *[!0-9]*)
		fail 2 "-n: '$transfers' is not a whole number of transfers"
		;;
	esac
	shift 2
fi
[ $# -eq 2 ] || fail 2 "give two commands, each as one word; see the script"
command -v valgrind >/dev/null 2>&1 ||
	fail 77 "valgrind is missing: install the Debian package valgrind"

dir=$(mktemp -d "${TMPDIR:-/tmp}/ringtest.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

# count COMMAND TRANSFERS: instructions, and branches (Bc and Bi), on one line
count() {
	rm -f "$dir/counts"
	# shellcheck disable=SC2086
	valgrind --tool=callgrind --branch-sim=yes \
		--callgrind-out-file="$dir/counts" --log-file="$dir/log" \
		$1 --in-turn --quiet --transfers "$2" >"$dir/out" 2>&1 || {
		! grep -q 'debuginfo reader' "$dir/out" "$dir/log" ||
			fail 77 "this valgrind cannot read what this compiler" \
				"wrote (debuginfo reader); build with gcc"
		cat "$dir/out" "$dir/log" >&2
		fail 1 "$1: failed under valgrind"
	}
	awk '$1 == "events:" { for (i = 2; i <= NF; i++) column[$i] = i }
		$1 == "totals:" || $1 == "summary:" {
			instructions = $column["Ir"]
			branches = $column["Bc"] + $column["Bi"]
		}
		END { print instructions, branches }' "$dir/counts"
}

for command; do
	few=$(count "$command" "$transfers") || exit
	many=$(count "$command" $((transfers * 3))) || exit
	echo "$few $many"
done >"$dir/all"
[ "$(wc -l <"$dir/all")" -eq 2 ] || exit 1
awk -v n=$((transfers * 2)) '
	{ i[NR] = ($3 - $1) / n; b[NR] = ($4 - $2) / n }
	END {
		print "metric,a,b,ratio"
		printf "instructions,%.2f,%.2f,%.4f\n", i[1], i[2], i[2] / i[1]
		printf "branches,%.2f,%.2f,%.4f\n", b[1], b[2], b[2] / b[1]
	}' "$dir/all"
