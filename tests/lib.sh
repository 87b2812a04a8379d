# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# What the test scripts share: each behaviour reports one line, which
# tests/run counts. A script runs from the top of the tree.

. devtools/tree.sh

# What is tested has the user's locale; what a test works out has none.
awk() { LC_ALL=C command awk "$@"; }

# path_of TOOL: the program, whatever function has its name
path_of() (
	unset -f "$1" 2>/dev/null
	command -v "$1"
)

# make gives them; a script by itself tests them all.
[ "$LAYOUTS" ] || {
	LAYOUTS=$(echo ./*.c | sed 's|\./main\.c||; s|\./||g; s|\.c||g')
	export LAYOUTS
}

ok() { printf 'ok   %s\n' "$1"; }
skip() { printf 'skip %s: %s\n' "$1" "$2"; }

# fail NAME [DETAIL ...]: the details follow, indented.
fail() {
	printf 'FAIL %s\n' "$1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/     /'
}

# check NAME COMMAND...: passes if the command does; shows what it said if not.
check() {
	check_name=$1
	shift
	if check_out=$("$@" 2>&1); then
		ok "$check_name"
	else
		fail "$check_name" "$* gave status $?:" "$check_out"
	fi
}

# A directory of the script's own, gone when it ends.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ringtest.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
