# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# What the test scripts share: each behaviour is a line of TAP
# (testanything.org), and the status says whether one failed: 0, 1, or 77 if
# all were skipped. A script runs from the top of the tree. One that ends with
# another status has no plan, which is a failure.

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

tap_reported=0 tap_failed=0 tap_skipped=0

# tap 'ok' | 'not ok' NAME [DIRECTIVE]: a '#' in a name would begin a directive
tap() {
	tap_reported=$((tap_reported + 1))
	case $2 in
	*'#'*) set -- "$1" "$(printf '%s\n' "$2" | sed 's/#/\\#/g')" "$3" ;;
	esac
	printf '%s %d - %s%s\n' "$1" $tap_reported "$2" "$3"
}

ok() { tap ok "$1"; }

# skip NAME WHY
skip() {
	tap ok "$1" " # SKIP $2"
	tap_skipped=$((tap_skipped + 1))
}

# fail NAME [DETAIL ...]
fail() {
	tap 'not ok' "$1"
	tap_failed=$((tap_failed + 1))
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/# /'
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

# relay PREFIX COMMAND...: what another test, or tests/run, reports as our own
relay() {
	relay_prefix=$1
	shift
	"$@" >"$scratch/relayed" 2>&1
	relay_status=$?
	relay_plan='' relay_failed=$tap_failed
	while IFS= read -r relay_line; do
		relay_name=$relay_prefix${relay_line#*ok * - }
		case $relay_line in
		'ok '*' # SKIP '*)
			skip "${relay_name%% # SKIP *}" "${relay_line##* # SKIP }"
			;;
		'ok '*) ok "$relay_name" ;;
		'not ok '*) fail "$relay_name" ;;
		1..*) relay_plan=1 ;;
		'== '* | '   '*' s' | *' passed, '*' skipped') ;;	# tests/run
		*) printf '# %s\n' "${relay_line#\# }" ;;
		esac
	done <"$scratch/relayed"
	case $relay_plan,$relay_status,$((tap_failed > relay_failed)) in
	1,0,0 | 1,77,0 | 1,1,1) ;;
	*) fail "$relay_prefix$*" "it ended with status $relay_status" ;;
	esac
}

# A directory of the script's own, gone when it ends. What else has to go then
# is for at_end, which a script may define.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ringtest.XXXXXX") || exit 1
at_end() { :; }
tap_end() {
	tap_status=$?
	at_end
	rm -rf "$scratch"
	[ $tap_status -eq 0 ] || {
		echo "# ended early, with status $tap_status"
		exit $tap_status
	}
	echo "1..$tap_reported"
	[ $tap_reported -gt 0 ] && [ $tap_failed -eq 0 ] || exit 1
	[ $tap_skipped -lt $tap_reported ] || exit 77
}
trap tap_end EXIT
trap 'exit 1' HUP INT TERM
