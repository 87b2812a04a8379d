// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sort_values(double *x, size_t n)
{
	qsort(x, n, sizeof(*x), compare_values);
}

/* In halves, as the sum of two may be more than a double holds. */
static double average(double a, double b)
{
	return a / 2 + b / 2;
}

double median_of(const double *sorted, size_t n)
{
	return average(sorted[(n - 1) / 2], sorted[n / 2]);
}

/*
 * The median lies below the k-th smallest value when fewer than k of n fair
 * coins fall heads: the largest k for which that happens at most alpha / 2 of
 * the time. Weights are relative to the middle one, so that no n overflows.
 */
uint64_t median_rank(uint64_t n, double alpha)
{
	uint64_t mid = n / 2, k;
	double weight = 1, all = n % 2 ? 2 : 1, tail;

	for (k = mid; k > 0 && weight > 0; k--) {
		weight *= (double)k / (n - k + 1);
		all += 2 * weight;
	}
	/* tail: how often at most k coins fall heads, in the same weights */
	weight = 1;
	tail = n % 2 ? all / 2 : (all + 1) / 2;
	for (k = mid; tail > alpha / 2 * all; k--) {
		if (!k)
			return 0;
		tail -= weight;
		weight *= (double)k / (n - k + 1);
	}
	return k + 1;
}

/* Beyond this many values the normal distribution is as good. */
#define EXACT_RANKS 200

/* The largest k with a rank sum below k at most alpha / 2 of the time. */
static uint64_t exact_signed_rank(uint64_t n, double alpha)
{
	static double p[EXACT_RANKS * (EXACT_RANKS + 1) / 4 + 1];
	uint64_t top = n * (n + 1) / 4, sum;
	double below = 0;

	memset(p, 0, sizeof(p));
	p[0] = 1;
	/* p[w]: how often the ranks so far, each in or out, add up to w */
	for (uint64_t rank = 1; rank <= n; rank++)
		for (uint64_t w = top + 1; w-- > 0;)
			p[w] = (p[w] + (w >= rank ? p[w - rank] : 0)) / 2;
	for (sum = 0; sum <= top; sum++) {
		below += p[sum];
		if (below > alpha / 2)
			break;
	}
	return sum;
}

/* The z that a normal variable exceeds with probability p < 0.5. */
static double normal_quantile(double p)
{
	double low = 0, high = 40, mid;

	for (int i = 0; i < 60; i++) {
		mid = (low + high) / 2;
		if (erfc(mid / sqrt(2)) / 2 > p)
			low = mid;
		else
			high = mid;
	}
	return high;
}

uint64_t signed_rank(uint64_t n, double alpha)
{
	double mean, sd;

	if (n <= EXACT_RANKS)
		return exact_signed_rank(n, alpha);
	mean = n * (n + 1.0) / 4;
	sd = sqrt(n * (n + 1.0) * (2.0 * n + 1) / 24);
	return mean + 0.5 - normal_quantile(alpha / 2) * sd;
}

struct estimate median_estimate(const double *sorted, size_t n, double alpha)
{
	uint64_t k = median_rank(n, alpha);
	struct estimate e = { median_of(sorted, n), false, NAN, NAN };

	if (k) {
		e.low = sorted[k - 1];
		e.high = sorted[n - k];
		e.has_interval = true;
	}
	return e;
}

/* How many averages of two values are at most @t. */
static uint64_t averages_upto(const double *sorted, size_t n, double t)
{
	uint64_t count = 0;
	size_t j = n;

	/* as i grows, fewer partners keep the average down */
	for (size_t i = 0; i < n; i++) {
		while (j > i && average(sorted[i], sorted[j - 1]) > t)
			j--;
		if (j <= i)
			break;
		count += j - i;
	}
	return count;
}

/*
 * The k-th smallest average of two values, found without writing them all
 * down: bisection, until no double is left in between, so it is exact.
 */
static double kth_average(const double *sorted, size_t n, uint64_t k)
{
	double low = sorted[0], high = sorted[n - 1], mid;

	if (averages_upto(sorted, n, low) >= k)
		return low;
	for (;;) {
		mid = average(low, high);
		if (mid <= low || mid >= high)
			return high;
		if (averages_upto(sorted, n, mid) >= k)
			high = mid;
		else
			low = mid;
	}
}

struct estimate hodges_lehmann(const double *sorted, size_t n, double alpha)
{
	uint64_t all = (uint64_t)n * (n + 1) / 2, k = signed_rank(n, alpha);
	struct estimate e = { NAN, false, NAN, NAN };

	e.value = average(kth_average(sorted, n, (all + 1) / 2),
			  kth_average(sorted, n, all / 2 + 1));
	if (k) {
		e.low = kth_average(sorted, n, k);
		e.high = kth_average(sorted, n, all + 1 - k);
		e.has_interval = true;
	}
	return e;
}

/* Linear between the values, as R does by default (its type 7). */
static double quantile(const double *sorted, size_t n, double p)
{
	double at = (n - 1) * p;
	size_t i = at;

	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]);
}

static double quartile_range(const double *sorted, size_t n)
{
	return quantile(sorted, n, 0.75) - quantile(sorted, n, 0.25);
}

void outer_fences(const double *sorted, size_t n, double *low, double *high)
{
	double reach = fmax(3 * quartile_range(sorted, n),
			    RESOLUTION * fabs(median_of(sorted, n)));

	*low = quantile(sorted, n, 0.25) - reach;
	*high = quantile(sorted, n, 0.75) + reach;
}

/*
 * Where to cut in two, so that the values are as near as can be to the median
 * of their part, each part having at least @least of them. Growing a sorted
 * part by one value at an end adds that value's distance from the middle.
 */
static size_t best_cut(const double *sorted, size_t n, size_t least)
{
	double off = 0, best = INFINITY; /* all distances, below and above */
	size_t cut = 0, len;

	for (len = 1; len < n; len++)
		off += sorted[n - 1 - len / 2] - sorted[n - 1 - len];
	for (size_t i = 0; i + least <= n; i++) {
		if (i >= least && off < best) {
			best = off;
			cut = i;
		}
		len = n - i - 1;
		off -= sorted[n - 1 - len / 2] - sorted[i];
		off += sorted[i] - sorted[i / 2];
	}
	return cut;
}

/*
 * Two groups: each more than a tenth of the sample, their centres far apart by
 * the spread of the wider (a normal sample cut in two stays below 3 of its
 * standard deviations) and by RESOLUTION, and hardly anything halfway between.
 * Found by trial: normal, lognormal, exponential and uniform samples of 8 to
 * 400 values pass for two groups less than 3 times in 100, most of them less
 * than once.
 */
bool two_groups(const double *sorted, size_t n, struct groups *g)
{
	size_t least = n / 10 + 1, cut, lower = 0, halfway = 0, smaller;
	double spread, upper, apart, from_low;

	if (n < 8)
		return false;
	if (least < 3)
		least = 3;
	cut = best_cut(sorted, n, least);
	g->centre[0] = median_of(sorted, cut);
	g->centre[1] = median_of(sorted + cut, n - cut);
	apart = g->centre[1] - g->centre[0];
	/* of a normal sample, 1.349 standard deviations */
	spread = quartile_range(sorted, cut) / 1.349;
	upper = quartile_range(sorted + cut, n - cut) / 1.349;
	if (upper > spread)
		spread = upper;

	/* who belongs to which is told by the nearer centre, not by the cut */
	for (size_t i = 0; i < n; i++) {
		from_low = sorted[i] - g->centre[0];
		lower += from_low < 0.5 * apart;
		halfway += from_low > 0.3 * apart && from_low < 0.7 * apart;
	}
	g->share[0] = (double)lower / n;
	g->share[1] = 1 - g->share[0];
	smaller = lower < n - lower ? lower : n - lower;
	return smaller >= least && apart > (4 + 40.0 / n) * spread &&
	       apart >= RESOLUTION * fabs(g->centre[0]) &&
	       halfway * 5 <= smaller;
}

/* By about a quarter each time; even, so that each order was taken as often. */
uint64_t next_look(uint64_t n)
{
	return n < 12 ? 12 : n + (n < 16 ? 2 : n / 8 * 2);
}

int interval_decimals(double low, double high)
{
	double half = (high - low) / 2;
	int decimals = MOST_DECIMALS;

	while (decimals > -300 && half * pow(10, decimals) >= 35.5)
		decimals--;
	return decimals;
}

void percent_text(char to[32], double percent, int decimals)
{
	double unit = pow(10, -decimals);

	/* what is not 0 is never to read so: that would be another answer */
	if (percent < unit / 2)
		while (decimals < 6 && percent < unit)
			unit = pow(10, -++decimals);
	if (isinf(percent))
		strcpy(to, "over 1e+308");
	else if (percent == 0)
		snprintf(to, 32, "%.*f", MOST_DECIMALS, percent);
	else if (percent >= 1e6 || percent < unit / 2)
		snprintf(to, 32, "%.3g", percent);
	else if (decimals < 0)
		snprintf(to, 32, "%.0f", round(percent / unit) * unit);
	else
		snprintf(to, 32, "%.*f", decimals, percent);
}
