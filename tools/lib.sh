# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# What scripts share, those that sweep and draw above all, read by each: one
# locale, a directory that goes with the script, programs that end with it.

# In a locale with commas, awk and sort would take 6.19 for 6.
# shellcheck disable=SC2034
locale=${LC_ALL-}
export LC_ALL=C
self=${0##*/}
here=$(dirname "$(readlink -f "$0")")

say() {
	printf '%s: %s\n' "$self" "$*" >&2
}

# fail STATUS WORD...: the script's last words
fail() {
	status=$1
	shift
	say "$@"
	exit "$status"
}

# whole NAME VALUE WHAT: refuses a VALUE that is no number of WHAT
whole() {
	case $2 in
	'' | 0* | *[!0-9]* | ??????????*)
		fail 2 "$1: '$2' is not a whole number of $3, 1 or more"
		;;
	esac
}

# find_program NAME: into $program. It is beside a script that is at the top of
# the tree or installed, else one up; where it is not, it is made.
find_program() {
	program=$here/$1
	[ -x "$program" ] || [ -e "$here/Makefile" ] || program=$here/../$1
	[ -x "$program" ] || (
		unset MAKEFLAGS MFLAGS MAKELEVEL
		make -s -C "${program%/*}" "$1"
	) >/dev/null 2>&1 ||
		fail 1 "$1 is missing, and make cannot build it: install make" \
			"and a C compiler (gcc, libc6-dev), then run make in" \
			"${program%/*}"
}

# draw OUT.svg: by $dir/script. Not moved there, so that it keeps the mode that
# the user's files have.
draw() {
	(cd "$dir" && gnuplot script >svg) || exit 1
	{ cat "$dir/svg" >"$1"; } 2>/dev/null || fail 1 "cannot write to $1"
}

# For traps, as their stdout is that of what they interrupt
{ command exec 3>&1; } 2>/dev/null || fail 1 'stdout is closed'

# An absolute path can be taken neither for an option nor for an assignment.
case ${TMPDIR:=/tmp} in
/*) ;;
*) TMPDIR=$PWD/$TMPDIR ;;
esac
dir=$(mktemp -d "$TMPDIR/ringtest.XXXXXX" 2>/dev/null) ||
	fail 1 "TMPDIR: cannot make a directory in $TMPDIR"
trap 'rm -rf "$dir"' EXIT

# run COMMAND...: its status. In the background, as a shell that waits for what
# is in the foreground looks at no trap; but with the script's stdin, and with
# the signals that a shell takes away from what it does not wait for.
running=
{ command exec 9<&0; } 2>/dev/null || exec 9</dev/null
run() {
	if grep -qs '^SigIgn:.*[014589cd]$' /proc/self/status &&
		env --default-signal=INT,QUIT true 2>/dev/null; then
		set -- env --default-signal=INT,QUIT "$@"
	fi
	running=yes
	"$@" <&9 9<&- 3>&- &
	wait "$!"
	set -- "$?"
	running=
	return "$1"
}

# freeze PID: stops it and all below it, so that none starts another, and prints
# which these are
freeze() (
	kill -s STOP "$1" 2>/dev/null || exit
	echo "$1"
	grep -lsx "PPid:.$1" /proc/[0-9]*/status | cut -d / -f 3 |
	while read -r child; do
		freeze "$child"
	done
)

# stop SIGNAL: what is run and all below it get the signal, and TERM where that
# has not ended them within a second
# shellcheck disable=SC2046,SC2086
stop() {
	trap '' HUP INT QUIT PIPE TERM
	set +f
	[ "$running" ] || return
	pids=$(freeze $!)
	for signal in "$1" CONT; do
		kill -s "$signal" $pids 2>/dev/null
	done
	tries=0
	while [ $((tries += 1)) -le 10 ] && grep -qs \
		'^State:.[^XZ]' $(printf '/proc/%s/status ' $pids); do
		sleep 0.1
	done
	kill -s TERM $pids 2>/dev/null
}
# PIPE: a shell that a signal kills leaves its directory behind.
trap 'stop TERM; exit 1' HUP INT QUIT PIPE TERM
