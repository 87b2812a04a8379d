/* SPDX-License-Identifier: MIT */
/*
 * Warnings on stderr, each once: how the machine may spoil what is measured.
 * doc/warnings has a heading for each, the words before its first colon.
 */
/* Errors: what cannot be read is not warned of. */
#ifndef LIB_MACHINE_H
#define LIB_MACHINE_H

/* Before the runs: the speed of the CPUs that we may use. */
void machine_start(void);

/* The CPUs of a ringtest row, as numbers; empty: not pinned. */
void machine_pair(const char *guest, const char *host);

/* After the runs: what else ran on our CPUs, and on the machine under us. */
void machine_end(void);

#endif
