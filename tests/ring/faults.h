/* SPDX-License-Identifier: MIT */
/*
 * A test build of a ring is compiled with -include of this file: what can fail
 * or be disturbed goes through tests/ring/faults.c.
 */
#ifndef TESTS_RING_FAULTS_H
#define TESTS_RING_FAULTS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

void faulty_step(void);
int faulty_eventfd(unsigned count, int flags);
int faulty_close(int fd);
ssize_t faulty_read(int fd, void *buf, size_t size);
ssize_t faulty_write(int fd, const void *buf, size_t size);
int faulty_thread(pthread_t *id, const pthread_attr_t *attr,
		  void *(*fn)(void *), void *arg);

/* True, and errno set: the next call for memory or the like is refused. */
int faulty_refuse(int error);

#ifndef FAULTS_THEMSELVES
#define barrier_step() faulty_step()
#define eventfd(count, flags) faulty_eventfd(count, flags)
#define close(fd) faulty_close(fd)
#define read(fd, buf, size) faulty_read(fd, buf, size)
#define write(fd, buf, size) faulty_write(fd, buf, size)
#define pthread_create(id, attr, fn, arg) faulty_thread(id, attr, fn, arg)
#define mmap(...) (faulty_refuse(12) ? MAP_FAILED : mmap(__VA_ARGS__))
#define fopen(...) (faulty_refuse(24) ? NULL : fopen(__VA_ARGS__))
#define malloc(...) (faulty_refuse(12) ? NULL : malloc(__VA_ARGS__))
#define calloc(...) (faulty_refuse(12) ? NULL : calloc(__VA_ARGS__))
#define realloc(...) (faulty_refuse(12) ? NULL : realloc(__VA_ARGS__))
#define open_memstream(...)                                                    \
	(faulty_refuse(12) ? NULL : open_memstream(__VA_ARGS__))
#define reallocarray(...) (faulty_refuse(12) ? NULL : reallocarray(__VA_ARGS__))
#endif

#endif
