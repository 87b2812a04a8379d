# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# What the tree is made of, said once; for scripts that run at its top.

# c_files: all of ours, headers and what is included once, too
c_files() {
	printf '%s\n' *.[ch]
	find harness lib peers tests tools virtio -name '*.[ch]' -o \
		-name '*.inc' -o -name '*.cpp' | sort
}

# sh_files: every shell script
sh_files() {
	ls .ci/run run-on-all.sh tests/run tests/*.sh tests/*.test tools/*.sh \
		tools/plot-* tools/ringtest tools/together
	printf '%s\n' devtools/* scripts/* | grep -v '\.known$'
}

# copy_tree DIRECTORY: all that make reads or runs, and nothing that was built
copy_tree() {
	mkdir -p "$1" || return
	for part in ./*.[ch] Makefile run-on-all.sh devtools harness lib man \
		peers scripts tests tools virtio; do
		[ ! -e "$part" ] || cp -R "$part" "$1" || return
	done
}
