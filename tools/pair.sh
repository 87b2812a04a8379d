#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Prints the options that pin guest and host to the pair of CPUs on which this
# machine is best measured: two cores, as near to each other as there are, and
# so not two threads of one core if that can be helped. With one CPU it prints
# nothing, and says so. CPUS="GUEST HOST" asks for another pair.

pair=${CPUS:-$(sh run-on-all.sh --list --all-pairs 2>/dev/null | sort -n | awk '
	BEGIN {
		n = split("l2 llc node machine smt", classes, " ")
		for (i = 1; i <= n; i++)
			rank[classes[i]] = i
	}
	!best || rank[$3] < best { best = rank[$3]; pair = $1 " " $2 }
	END { print pair }')}
if [ -z "$pair" ]; then
	echo 'only one CPU to use: guest and host take turns on it' >&2
	exit 0
fi
echo "--guest-affinity ${pair% *} --host-affinity ${pair#* }"
