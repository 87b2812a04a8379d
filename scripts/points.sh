# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# What benches share that go through many points in turn, some milliseconds each.
# The options that pin are in $pin.

# are_layouts NAME...: refuses what is none
are_layouts() {
	for name; do
		[ -x "./$name" ] ||
			fail 2 "$name: no such layout; make help lists them"
	done
}

# open_figures DIR FILE: before runs that take minutes
open_figures() {
	{ mkdir -p -- "$1" && : >"$1/$2"; } 2>/dev/null ||
		fail 1 "'$1/$2' cannot be written: give another DIR"
}

# run_of LAYOUT OPTION...: its row is in $dir/rows. False: the layout cannot.
# shellcheck disable=SC2154
run_of() {
	layout=$1
	shift
	# shellcheck disable=SC2086
	run ./"$layout" $pin --format csv "$@" >"$dir/rows" 2>"$dir/err"
	case $? in
	0) return 0 ;;
	77) return 1 ;;
	esac
	[ ! -t 2 ] || printf '\r%-60s\r' '' >&2
	cat "$dir/err" >&2
	fail 1 "$layout $*: failed"
}

# values COLUMN,...: of the last row, with commas between them
values() {
	awk -F, -v names="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		END {
			n = split(names, name, ",")
			for (i = 1; i <= n; i++)
				printf "%s%s", $at[name[i]], i < n ? "," : "\n"
		}' "$dir/rows"
}

# cycles_for MS LAYOUT OPTION...: into $cycles, as many buffers as pass in that time
# shellcheck disable=SC2034
cycles_for() {
	time_ms=$1
	shift
	run_of "$@" --run-cycles 1000 || return
	cycles=$(values elapsed_ns |
		awk -v ms="$time_ms" '{ printf "%d", 1000 * ms * 1e6 / $1 + 1 }')
}

# tell_progress NR OF WHAT: on a terminal at once, elsewhere once a minute
points_start=$(date +%s)
points_next=$((points_start + 60))
tell_progress() {
	points_now=$(date +%s)
	if [ -t 2 ]; then
		points_left=$((($2 - $1) * (points_now - points_start) / $1))
		printf '\r%-75.75s' "$1 of $2: $3, about $points_left s left" >&2
	elif [ "$points_now" -ge "$points_next" ]; then
		say "$1 of $2: $3"
		points_next=$((points_now + 60))
	fi
}
