#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Prints the options that pin guest and host to the pair of CPUs on which this
# machine is best measured: two cores of the same type, the fastest if types
# differ, as near to each other as there are, and so not two threads of one core
# if that can be helped. CPUS="GUEST HOST" asks for another pair.
#
# It prints nothing, with status 0, only where a single CPU can be used. Where
# the CPUs are not known it fails. stderr says why.

export LC_ALL=C
if [ -n "$CPUS" ]; then
	if ! printf '%s\n' "$CPUS" | tr '\n' x |
		grep -Eqx '[0-9]+ +[0-9]+x'; then
		echo "pair.sh: CPUS='$CPUS' is no pair: give two, like" \
			'CPUS="0 1" (guest, host)' >&2
		exit 2
	fi
	pair=$CPUS
else
	# With --sleep a single CPU is listed, too, and said to be shared.
	pairs=$(sh run-on-all.sh --list --all-pairs true --sleep) || exit
	pair=$(printf '%s\n' "$pairs" | sort -k 1,1n -k 2,2n | awk '
	BEGIN {
		n = split("l2 llc node machine smt", classes, " ")
		for (i = 1; i <= n; i++)
			rank[classes[i]] = i
	}
	$3 in rank {
		split($4, type, "-")
		rate = rank[$3]
		if ($3 == "smt")
			rate += 100
		else if (type[1] != type[2])
			rate += 20
		else if ($4 != "" && type[1] != "P")
			rate += 10
		if (!best || rate < best) {
			best = rate
			pair = $1 " " $2
		}
	}
	END { print pair }') || exit
fi
[ -z "$pair" ] ||
	echo "--guest-affinity ${pair%% *} --host-affinity ${pair##* }"
