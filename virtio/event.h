/* SPDX-License-Identifier: MIT */
#ifndef VIRTIO_EVENT_H
#define VIRTIO_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The virtio rule (virtio 1.1, 2.6.7.2 and 2.6.8.2): notify if the entry that
 * the other side named in @event is among the last @since, those just before
 * @next. @since is the full count, not 16 bits of it, so that more than 65535
 * entries between two looks at the event still notify.
 */
static inline bool need_event(uint16_t event, uint16_t next, uint32_t since)
{
	return (uint16_t)(next - event - 1) < since;
}

#endif
