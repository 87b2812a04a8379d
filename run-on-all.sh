#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs a command once for each pair of CPUs; usage() says how.

# Here figures have a point in every locale; the command keeps its own locale.
locale=${LC_ALL-}
export LC_ALL=C

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
  --sysroot DIR    with --list: the machine whose /sys and /proc are in DIR
  --csv FILE       append the class and the ringtest CSV rows of each run as it
                   ends; one FILE for each COMMAND
  --resume         skip the runs that the --csv FILE has already
  --plot FILE.svg  draw ns per buffer as a heat map (with gnuplot)
  --help           print this

--csv, --plot and --all-pairs set RINGTEST_FORMAT=csv and end with a matrix of
the medians: guest down, host across, ns per buffer. Progress goes to stderr.
END
}

say() {
	printf 'run-on-all.sh: %s\n' "$*" >&2
}

die() {
	say "$@"
	exit 2
}

# shell_word TEXT: as one that can be pasted into a shell
shell_word() {
	case $1 in
	*[!A-Za-z0-9_./+-]*)
		printf '%s\n' "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/"
		;;
	*) printf '%s\n' "$1" ;;
	esac
}

valid_list() (
	range='[0-9]{1,5}(-[0-9]{1,5})?'
	printf '%s\n' "$1" | tr '\n' x | grep -Eqx "$range(,$range)*x" ||
		exit 1
	IFS=,
	for range in $1; do
		[ "${range%-*}" -le "${range#*-}" ] || exit 1
	done
)

# For awk: word[CPU] = text for each CPU of a LIST like 0,2-5
cpus_of='
function cpus_of(list, text, word,  range, end, n, m, i, cpu) {
	n = split(list, range, ",")
	for (i = 1; i <= n; i++) {
		m = split(range[i], end, "-")
		for (cpu = end[1] + 0; cpu <= end[m] + 0; cpu++)
			word[cpu] = text
	}
}'

# The two topology functions print a line for each CPU that is online: its
# number, core, socket, node, L2 and last-level cache. CPUs that share one have
# the same word for it; "-" is not known.
lscpu_topology() {
	lscpu ${sysroot:+--sysroot "$sysroot"} \
		-p=CPU,CORE,SOCKET,NODE,CACHE 2>/dev/null |
	awk '
	# Colons or commas part the caches, and there may be any or none.
	{ gsub(/:/, ",") }
	/^# CPU,/ { columns = split($0, name, ",") }
	/^[0-9]/ {
		split($0, id, ",")
		for (i = 1; i <= 4; i++)
			printf "%s ", (id[i] == "" ? "-" : id[i])
		l2 = last = "-"
		for (i = 5; i <= columns; i++) {
			if (name[i] !~ /^L[0-9]d?$/ || id[i] == "")
				continue
			if (name[i] == "L2")
				l2 = id[i]
			if (last == "-" || name[i] ":" > last)
				last = name[i] ":" id[i]
		}
		print l2, last
	}'
}

# lines DIRECTORY PATTERN...: the files there, as FILE:LINE
lines() (
	CDPATH='' cd "$sysroot/sys/devices/$1" 2>/dev/null || exit
	shift
	for files in "$@"; do
		# shellcheck disable=SC2086
		grep -s '' $files /dev/null
	done
)

sys_topology() {
	lines system/cpu online '../node/node[0-9]*/cpulist' \
		'cpu[0-9]*/topology/*_siblings' \
		'cpu[0-9]*/cache/index[0-9]*/level' \
		'cpu[0-9]*/cache/index[0-9]*/shared_cpu_map' |
	awk -F '[/:]' "$cpus_of"'
	function known(text) {
		return text == "" ? "-" : text
	}
	{ cpu = substr($1, 4) }
	$1 == "online" { cpus_of($2, 1, online) }
	$4 == "cpulist" { cpus_of($5, $3, node) }
	$3 == "thread_siblings" { core[cpu] = $4 }
	$3 == "core_siblings" { socket[cpu] = $4 }
	$4 == "level" { level[cpu, $3] = $5 + 0 }
	$4 == "shared_cpu_map" {
		if (level[cpu, $3] == 2)
			l2[cpu] = $5
		if (level[cpu, $3] > top[cpu] + 0) {
			top[cpu] = level[cpu, $3]
			last[cpu] = $5
		}
	}
	END {
		for (cpu in online)
			print cpu, known(core[cpu]), known(socket[cpu]),
				known(node[cpu]), known(l2[cpu]), known(last[cpu])
	}'
}

# A line for each CPU, its number and the type of its core, if types differ
core_types() {
	lines . 'cpu_core/cpus cpu_atom/cpus cpu_lowpower/cpus' \
		'system/cpu/cpu[0-9]*/cpu_capacity' |
	awk -F '[/:]' "$cpus_of"'
	$1 == "cpu_core" { cpus_of($3, "P", type) }
	$1 == "cpu_atom" { cpus_of($3, "E", type) }
	$1 == "cpu_lowpower" { cpus_of($3, "L", type) }
	$4 == "cpu_capacity" {
		size = capacity[substr($3, 4)] = $5 + 0
		if (!least || size < least)
			least = size
		if (size > most)
			most = size
	}
	END {
		# A core that may be clocked a little higher is no other type.
		for (cpu in capacity)
			type[cpu] = capacity[cpu] * 5 > most * 4 ? "P" : \
				capacity[cpu] * 4 < least * 5 ? "E" : "M"
		for (cpu in type)
			if (!seen[type[cpu]]++)
				types++
		for (cpu in type)
			if (types > 1)
				print cpu, type[cpu]
	}'
}

# choose LIST: those of $cpus that are in LIST, where an empty one has every
# CPU, each with the type of its core
choose() {
	{ core_types; printf '%s\n' "$cpus"; } |
	awk -v list="$1" "$cpus_of"'
	BEGIN { cpus_of(list, 1, chosen) }
	NF == 2 { type[$1] = $2 }
	NF == 6 && (list == "" || $1 in chosen) {
		print $0, ($1 in type ? type[$1] : "-")
	}'
}

# From those lines to the runs, a line each: GUEST:HOST:CLASS
plan() {
	awk -v all="$all_pairs" -v classes="$classes" -v sleep="$sleep" \
		-v seed="$seed" '
	# Strings, as bit masks such as 0e1 and 0e2 are the same as numbers.
	function same(a, b, what) {
		return id[a, what] == id[b, what] && id[a, what] != "-"
	}
	function class(a, b) {
		if (a == b)
			return "self"
		if (same(a, b, 2))
			return "smt"
		if (same(a, b, 5))
			return "l2"
		if (same(a, b, 6))
			return "llc"
		# Where no nodes are listed, a socket is the nearest thing.
		if (same(a, b, id[a, 4] == "-" ? 3 : 4))
			return "node"
		return "machine"
	}
	# The same in every awk, as the products stay below 2^53.
	function random() {
		return state = state * 16807 % 2147483647
	}
	{
		for (i = 1; i <= 7; i++)
			id[NR, i] = $i ""
	}
	END {
		for (h = NR; h >= (all || classes ? 1 : NR) && h; h--)
			for (g = 1; g <= NR; g++) {
				c = class(g, h)
				if (c == "self" && !sleep)
					continue
				if (id[g, 7] != "-")
					c = c " " id[g, 7] "-" id[h, 7]
				run[++n] = id[g, 1] ":" id[h, 1] ":" c
				if (!seen[c]++)
					first[++kinds] = run[n]
			}
		if (classes) {
			split("self smt l2 llc node machine", order, " ")
			for (i = n = 0; i++ < 6; )
				for (k = 1; k <= kinds; k++)
					if (first[k] ~ ":" order[i] "( |$)")
						run[++n] = first[k]
		}
		if (seed != "") {
			state = seed + 1
			for (i = 0; i < 8; i++)
				random()
			for (i = n; i > 1; i--) {
				j = random() % i + 1
				swap = run[i]
				run[i] = run[j]
				run[j] = swap
			}
		}
		for (i = 1; i <= n; i++)
			print run[i]
		print ":" id[NR, 1] ":no-guest-affinity"
		print "::no-affinity"
	}'
}

# whole FILE: its lines, but not a last one that was cut short
whole() {
	if [ "$(tail -c 1 "$1")" ]; then
		sed '$d' "$1"
	else
		cat "$1"
	fi
}

# Of the runs on stdin, those that $csv does not have
not_done() {
	{ whole "$csv" && cat; } | awk -F, '
	function key(g, h, c) { return c ~ /^no-/ ? c : g ":" h }
	/^class,/ { columns = NF; next }
	columns && NF == columns { seen[key($4, $5, $1)]; next }
	NF == 1 && split($0, run, ":") == 3 &&
		!(key(run[1], run[2], run[3]) in seen)'
}

# options: the layout and options of the rows on stdin, a line for each that
# differs
options() {
	awk -F, '
	/^class,/ {
		for (last = 5; last < NF; last++)
			if ($(last + 1) ~ /^(sample|elapsed_ns|ns_per_buffer)$/)
				break
		columns = split($0, name)
		next
	}
	NF == columns {
		key = $3
		for (i = 6; i <= last; i++)
			key = key ", " name[i] " " ($i == "" ? "none" : $i)
		if (!seen[key]++)
			print key
	}'
}

# contrary WORD...: an option among the words for which $csv has a column, and no
# row with that value
contrary() {
	{ printf '%s\n' "$@" | sed 's/^/ /' && whole "$csv"; } | awk -F, '
	/^ / {
		word = substr($0, 2)
		if (name != "")
			want[name] = word
		name = at = ""
		if (word !~ /^--[a-z]/)
			next
		at = index(word, "=")
		name = substr(word, 3, at ? at - 3 : length(word))
		gsub(/-/, "_", name)
		if (at) {
			want[name] = substr(word, at + 1)
			name = ""
		}
		next
	}
	/^class,/ {
		for (i = 6; i <= NF; i++)
			column[i] = $i
		next
	}
	{
		for (i in column)
			has[column[i], $i] = has[column[i]] = 1
	}
	END {
		for (name in want)
			if (name in has && !((name, want[name]) in has)) {
				print name " " want[name]
				exit
			}
	}'
}

# add_rows: appends the ringtest rows in what the run printed to $rows
add_rows() {
	awk -F, -v class="$class" -v guest="$guest" -v host="$host" '
	/^schema,layout,guest_cpu,host_cpu,/ {
		header = $0
		columns = NF
		for (i = value = 0; i++ < NF; )
			if ($i == "ns_per_buffer")
				value = i
	}
	# A command that did not pass the pair on would mislabel its row.
	guest != "" && ($3 != guest || $4 != host) { next }
	value && NF == columns && $1 ~ /^[0-9]+$/ && $value ~ /^[0-9.]+$/ {
		if (!n++)
			print "class," header
		print class "," $0
	}' <"$scratch/out" >"$scratch/new"
	if [ ! -s "$scratch/new" ]; then
		option=${csv:+--csv}
		[ -z "$csv$plot" ] || die "${option:---plot}: the command" \
			"printed no ringtest CSV row for $what: end it with a" \
			"ring, without --quiet and --format"
		return
	fi
	if [ -s "$rows" ]; then
		[ "$(head -n 1 "$rows")" = "$(head -n 1 "$scratch/new")" ] ||
			die "--csv: $csv has other columns: give another FILE"
		known=$(options <"$rows")
		[ -z "$resume" ] || [ -z "$known" ] ||
			unlike=$(options <"$scratch/new" |
				grep -Fvx -e "$known" | head -n 1)
		[ -z "$unlike" ] || die "--resume: this run has $unlike," \
			"unlike those in $csv: give their options, or another" \
			"FILE"
		sed 1d "$scratch/new" >"$scratch/add"
	else
		cat "$scratch/new" >"$scratch/add"
	fi
	# One write, so that an interruption leaves whole rows.
	cat "$scratch/add" >>"$rows" || exit 1
}

# matrix text|plot: the new rows as a table, or as a script for gnuplot
matrix() {
	awk -F, -v old="$old" -v how="$1" '
	function sort(a, n, i, j, t) {
		for (i = 2; i <= n; i++) {
			t = a[i]
			for (j = i - 1; j && a[j] > t; j--)
				a[j + 1] = a[j]
			a[j + 1] = t
		}
	}
	function median(key, n, i, a) {
		n = count[key]
		for (i = 1; i <= n; i++)
			a[i] = sample[key, i]
		sort(a, n)
		return (a[int((n + 1) / 2)] + a[int(n / 2) + 1]) / 2
	}
	function cell(key) {
		return key in count ? sprintf("%.2f", median(key)) : "-"
	}
	function table(g, h) {
		print layouts ": median ns per buffer, guest down, host across"
		for (h = 0; h <= hosts && guests; h++)
			printf h ? "%9s" : "%10s", h ? host[h] : "guest\\host"
		for (g = 1; g <= guests; g++) {
			printf "\n%10s", guest[g]
			for (h = 1; h <= hosts; h++)
				printf "%9s", cell(guest[g] ":" host[h])
		}
		if (guests)
			print ""
		print "guest not pinned: " cell("no-guest-affinity") \
			", neither pinned: " cell("no-affinity")
	}
	function tics(axis, cpu, n, step, i) {
		printf "set %stics out nomirror (", axis
		for (i = 1; i <= n; i += step)
			printf "%s\"%s\" %d", (i > 1 ? ", " : ""), cpu[i], i
		print ")"
	}
	function max(a, b) {
		return a > b ? a : b
	}
	# For gnuplot, which reads nothing but the quote within single quotes
	function quoted(text) {
		gsub("\047", "\047\047", text)
		return "\047" text "\047"
	}
	function heat_map(g, h, n, x, y, size, wide, high, scale) {
		for (g = 1; g <= guests; g++)
			for (h = 1; h <= hosts; h++) {
				if (!(guest[g] ":" host[h] in count))
					continue
				v[g, h] = median(guest[g] ":" host[h])
				if (!n++)
					least = most = v[g, h]
				least = v[g, h] < least ? v[g, h] : least
				most = max(most, v[g, h])
			}
		# In pixels: a cell, the map, and the scale beside it
		n = guests > hosts ? guests : hosts
		size = n <= 2 ? 112 : n <= 16 ? 56 : n <= 64 ? 22 : 8
		wide = hosts * size
		high = guests * size
		scale = max(high, 168)
		x = max(wide + 260, 480)
		y = scale + 150
		printf "set terminal svg size %d,%d noenhanced" \
			" font \"sans,14\" background \"white\"\n", x, y
		print "set lmargin at screen", 90 / x
		print "set rmargin at screen", (90 + wide) / x
		print "set bmargin at screen", (y - 60 - high) / y
		print "set tmargin at screen", (y - 60) / y
		printf "set colorbox user origin %.4f,%.4f size %.4f,%.4f\n",
			(110 + wide) / x, (y - 60 - scale) / y, 24 / x, scale / y
		printf "set label %s at screen %.4f,%.4f left\n",
			quoted(layouts ": median time per buffer"), 30 / x,
			(y - 30) / y
		print "set xlabel \"Host CPU (number)\""
		print "set ylabel \"Guest CPU (number)\""
		print "set cblabel \"ns per buffer\""
		tics("x", host, hosts, size < 20 ? 4 : 1)
		tics("y", guest, guests, size < 20 ? 4 : 1)
		print "set xrange [0.5:" hosts + 0.5 "]"
		print "set yrange [" guests + 0.5 ":0.5]"
		# Ever darker, so that it reads in grey as well.
		print "set palette defined (0 \"#fff3b0\", 1 \"#f6b65b\"," \
			" 2 \"#d95f4c\", 3 \"#8a2a6b\", 4 \"#2b1055\")"
		print "set cbrange [" least ":" (most > least ? most : least + 1) "]"
		print "set style fill solid"
		print "$cells << EOD"
		for (g = 1; g <= guests; g++)
			for (h = 1; h <= hosts; h++) {
				if (!((g, h) in v))
					continue
				dark = v[g, h] > (least + most) / 2
				printf "%d %d %s ", h, g, v[g, h]
				# A decimal below 100, and none above
				printf "%." (v[g, h] < 100) "f", v[g, h]
				print "", dark ? 16777215 : 0
			}
		print "EOD"
		printf "plot $cells using 1:2:(.5):(.5):3 with boxxyerror" \
			" fillcolor palette notitle"
		if (size > 40)
			printf ", $cells using 1:2:4:5 with labels" \
				" textcolor rgb variable notitle"
		print ""
	}
	NR == 1 {
		columns = NF
		for (i = 1; i <= NF; i++)
			if ($i == "ns_per_buffer")
				value = i
	}
	NR == 1 || NR <= old || NF != columns { next }
	{
		if (!is_layout[$3]++)
			layouts = layouts (layouts == "" ? "" : ", ") $3
		key = $1 ~ /^no-/ ? $1 : $4 ":" $5
		sample[key, ++count[key]] = $value + 0
		if (key != $1 && !is_guest[$4]++)
			guest[++guests] = $4 + 0
		if (key != $1 && !is_host[$5]++)
			host[++hosts] = $5 + 0
	}
	END {
		sort(guest, guests)
		sort(host, hosts)
		if (how == "text" && layouts != "")
			table()
		if (how == "plot" && guests)
			heat_map()
	}' <"$rows"
}

# Only the program, no function or built-in of this shell.
launch() {
	set -- "$@" ${host:+--host-affinity "$host"} \
		${guest:+--guest-affinity "$guest"}
	# By way of sh, as env takes a name like a=b for a variable
	# shellcheck disable=SC2016
	[ -z "$heeds" ] || set -- env --default-signal=INT,QUIT \
		sh -c 'exec "$@"' sh "$@"
	LC_ALL=$locale
	exec "$@" <&9 9<&-
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

# interrupted SIGNAL STATUS: the command and all below it get the signal, too,
# and TERM where that has not ended them within a second
# shellcheck disable=SC2046,SC2086
interrupted() {
	trap '' HUP INT QUIT PIPE TERM
	if [ "$running" ]; then
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
		[ -z "$record" ] || cat "$scratch/out"
		say "$what: ended by SIG$1${csv:+: --resume goes on from here}"
	fi
	exit "$2"
}

list='' all_pairs='' classes='' seed='' allowed='' sysroot='' csv='' resume=''
plot='' sleep='' unlike=''
while [ $# -gt 0 ]; do
	option=${1%%=*} value=${1#*=}
	case $1 in
	--) shift; break ;;
	--allowed | --csv | --plot | --shuffle | --sysroot)
		[ $# -gt 1 ] || die "$1: needs a value (--help says which)"
		value=$2
		shift
		;;
	--allowed=* | --csv=* | --plot=* | --shuffle=* | --sysroot=*) ;;
	-?*) option=$1 ;;
	*) break ;;
	esac
	shift
	case $option in
	--help) usage; exit 0 ;;
	--list) list=1 ;;
	--all-pairs) all_pairs=1 ;;
	--classes) classes=1 ;;
	--resume) resume=1 ;;
	--allowed)
		allowed=$value
		valid_list "$value" || die "--allowed: '$value' is no list" \
			"of CPUs: give one like 0,2-5"
		;;
	--shuffle)
		seed=$value
		case $value in
		'' | *[!0-9]* | ??????????*) die "--shuffle: '$value' is no" \
			"seed: give a number from 0 to 999999999" ;;
		esac
		;;
	--sysroot)
		sysroot=$value
		[ -d "${value:-no}/sys/devices/system/cpu" ] ||
			die "--sysroot: '$value' has no sys/devices/system/cpu:" \
			"give the directory that the other machine's tree is in"
		;;
	--csv)
		csv=$value
		case $value in
		'' | -*) die "--csv: '$value' is no file name: give one" \
			"(as ./NAME if it begins with -)" ;;
		esac
		;;
	--plot)
		plot=$value
		case $value in
		[!-]*.svg) ;;
		*) die "--plot: '$value': give a FILE.svg (as ./FILE.svg if" \
			"it begins with -)" ;;
		esac
		;;
	*) die "$option: no such option: --help lists them" ;;
	esac
done
[ $# -gt 0 ] || [ "$list" ] ||
	die "no command: give one, like ./ring --sleep (--help says more)"
[ -z "$sysroot" ] || [ "$list" ] ||
	die "--sysroot: another machine's CPUs can only be listed: add --list"
[ -z "$resume" ] || [ "$csv" ] ||
	die "--resume: nothing says which runs are done: add --csv FILE"
[ -z "$plot" ] || [ -w "$(dirname "$plot")" ] ||
	die "--plot: cannot write $plot: give another FILE.svg"
for word in "$@"; do
	case $word in
	--s | --sl | --sle | --slee | --sleep) sleep=1 ;;
	esac
done

case ${1--} in
-*) ;;
*)
	command -v "$1" >/dev/null || {
		say "$1: no such command"
		exit 127
	}
	;;
esac

# What this process may use says nothing about another machine.
mask='' least=1
if [ -z "$sysroot" ] && [ -r /proc/self/status ]; then
	mask=$(awk '/^Cpus_allowed_list:/ { print $2 }' </proc/self/status)
	[ "$allowed" ] || least=$(OMP_NUM_THREADS='' OMP_THREAD_LIMIT='' \
		nproc 2>/dev/null) || least=1
fi
cpus=$(lscpu_topology)
[ "$cpus" ] || cpus=$(sys_topology)
cpus=$(printf '%s\n' "$cpus" | sort -n)
[ "$cpus$mask" ] || die "cannot tell which CPUs are online: nothing is in" \
	"$sysroot/sys/devices/system/cpu/online"
usable=$(choose "${allowed:-$mask}")
# A container may have an empty /sys, or one that numbers the CPUs otherwise.
if [ "$mask" ] &&
	[ "$(printf '%s\n' "$usable" | grep -c .)" -lt "$least" ]; then
	online=$cpus
	cpus=$(awk -v list="$mask" "$cpus_of"'
	BEGIN {
		cpus_of(list, "- - - - -", word)
		for (cpu in word)
			print cpu, word[cpu]
	}' | sort -n)
	usable=$(choose "$allowed")
	if [ "$usable" ]; then
		say "/sys lists other CPUs than this process may use, $mask:" \
			"these are taken, but what they share is not known"
	else
		cpus=${online:-$cpus}
	fi
fi
[ "$usable" ] || die "--allowed: no CPU of $allowed is online: choose from" \
	"$(printf '%s\n' "$cpus" | cut -d ' ' -f 1 | paste -s -d , -)"
runs=$(printf '%s\n' "$usable" | plan)

if [ "$(printf '%s\n' "$usable" | grep -c .)" -eq 1 ]; then
	only="only CPU ${usable%% *} is online and allowed"
	more='allow more CPUs (taskset, cpuset, --allowed)'
	if [ "$sleep" ]; then
		say "$only, so guest and host share it: to part them, $more"
	else
		say "$only: no pair without --sleep: add it, or $more"
	fi
fi

[ ! -e "$csv" ] || [ -f "$csv" ] ||
	die "--csv: $csv is no plain file: give another FILE"
if [ -s "$csv" ]; then
	lead=class,schema,layout,guest_cpu,host_cpu,
	# The dot keeps the end of the line: a header may be cut short.
	first=$(head -n 1 "$csv" && echo .)
	[ "${first#"$lead"}" != "$first" ] ||
		[ "${lead#"${first%.}"}" != "$lead" ] ||
		die "--csv: $csv holds something else: give another FILE"
	if [ "$resume" ]; then
		runs=$(printf '%s\n' "$runs" | not_done)
		known=$(whole "$csv" | options | awk '
			{ printf "%s%s", (NR > 1 ? "; " : ""), $0 }')
		unlike=$(contrary "$@")
		[ -z "$unlike" ] || die "--resume: the command asks for" \
			"$unlike, and $csv has no run with that: give its" \
			"options, or another FILE"
		ran=${known%%, *}
		for word; do
			[ "${word##*/}" != "$ran" ] || ran=
		done
		[ "$runs" ] || say "--resume: $csv has all of these runs, so" \
			"nothing is run"
		[ -z "$ran" ] || [ $# -eq 0 ] ||
			say "--resume: $csv has runs of $ran: is that what" \
				"this command runs? If not, give another FILE"
		[ "$runs$list" ] || say "--resume: the matrix is of $known:" \
			"if the command has other options, give another FILE"
	fi
fi
if [ "$list" ]; then
	printf '%s\n' "$runs" | awk -F: '$1 != "" { print $1, $2, $3 }'
	exit
fi

# The command gets the stdin of this script, which a shell takes away from what
# it does not wait for, and its signals, which the shell has it ignore.
{ command exec 9<&0; } 2>/dev/null || exec 9</dev/null
heeds=
if grep -qs '^SigIgn:.*[014589cd]$' /proc/self/status &&
	env --default-signal=INT,QUIT true 2>/dev/null; then
	heeds=1
fi

running=
for signal in HUP:129 INT:130 QUIT:131 PIPE:141 TERM:143; do
	# shellcheck disable=SC2064
	trap "interrupted ${signal%:*} ${signal#*:}" "${signal%:*}"
done

record=$all_pairs$csv$plot old=0
if [ "$record" ]; then
	export RINGTEST_FORMAT=csv
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/run-on-all.XXXXXX") || exit 1
	trap 'rm -rf "$scratch"' EXIT
	rows=${csv:-$scratch/rows}
	{ true >>"$rows"; } 2>/dev/null ||
		die "--csv: cannot write $csv: give another FILE"
	# The next row must not be glued to one that was cut short.
	if [ "$(tail -c 1 "$rows")" ]; then
		dd if=/dev/null of="$rows" bs=1 \
			seek="$(whole "$rows" | wc -c)" 2>/dev/null || exit 1
	fi
	[ "$resume" ] || old=$(wc -l <"$rows")
fi

total=$(printf '%s\n' "$runs" | grep -c .)
nr=0
start=$(date +%s)
while IFS=: read -r guest host class; do
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
	running=1 status=0
	if [ "$record" ]; then
		launch "$@" >"$scratch/out" &
	else
		launch "$@" &
	fi
	wait $! || status=$?
	running=
	[ -z "$record" ] || cat "$scratch/out"
	if [ "$status" -ne 0 ]; then
		say "$what: the command failed with status $status"
		exit "$status"
	fi
	[ -z "$record" ] || add_rows
	nr=$((nr + 1))
done <<END
$runs
END

[ "$record" ] || exit 0
matrix text
[ "$plot" ] || exit 0
matrix plot >"$scratch/plot"
if [ ! -s "$scratch/plot" ]; then
	say "--plot: no pair was measured, so there is nothing to draw"
elif command -v gnuplot >/dev/null; then
	gnuplot <"$scratch/plot" >"$scratch/svg" || exit 1
	cat "$scratch/svg" >"$plot" || exit 1
else
	cat "$scratch/plot" >"$plot.gnuplot" || exit 1
	say "--plot: gnuplot is missing: install the Debian package" \
		"gnuplot-nox, then run: gnuplot $(shell_word "$plot.gnuplot")" \
		">$(shell_word "$plot")"
fi
