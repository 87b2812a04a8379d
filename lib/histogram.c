// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "histogram.h"

void histogram_init(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

uint64_t histogram_n(const struct histogram *h)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		n += h->count[i];
	return n;
}

void histogram_copy(struct histogram *to, const struct histogram *from)
{
	to->sum = READ_ONCE(from->sum);
	to->min = READ_ONCE(from->min);
	to->max = READ_ONCE(from->max);
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->count[i] = READ_ONCE(from->count[i]);
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->count[i] += from->count[i];
	to->sum += from->sum;
	if (to->min > from->min)
		to->min = from->min;
	if (to->max < from->max)
		to->max = from->max;
}

uint64_t histogram_low(unsigned i)
{
	const unsigned shift = i < 128 ? 0 : i / 64 - 1;

	return (uint64_t)(i - 64 * shift) << shift;
}

uint64_t histogram_high(unsigned i)
{
	return histogram_low(i + 1) - 1;
}

double histogram_middle(unsigned i)
{
	return (histogram_low(i) + histogram_high(i)) / 2.0;
}

double histogram_quantile(const struct histogram *h, double share)
{
	/* of the least value that is enough, from 1; a share is not quite 0.99 */
	const uint64_t n = histogram_n(h), rank = ceil(share * n * (1 - 1e-12));
	uint64_t below = 0;
	double value;

	if (!n)
		return NAN;
	if (rank <= 1)
		return h->min;
	if (rank >= n)
		return h->max;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		below += h->count[i];
		if (below < rank)
			continue;
		value = histogram_middle(i);
		/* the ends are exact, and nothing lies beyond them */
		return fmin(fmax(value, h->min), h->max);
	}
	return h->max;
}

double histogram_mean(const struct histogram *h)
{
	const uint64_t n = histogram_n(h);

	return n ? (double)h->sum / n : NAN;
}
