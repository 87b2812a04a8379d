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

# shellcheck source=tools/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

transfers=10000
if [ "$1" = -n ]; then
	transfers=$2
	whole -n "$transfers" transfers
	shift 2
fi
[ $# -eq 2 ] || fail 2 "give two commands, each as one word; see the script"
command -v valgrind >/dev/null 2>&1 ||
	fail 77 "valgrind is missing: install the Debian package valgrind"

# valgrind looks for variables of its own in the names of its files.
logs=$(printf '%s\n' "$dir" | sed 's/%/%%/g')
# A command is cut at blanks, and no more is done to it.
set -f

# count COMMAND TRANSFERS: a line with instructions, and branches (Bc and Bi)
count() {
	rm -f "$dir/counts"
	: >"$dir/log"
	# shellcheck disable=SC2086
	run valgrind --tool=callgrind --branch-sim=yes \
		--callgrind-out-file="$logs/counts" --log-file="$logs/log" \
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

# few and many of the one, then of the other
for command; do
	count "$command" "$transfers"
	count "$command" $((transfers * 3))
done >"$dir/all"
awk -v n=$((transfers * 2)) '
	NR % 2 { few = $1; few_branches = $2; next }
	{ i[NR / 2] = ($1 - few) / n; b[NR / 2] = ($2 - few_branches) / n }
	END {
		print "metric,a,b,ratio"
		printf "instructions,%.2f,%.2f,%.4f\n", i[1], i[2], i[2] / i[1]
		printf "branches,%.2f,%.2f,%.4f\n", b[1], b[2], b[2] / b[1]
	}' "$dir/all"
