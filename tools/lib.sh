# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# What the scripts of this directory share, read by each: one locale, a
# directory that goes with the script, programs that end with it.

# In a locale with commas, awk and sort would take 6.19 for 6.
LC_ALL=C
export LC_ALL

# fail STATUS WORD...: the script's last words
fail() {
	status=$1
	shift
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit "$status"
}

# whole NAME VALUE WHAT: refuses a VALUE that is no number of WHAT
whole() {
	case $2 in
	'' | 0* | *[!0-9]*)
		fail 2 "$1: '$2' is not a whole number of $3, 1 or more"
		;;
	esac
}

{ true 3>&1; } 2>/dev/null || fail 1 'stdout is closed'

# An absolute path can be taken neither for an option nor for an assignment.
case ${TMPDIR:=/tmp} in
/*) ;;
*) TMPDIR=$PWD/$TMPDIR ;;
esac
dir=$(mktemp -d "$TMPDIR/ringtest.XXXXXX" 2>/dev/null) ||
	fail 1 "TMPDIR: cannot make a directory in $TMPDIR"
trap 'rm -rf "$dir"' EXIT

# run COMMAND...: its status; it ends when the script is ended, and so does what
# it started, if there is a setsid. In the background, for a shell that waits for
# what is in the foreground looks at no trap.
running=
setsid=$(command -v setsid)
run() {
	running=yes
	$setsid "$@" &
	wait "$!"
	set -- "$?"
	running=
	return "$1"
}
stop() {
	[ "$running" ] || return
	kill -TERM "-$!" 2>/dev/null || kill -TERM "$!" 2>/dev/null
	wait "$!"
}
# PIPE: a shell that a signal kills leaves its directory behind.
trap 'stop; exit 1' HUP INT QUIT PIPE TERM
