#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs a command once for each pair of CPUs; usage() says how. Which pairs there
# are, pairs knows; what was measured, pair-rows keeps and plot-pairs shows.

usage() {
	cat <<'END'
usage: sh run-on-all.sh [OPTION ...] [--] COMMAND [ARGUMENT ...]

Runs COMMAND with --host-affinity H --guest-affinity G appended, once for each
guest CPU G that is online and allowed; then with --host-affinity H alone; then
with neither. H is the last such CPU. Guest and host share a CPU only where
COMMAND has the word --sleep. The first COMMAND that fails ends it all, with
that command's status. COMMAND may begin with others: perf stat -- ./ring

  --list           print the pairs, GUEST HOST CLASS, and run nothing; where
                   cores differ, their types follow: P (performance), E
                   (efficiency), M (between the two) or L (low power)
  --all-pairs      every ordered pair, not only those with the last CPU as host
  --classes        one pair for each thing that two CPUs can share: smt (a
                   core), l2, llc (the last-level cache), node (a socket
                   where no nodes are listed), machine; and for each two
                   types of core
  --shuffle SEED   the pairs in an order that SEED (0 to 999999999) determines
  --allowed LIST   CPUs to use, like 0,2-5, in place of those allowed here:
                   isolated ones, say
  --sysroot DIR    with --list: the machine whose /sys is in DIR
  --csv FILE       append the class and the ringtest CSV rows of each run as it
                   ends; one FILE for each COMMAND
  --resume         skip the runs that the --csv FILE has already
  --metric COLUMN  of the rows, in the matrix and the picture, in place of
                   ns_per_buffer: latency_p99_ns, say
  --together       what does a neighbour cost? COMMAND on each pair of a class
                   alone, and on as many as have no CPU in common at once; a
                   table of both (BENCH_ROUNDS runs of each, 5)
  --plot FILE.svg  draw it as a heat map (with gnuplot)
  --help           print this

--csv, --plot, --metric and --all-pairs set RINGTEST_FORMAT=csv and end with a
matrix of the medians: guest down, host across, ns per buffer. Progress goes to
stderr.
END
}

tools=$(dirname "$(readlink -f "$0")")
[ ! -e "$tools/tools/lib.sh" ] || tools=$tools/tools
# shellcheck source=tools/lib.sh
. "$tools/lib.sh"

list='' all_pairs='' classes='' seed='' allowed='' sysroot='' csv='' resume=''
plot='' metric='' sleep='' together=''
while [ $# -gt 0 ]; do
	option=${1%%=*} value=${1#*=}
	case $1 in
	--) shift; break ;;
	--allowed | --csv | --metric | --plot | --shuffle | --sysroot)
		[ $# -gt 1 ] || fail 2 "$1: needs a value (--help says which)"
		value=$2
		shift
		;;
	--allowed=* | --csv=* | --metric=* | --plot=* | --shuffle=* | --sysroot=*) ;;
	-?*) option=$1 ;;
	*) break ;;
	esac
	shift
	case $option in
	--help) usage; exit ;;
	--list) list=$option ;;
	--all-pairs) all_pairs=$option ;;
	--classes) classes=$option ;;
	--resume) resume=$option ;;
	--together) together=$option ;;
	--allowed) allowed=$option=$value ;;
	--shuffle) seed=$option=$value ;;
	--sysroot) sysroot=$option=$value ;;
	--csv)
		csv=$value
		case $value in
		'' | -*) fail 2 "--csv: '$value' is no file name: give one" \
			"(as ./NAME if it begins with -)" ;;
		esac
		;;
	--metric)
		metric=$value
		case $value in
		'' | *[!a-z0-9_]*) fail 2 "--metric: '$value' is no column of" \
			"the rows: give one, like latency_p99_ns" ;;
		esac
		;;
	--plot)
		plot=$value
		case $value in
		[!-]*.svg) ;;
		*) fail 2 "--plot: '$value': give a FILE.svg (as ./FILE.svg" \
			"if it begins with -)" ;;
		esac
		;;
	*) fail 2 "$option: no such option: --help lists them" ;;
	esac
done
[ $# -gt 0 ] || [ "$list" ] ||
	fail 2 "no command: give one, like ./ring --sleep (--help says more)"
[ -z "$sysroot" ] || [ "$list" ] || fail 2 \
	"--sysroot: another machine's CPUs can only be listed: add --list"
[ -z "$resume" ] || [ "$csv" ] ||
	fail 2 "--resume: nothing says which runs are done: add --csv FILE"
[ -z "$plot" ] || [ -w "$(dirname "$plot")" ] ||
	fail 2 "--plot: cannot write $plot: give another FILE.svg"
[ -z "$together" ] || for word in $all_pairs $classes $resume ${csv:+--csv} \
	${plot:+--plot}; do
	fail 2 "--together: it has pairs and a table of its own: leave out $word"
done
for word in "$@"; do
	case $word in
	--s | --sl | --sle | --slee | --sleep) sleep=--sleep ;;
	esac
done
case ${1--} in
-*) ;;
*) command -v "$1" >/dev/null || fail 127 "$1: no such command" ;;
esac

# tool NAME ARGUMENT...: one of ours, which speaks in our name
tool() {
	find_program "$1"
	shift
	"$program" --as "$self" "$@"
}

if [ "$together" ]; then
	pairs=$(tool pairs --all-pairs ${sleep:+"$sleep"} ${seed:+"$seed"} \
		${allowed:+"$allowed"} ${sysroot:+"$sysroot"}) || exit
	printf '%s\n' "$pairs" | sh "$tools/together" --as "$self" ${list:+"$list"} \
		${metric:+--metric "$metric"} -- "$@"
	exit
fi
runs=$(tool pairs --unpinned ${all_pairs:+"$all_pairs"} ${sleep:+"$sleep"} \
	${classes:+"$classes"} ${seed:+"$seed"} ${allowed:+"$allowed"} \
	${sysroot:+"$sysroot"}) || exit
[ -z "$csv" ] || runs=$(printf '%s\n' "$runs" | tool pair-rows \
	${list:+"$list"} ${resume:+"$resume"} -- "$csv" "$@") || exit
if [ "$list" ]; then
	printf '%s\n' "$runs" | grep '^[0-9]' || [ $? -eq 1 ]
	exit
fi

# interrupted SIGNAL STATUS: stdout is that of the command which it interrupts
interrupted() {
	stop "$1"
	[ -z "$running" ] || {
		[ -z "$record" ] || cat "$dir/out" >&3
		say "$what: ended by SIG$1${csv:+: --resume goes on from here}"
	}
	exit "$2"
}
for signal in HUP:129 INT:130 QUIT:131 PIPE:141 TERM:143; do
	# shellcheck disable=SC2064
	trap "interrupted ${signal%:*} ${signal#*:}" "${signal%:*}"
done

# launch COMMAND...: the program, in its own locale, and no function of ours
launch() {
	set -- "$@" ${host:+--host-affinity "$host"} \
		${guest:+--guest-affinity "$guest"}
	# shellcheck disable=SC2016
	run sh -c 'LC_ALL=$0; exec "$@"' "$locale" "$@"
}

# matrix FILE [PICTURE]: of the rows in it
matrix() {
	"$tools/plot-pairs" --as "$self${2:+: --plot}" \
		${metric:+--metric "$metric"} "$@"
}

# keep_rows: those in what the run printed
keep_rows() {
	tool pair-rows ${resume:+"$resume"} --add "${guest:--} ${host:--} $class" \
		-- "${csv:-$dir/rows}" <"$dir/out" >"$dir/new" || exit
	[ -s "$dir/new" ] || [ -z "$csv$plot$metric" ] || {
		option=${csv:+--csv}
		option=${option:-${plot:+--plot}}
		fail 2 "${option:---metric}: the command printed no ringtest CSV" \
			"row for $what: end it with a ring, without --quiet" \
			"and --format"
	}
	cat "$dir/new" >>"$dir/measured"
	[ -z "$metric" ] || [ "$nr" -gt 0 ] || matrix "$dir/measured" >/dev/null ||
		exit
}

record=$all_pairs$csv$plot$metric
[ -z "$record" ] || export RINGTEST_FORMAT=csv
total=$(printf '%s\n' "$runs" | grep -c .)
nr=0
start=$(date +%s)
while read -r guest host class; do
	guest=${guest#-} host=${host#-}
	case $class in
	'') continue ;;
	no-affinity) title='NO AFFINITY' what='neither pinned' ;;
	no-guest-affinity)
		title='NO GUEST AFFINITY' what="no guest CPU, host CPU $host"
		;;
	*)
		title="GUEST AFFINITY $guest"
		[ -z "$all_pairs$classes" ] || title="$title HOST AFFINITY $host"
		what="guest CPU $guest, host CPU $host ($class)"
		;;
	esac
	if [ "$record$classes$seed" ]; then
		left=
		[ "$nr" -eq 0 ] || left=", about $((($(date +%s) - start) * \
			(total - nr) / nr)) s left"
		say "run $((nr + 1)) of $total: $what$left"
	fi
	printf '%s\n' "$title"
	status=0
	if [ "$record" ]; then
		launch "$@" >"$dir/out" || status=$?
		cat "$dir/out"
	else
		launch "$@" || status=$?
	fi
	[ "$status" -eq 0 ] || fail "$status" \
		"$what: the command failed with status $status"
	[ -z "$record" ] || keep_rows
	nr=$((nr + 1))
done <<END
$runs
END

measured=$dir/measured
[ -z "$resume" ] || measured=$csv
[ -s "$measured" ] || exit 0
matrix "$measured" ${plot:+"$plot"}
status=$?
[ $status -eq 77 ] || exit $status
