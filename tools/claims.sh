#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Published results beside what this machine says: each is measured with
# ./compare, the new way against the old one, in turn. README says where the
# figures come from and what to make of a disagreement.
#
# usage: tools/claims.sh	from the top of the tree, after make
#	CLAIMS_TIME	seconds for each row (12)
#	CLAIMS_CYCLES	buffers in a run (2000000; asleep a tenth)

seconds=${CLAIMS_TIME:-12}
cycles=${CLAIMS_CYCLES:-2000000}
asleep="--sleep --run-cycles $((cycles / 10))"
awake="--run-cycles $cycles"
pin=$(sh tools/pair.sh) || exit 1

dir=$(mktemp -d "${TMPDIR:-/tmp}/ringtest.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

# Both builds of claim 1 are made here, whatever the one outside is.
for lto in 0 1; do
	mkdir "$dir/lto$lto"
	cp -R ./*.c ./*.h Makefile harness virtio "$dir/lto$lto"
	make -s -C "$dir/lto$lto" LTO=$lto ring virtio_ring_0_9 \
		virtio_ring_inorder virtio_ring_poll >"$dir/log" 2>&1 || {
		cat "$dir/log" >&2
		exit 1
	}
done

heading() {
	printf '\n%s\n%-40s %10s  %-22s %s\n' "$1" 'time, new against old' \
		published 'measured, 95 %' 'direction'
}

# row NAME PUBLISHED 'OLD' 'NEW' [COMPARE-OPTION...]: changes in per cent
row() {
	name=$1 claim=$2 old=$3 new=$4
	shift 4
	for command in "$old" "$new"; do
		program=${command%% *}
		[ -x "$program" ] || {
			printf '%-40s %9s%%  %s\n' "$name" "$claim" \
				"$program is not there yet"
			return
		}
	done
	./compare --max-time "$seconds" --format csv "$@" "$old" "$new" \
		>"$dir/csv" 2>"$dir/err" || {
		cat "$dir/err" >&2
		exit 1
	}
	awk -F, -v name="$name" -v published="$claim" '
	$2 == "\"B\"" {
		measured = "fewer than 6 pairs"
		direction = "not known"
		if ($18 != "") {
			low = ($19 - 1) * 100
			high = ($20 - 1) * 100
			measured = sprintf("%+.1f%% [%+.1f, %+.1f]",
				($18 - 1) * 100, low, high)
			if (low <= 0 && high >= 0)
				direction = "no difference shown"
			else if ((high < 0) == (published < 0))
				direction = "agrees"
			else
				direction = "DISAGREES"
		}
		printf "%-40s %+9.1f%%  %-22s %s\n", name, published, measured,
			direction
	}' "$dir/csv"
}

heading '1a. link-time optimization, against separate objects, polling'
row ring -9.9 "$dir/lto0/ring $pin $awake" "$dir/lto1/ring $pin $awake"
row virtio_ring_0_9 -19.5 "$dir/lto0/virtio_ring_0_9 $pin $awake" \
	"$dir/lto1/virtio_ring_0_9 $pin $awake"
row virtio_ring_inorder -17.1 "$dir/lto0/virtio_ring_inorder $pin $awake" \
	"$dir/lto1/virtio_ring_inorder $pin $awake"
row virtio_ring_poll -18.5 "$dir/lto0/virtio_ring_poll $pin $awake" \
	"$dir/lto1/virtio_ring_poll $pin $awake"

heading '1b. the same, asleep (the published mode is not stated)'
row ring -9.9 "$dir/lto0/ring $pin $asleep" "$dir/lto1/ring $pin $asleep"
row virtio_ring_0_9 -19.5 "$dir/lto0/virtio_ring_0_9 $pin $asleep" \
	"$dir/lto1/virtio_ring_0_9 $pin $asleep"
row virtio_ring_inorder -17.1 "$dir/lto0/virtio_ring_inorder $pin $asleep" \
	"$dir/lto1/virtio_ring_inorder $pin $asleep"
row virtio_ring_poll -18.5 "$dir/lto0/virtio_ring_poll $pin $asleep" \
	"$dir/lto1/virtio_ring_poll $pin $asleep"

heading '1c. polling once before a notification is asked for, asleep'
for entry in ring:-2.0 virtio_ring_0_9:-1.2 virtio_ring_inorder:-0.5 \
	virtio_ring_poll:-0.1; do
	layout=${entry%:*}
	row "$layout" "${entry#*:}" \
		"$dir/lto1/$layout $pin $asleep --no-poll-first" \
		"$dir/lto1/$layout $pin $asleep"
done

heading '2. vringh: accessors inlined, against an operations table'
published='--parallel --eventidx --fast-vringh --indirect --virtio-1'
published="./vringh_test $published --same-cpu --transfers $((cycles / 10))"
row 'vringh_test, on one CPU' +0.6 "$published --ops" "$published"
row 'vringh_test, on one CPU, CPU time' +1.0 "$published --ops" "$published" \
	--metric cpu
for access in user kern iotlb; do
	row "the ring vringh_$access" +0.6 "./vringh_${access}_ops $pin $awake" \
		"./vringh_$access $pin $awake"
done

echo 'the operations table against inlined, exact counts per transfer:'
published='./vringh_test --eventidx --fast-vringh --indirect --virtio-1'
if tools/instructions.sh -n "${CLAIMS_COUNT:-10000}" "$published" \
	"$published --ops" >"$dir/csv" 2>"$dir/err"; then
	awk -F, 'NR > 1 {
		printf "%-40s %+9.1f%%  %-22s %s\n", $1,
			$1 == "branches" ? 9.2 : 5.6,
			sprintf("%+.1f%%", ($4 - 1) * 100),
			($4 > 1 ? "agrees" : "DISAGREES") }' "$dir/csv"
else
	cat "$dir/err"
fi

heading '3. ptr_ring: the head moved before slots are cleared, against after'
test="./ptr_ring_test $pin -s 1000 -m 1 -N $((cycles * 5))"
row 'ptr_ring_test -s 1000 -m 1' -4.2 "$test --clear-first" "$test"
row 'the ring ptr_ring' -4.2 "./ptr_ring_clear_first $pin $awake" \
	"./ptr_ring $pin $awake"
for entry in 1:-0.6 2:-0.5 4:-0.5 8:+0.3 16:+0.4; do
	threads=${entry%:*}
	test="./pfifo --threads $threads --repeat 1 --packets $((cycles / 5))"
	row "pfifo, time per packet, $threads sending" "${entry#*:}" \
		"$test --order clear-first" "$test --order head-first"
done
