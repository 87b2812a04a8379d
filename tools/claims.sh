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
#	CLAIMS_COUNT	transfers whose instructions are counted (10000)
#	CPUS		"GUEST HOST", if the pair is to be another

. tools/lib.sh

seconds=${CLAIMS_TIME:-12}
cycles=${CLAIMS_CYCLES:-2000000}
count=${CLAIMS_COUNT:-10000}
whole CLAIMS_CYCLES "$cycles" buffers
whole CLAIMS_COUNT "$count" transfers
asleep="--sleep --run-cycles $((cycles / 10))"
awake="--run-cycles $cycles"
pin=$(sh tools/pair.sh) || exit 1

# Both builds of claim 1 are made here, whatever the one outside is; here are
# also the files that a compiler leaves when it is ended.
for lto in 0 1; do
	mkdir "$dir/lto$lto"
	cp -R ./*.c ./*.h Makefile harness virtio "$dir/lto$lto"
	run env TMPDIR="$dir" make -s -C "$dir/lto$lto" LTO=$lto ring \
		virtio_ring_0_9 virtio_ring_inorder virtio_ring_poll \
		>"$dir/log" 2>&1 || {
		cat "$dir/log" >&2
		exit 1
	}
done

# In commands there are only names that are ours, whatever the paths are called.
ln -s "$PWD" "$dir/top"
cd "$dir" || exit 1

heading() {
	printf '\n%s\n%-40s %10s  %-22s %s\n' "$1" 'time, new against old' \
		published 'measured, 95 %' 'direction'
}

# row NAME PUBLISHED 'OLD' 'NEW' [COMPARE-OPTION...]: changes in per cent
row() {
	name=$1 claim=$2 old=$3 new=$4
	shift 4
	run top/compare --max-time "$seconds" --format csv "$@" "$old" "$new" \
		>rows 2>err || {
		cat err >&2
		exit 1
	}
	awk -F, -v name="$name" -v published="$claim" '
	$2 == "\"B\"" {
		measured = "fewer than 6 pairs"
		direction = "not known"
		if ($19 != "") {
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
	}' rows
}

heading '1a. link-time optimization, against separate objects, polling'
row ring -9.9 "lto0/ring $pin $awake" "lto1/ring $pin $awake"
row virtio_ring_0_9 -19.5 "lto0/virtio_ring_0_9 $pin $awake" \
	"lto1/virtio_ring_0_9 $pin $awake"
row virtio_ring_inorder -17.1 "lto0/virtio_ring_inorder $pin $awake" \
	"lto1/virtio_ring_inorder $pin $awake"
row virtio_ring_poll -18.5 "lto0/virtio_ring_poll $pin $awake" \
	"lto1/virtio_ring_poll $pin $awake"

heading '1b. the same, asleep (the published mode is not stated)'
row ring -9.9 "lto0/ring $pin $asleep" "lto1/ring $pin $asleep"
row virtio_ring_0_9 -19.5 "lto0/virtio_ring_0_9 $pin $asleep" \
	"lto1/virtio_ring_0_9 $pin $asleep"
row virtio_ring_inorder -17.1 "lto0/virtio_ring_inorder $pin $asleep" \
	"lto1/virtio_ring_inorder $pin $asleep"
row virtio_ring_poll -18.5 "lto0/virtio_ring_poll $pin $asleep" \
	"lto1/virtio_ring_poll $pin $asleep"

heading '1c. polling once before a notification is asked for, asleep'
for entry in ring:-2.0 virtio_ring_0_9:-1.2 virtio_ring_inorder:-0.5 \
	virtio_ring_poll:-0.1; do
	layout=${entry%:*}
	row "$layout" "${entry#*:}" \
		"lto1/$layout $pin $asleep --no-poll-first" \
		"lto1/$layout $pin $asleep"
done

heading '2. vringh: accessors inlined, against an operations table'
published='--parallel --eventidx --fast-vringh --indirect --virtio-1'
published="top/vringh_test $published --same-cpu --transfers $((cycles / 10))"
row 'vringh_test, on one CPU' +0.6 "$published --ops" "$published"
row 'vringh_test, on one CPU, CPU time' +1.0 "$published --ops" "$published" \
	--metric cpu
for access in user kern iotlb; do
	row "the ring vringh_$access" +0.6 "top/vringh_${access}_ops $pin $awake" \
		"top/vringh_$access $pin $awake"
done

echo 'the operations table against inlined, exact counts per transfer:'
published='top/vringh_test --eventidx --fast-vringh --indirect --virtio-1'
if run top/tools/instructions.sh -n "$count" "$published" \
	"$published --ops" >rows 2>err; then
	awk -F, 'NR > 1 {
		printf "%-40s %+9.1f%%  %-22s %s\n", $1,
			$1 == "branches" ? 9.2 : 5.6,
			sprintf("%+.1f%%", ($4 - 1) * 100),
			($4 > 1 ? "agrees" : "DISAGREES") }' rows
else
	cat err
fi

heading '3. ptr_ring: the head moved before slots are cleared, against after'
test="top/ptr_ring_test $pin -s 1000 -m 1 -N $((cycles * 5))"
row 'ptr_ring_test -s 1000 -m 1' -4.2 "$test --clear-first" "$test"
row 'the ring ptr_ring' -4.2 "top/ptr_ring_clear_first $pin $awake" \
	"top/ptr_ring $pin $awake"
for entry in 1:-0.6 2:-0.5 4:-0.5 8:+0.3 16:+0.4; do
	threads=${entry%:*}
	test="top/pfifo --threads $threads --repeat 1 --packets $((cycles / 5))"
	row "pfifo, time per packet, $threads sending" "${entry#*:}" \
		"$test --order clear-first" "$test --order head-first"
done
