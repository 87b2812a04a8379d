// SPDX-License-Identifier: MIT
/*
 * The statistics, against figures from elsewhere:
 *
 * [york]	critical values of Wilcoxon's T, two-tailed, P = 0.05,
 *		www.york.ac.uk/depts/maths/tables/wilcoxon.htm
 * [hw]		Hollander and Wolfe, Nonparametric Statistical Methods (1973),
 *		depression data of nine patients; the interval as R's
 *		wilcox.test gives it for them, -0.786 to -0.010
 * [count]	counted in Python with whole numbers: all 2^n choices of signs
 *		up to n = 16, subsets by their sum above; sums of math.comb
 * [python]	Python's statistics module; all n(n+1)/2 averages, sorted
 *
 * And by simulation with a fixed seed: how often an interval misses, also when
 * the data decide when to stop.
 */
#include <math.h>
#include <string.h>

#include "lib/random.h"
#include "lib/stats.h"
#include "tests/check.h"

#define LENGTH(x) (sizeof(x) / sizeof(*(x)))

/* Named for what it says; the figures in it tell what was not so. */
#define tell(good, ...)                                                        \
	do {                                                                   \
		check(good, "not so: %s", #good);                              \
		report(__VA_ARGS__);                                           \
	} while (0)

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static bool is(struct estimate e, double value, double low, double high)
{
	bool good = near(e.value, value) && e.has_interval &&
		    near(e.low, low) && near(e.high, high);

	check(good, "%.10g [%.10g, %.10g], not %.10g [%.10g, %.10g]", e.value,
	      e.low, e.high, value, low, high);
	return good;
}

struct rank {
	uint64_t n;
	double alpha;
	uint64_t k;
};

static bool ranks_are(uint64_t (*rank)(uint64_t, double), const struct rank *r,
		      size_t len)
{
	bool good = true;

	for (; len--; r++) {
		uint64_t k = rank(r->n, r->alpha);

		good &= k == r->k;
		check(good, "n %llu, alpha %g: %llu, not %llu",
		      (unsigned long long)r->n, r->alpha, (unsigned long long)k,
		      (unsigned long long)r->k);
	}
	return good;
}

static void test_ranks(void)
{
	static const struct rank median[] = {
		/* [count] */
		{ 1, .05, 0 },	    { 5, .05, 0 },	  { 6, .05, 1 },
		{ 8, .05, 1 },	    { 9, .05, 2 },	  { 11, .05, 2 },
		{ 12, .05, 3 },	    { 15, .05, 4 },	  { 17, .05, 5 },
		{ 20, .05, 6 },	    { 25, .05, 8 },	  { 30, .05, 10 },
		{ 40, .05, 14 },    { 50, .05, 18 },	  { 71, .05, 27 },
		{ 100, .05, 40 },   { 200, .05, 86 },	  { 1000, .05, 469 },
		{ 2000, .05, 956 }, { 10000, .05, 4902 }, { 7, .01, 0 },
		{ 8, .01, 1 },	    { 20, .01, 4 },	  { 100, .01, 37 },
	};
	static const int york[] = { /* n = 6 to 25 */
				    0,	2,  3,	5,  8,	10, 13, 17, 21, 25,
				    29, 34, 40, 46, 52, 58, 65, 73, 81, 89
	};
	static const struct rank signed_ranks[] = {
		/* [count] */
		{ 1, .05, 0 },	    { 5, .05, 0 },    { 30, .05, 138 },
		{ 40, .05, 265 },   { 50, .05, 435 }, { 100, .05, 1956 },
		{ 200, .05, 8445 }, { 7, .01, 0 },    { 8, .01, 1 },
		{ 20, .01, 38 },    { 50, .01, 374 }, { 5, .04, 0 },
		{ 6, .04, 1 },	    { 7, .04, 2 },    { 12, .04, 13 },
		{ 24, .04, 79 },    { 6, .02, 0 },    { 7, .02, 1 },
		{ 12, .02, 10 },    { 24, .02, 70 },
	};
	static const struct rank normal[] = {
		/* [count] */
		{ 201, .05, 8533 },
		{ 250, .05, 13445 },
		{ 400, .05, 35567 },
		{ 400, .02, 34722 },
	};
	bool good = true;

	tell(ranks_are(median_rank, median, LENGTH(median)),
	     "median: ranks of the interval, 1 to 10000 values");
	for (size_t i = 0; i < LENGTH(york); i++) {
		struct rank r = { 6 + i, .05, york[i] + 1 };

		good &= ranks_are(signed_rank, &r, 1);
	}
	tell(good, "signed ranks: York's table of Wilcoxon's T, 6 to 25 pairs");
	tell(ranks_are(signed_rank, signed_ranks, LENGTH(signed_ranks)),
	     "signed ranks: exact, 1 to 200 pairs, at other levels too");
	good = true;
	for (size_t i = 0; i < LENGTH(normal); i++) {
		double k = signed_rank(normal[i].n, normal[i].alpha);

		good &= fabs(k / normal[i].k - 1) < 2e-4;
	}
	tell(good, "signed ranks: above 200 pairs within 0.02 %% of exact");
}

static struct estimate hl_of_squares(int n)
{
	double x[300];

	for (int i = 0; i < n; i++)
		x[i] = i * i * 7919 % 1009 / 10.0;
	sort_values(x, n);
	return hodges_lehmann(x, n, .05);
}

static void test_estimates(void)
{
	static const double x[] = { 1.83, 0.50, 1.62, 2.48, 1.68,
				    1.88, 1.55, 3.06, 1.30 };
	static const double y[] = { 0.878, 0.647, 0.598, 2.05, 1.06,
				    1.29,  1.06,  3.14,	 1.29 };
	static const double ties[] = { -2, -1, 0, 0, 0, 1, 1, 2, 3, 5, 5, 8 };
	static const double six[] = { 1, 2, 4, 8, 16, 32 };
	static const double five[] = { 1, 2, 3, 4, 7 };
	static const double same[6], up[] = { 0, 1, 2, 3, 4, 5 };
	static const double times[] = { 8.1, 8.2, 8.2, 8.3, 8.4,
					8.4, 8.5, 8.7, 9.0, 14.0 };
	static const double rounded[] = { 9.9999, 10, 10, 10,
					  10,	  10, 10, 10.0001 };
	double diff[9], low, high;
	struct estimate e;

	for (int i = 0; i < 9; i++)
		diff[i] = y[i] - x[i];
	sort_values(diff, 9);
	tell(is(hodges_lehmann(diff, 9, .05), -0.46, -0.786, -0.010),
	     "Hodges-Lehmann: Hollander and Wolfe's depression data");
	/* [python], this and the next three */
	tell(is(hodges_lehmann(ties, 12, .05), 1.5, 0, 4),
	     "Hodges-Lehmann: ties and zeroes");
	tell(is(hodges_lehmann(six, 6, .05), 8.5, 1, 32),
	     "Hodges-Lehmann: six values, the fewest with an interval");
	tell(is(hl_of_squares(150), 50.6, 45.85, 55.3),
	     "Hodges-Lehmann: 150 values");
	tell(is(hl_of_squares(300), 50.6, 47.3, 53.9),
	     "Hodges-Lehmann: 300 values, ranks from the normal distribution");
	e = hodges_lehmann(same, 6, .05);
	tell(e.value == 0 && e.low == 0 && e.high == 0 &&
		     hodges_lehmann(up, 6, .05).low == 0,
	     "Hodges-Lehmann: an end at 0 is 0, not nearly");
	e = hodges_lehmann(five, 5, .05);
	tell(e.value == 3 && !e.has_interval && isnan(e.low) && isnan(e.high) &&
		     !median_estimate(five, 5, .05).has_interval,
	     "five values have an estimate and no interval");
	tell(is(median_estimate(ties, 12, .05), 1, 0, 5) &&
		     median_estimate(six, 6, .05).value == 6 &&
		     median_estimate(five, 1, .05).value == 1,
	     "median: even, odd, one value, and the interval");
	outer_fences(times, 10, &low, &high);
	tell(near(low, 6.95) && near(high, 9.925),
	     "outliers: fences from quartiles as Python's statistics has them");
	outer_fences(rounded, 8, &low, &high);
	tell(low < 9.951 && low > 9.949 && high < 10.051 && high > 10.049,
	     "outliers: none within half a per cent, where all else is equal");
}

/* Estimates and intervals in per cent, as they are to be read. */
static void test_digits(void)
{
	static const struct {
		double value, low, high;
		const char *text;
	} cases[] = {
		{ 1.82, 1.32, 2.34, "1.8 [1.3, 2.3]" },
		{ 177.8, 176.5, 178.9, "177.8 [176.5, 178.9]" },
		{ 12.3, 5.2, 19.4, "12 [5, 19]" },
		{ 2785, 1213, 4391, "2800 [1200, 4400]" },
		/* half the width is 0.35, 0.36 and 0.224 */
		{ 1.3512, 1.001, 1.701, "1.35 [1.00, 1.70]" },
		{ 1.3512, 1.001, 1.721, "1.4 [1.0, 1.7]" },
		{ 1.0237, 0.8011, 1.2491, "1.02 [0.80, 1.25]" },
		/* does not hold 0, and is not to read as if it did */
		{ 1.003, 0.009, 2.066, "1.0 [0.009, 2.1]" },
		{ 4.2, 0.7531, 14.2, "4 [1, 14]" },
		{ 9.6, 0.06, 19, "10 [0.06, 19]" },
		{ 343, 12, 781, "300 [10, 800]" },
		{ 4e-5, 1e-5, 7e-5, "0.00004 [0.00001, 0.00007]" },
		{ 4e-9, 1e-9, 7e-9, "4e-09 [1e-09, 7e-09]" },
		/* all alike; as much as a double holds, and more */
		{ 10, 10, 10, "10.000 [10.000, 10.000]" },
		{ 0, 0, 0, "0.000 [0.000, 0.000]" },
		{ 2345678, 2e6, 3e6, "2.35e+06 [2e+06, 3e+06]" },
		{ 1e10, 7, INFINITY, "1e+10 [7, over 1e+308]" },
	};
	char value[32], low[32], high[32], text[128];

	for (size_t i = 0; i < LENGTH(cases); i++) {
		int decimals = interval_decimals(cases[i].low, cases[i].high);

		percent_text(value, cases[i].value, decimals);
		percent_text(low, cases[i].low, decimals);
		percent_text(high, cases[i].high, decimals);
		snprintf(text, sizeof(text), "%s [%s, %s]", value, low, high);
		check(!strcmp(text, cases[i].text), "%s, not %s", text,
		      cases[i].text);
	}
	report("digits: as many as the interval deserves");
}

static uint64_t state;

static double uniform(void)
{
	return (random_next(&state) >> 11) * 0x1p-53 + 0x1p-54;
}

static double gauss(void)
{
	double r = sqrt(-2 * log(uniform()));

	return r * cos(6.283185307179586 * uniform());
}

/* Noise of several shapes, about 1 wide, the way run times have it. */
enum shape { GAUSS, SKEWED, SPIKY, TWO_GROUPS, SHAPES };
static const char *const shape_names[] = { "normal", "skewed", "spiky",
					   "two groups" };

static double noise(enum shape shape)
{
	switch (shape) {
	case SKEWED:
		return -log(uniform());
	case SPIKY:
		return gauss() + (uniform() < 0.05 ? 10 * uniform() : 0);
	case TWO_GROUPS:
		return 0.3 * gauss() + (uniform() < 0.5 ? 3 : 0);
	default:
		return gauss();
	}
}

#define MOST 150

/*
 * One comparison of two programs that differ by @shift, in a logarithm.
 * fixed: so many pairs. Otherwise until the interval is narrower than 1 % at a
 * look (every: there is one after each pair), or for 150 pairs.
 */
static struct estimate compare(enum shape shape, double size, double shift,
			       double alpha, uint64_t fixed, bool every)
{
	double x[MOST], sorted[MOST];
	uint64_t n = 0, look = fixed ? fixed : next_look(0);
	struct estimate e;

	for (;;) {
		for (; n < look; n++)
			x[n] = shift + size * (noise(shape) - noise(shape));
		memcpy(sorted, x, n * sizeof(*x));
		sort_values(sorted, n);
		e = hodges_lehmann(sorted, n, alpha);
		if (fixed || n == MOST || exp(e.high) - exp(e.low) < 0.01)
			return e;
		look = every ? n + 1 : next_look(n);
		if (look > MOST)
			look = MOST;
	}
}

/* How many of @trials miss 0, in per cent. */
static double misses(enum shape shape, double size, double alpha,
		     uint64_t fixed, bool every, int trials)
{
	int missed = 0;

	for (int i = 0; i < trials; i++) {
		struct estimate e =
			compare(shape, size, 0, alpha, fixed, every);

		missed += e.low > 0 || e.high < 0;
	}
	return 100.0 * missed / trials;
}

static void test_error_rates(void)
{
	/* where, of many tried, most comparisons stopped too soon */
	static const double worst[SHAPES] = { 0.0080, 0.0149, 0.0080, 0.0061 };
	double rate;
	int right = 0;

	state = 1;
	for (enum shape s = 0; s < SHAPES; s++) {
		rate = misses(s, 0.01, ALPHA_FIXED, 24, false, 4000);
		tell(rate > 3.9 && rate < 5.9,
		     "A against A, %s noise: called "
		     "different in %.1f %% of 4000, 24 pairs each",
		     shape_names[s], rate);
	}
	for (enum shape s = 0; s < SHAPES; s++) {
		rate = misses(s, worst[s], ALPHA_LOOKING, 0, false, 4000);
		tell(rate < 5.5,
		     "A against A, %s noise: called different in "
		     "%.1f %% of 4000, stopping when narrow",
		     shape_names[s], rate);
	}
	rate = misses(GAUSS, worst[GAUSS], ALPHA_FIXED, 0, true, 4000);
	tell(rate > 6,
	     "the same with a look after every pair and no "
	     "allowance: %.1f %%, so the allowance is needed",
	     rate);

	for (int i = 0; i < 1000; i++)
		right += compare(SKEWED, 0.01, log(1.01), ALPHA_LOOKING, 0,
				 false)
				 .low > 0;
	tell(right >= 900, "1 %% slower, noise of 1 %%: told so in %d of 1000",
	     right);
}

static void test_families(void)
{
	int missed = 0;

	state = 2;
	for (int i = 0; i < 2000; i++) {
		double a[24], x[24];
		bool miss = false;

		for (int k = 0; k < 24; k++)
			a[k] = noise(SKEWED);
		for (int other = 0; other < 3; other++) {
			struct estimate e;

			for (int k = 0; k < 24; k++)
				x[k] = noise(SKEWED) - a[k];
			sort_values(x, 24);
			e = hodges_lehmann(x, 24, ALPHA_FIXED / 3);
			miss |= e.low > 0 || e.high < 0;
		}
		missed += miss;
	}
	tell(missed < 110,
	     "A against three more of A: any called different in "
	     "%.1f %% of 2000",
	     missed / 20.0);
}

/* In how many of 2000 samples of @n two groups are seen, in per cent. */
static double grouped(int n, int what)
{
	double x[400];
	struct groups g;
	int seen = 0;

	for (int i = 0; i < 2000; i++) {
		for (int k = 0; k < n; k++)
			switch (what) {
			case 0:
				x[k] = gauss();
				break;
			case 1:
				x[k] = exp(0.3 * gauss());
				break;
			case 2:
				x[k] = exp(gauss());
				break;
			default:
				x[k] = gauss() + (uniform() < 0.3 ? 10 : 0);
			}
		sort_values(x, n);
		seen += two_groups(x, n, &g);
	}
	return seen / 20.0;
}

static void test_groups(void)
{
	static const double plain[] = { 8.88, 8.90, 8.91, 8.92, 8.93,
					8.94, 8.95, 8.97, 8.99, 9.02 };
	static const double two[] = { 8.88,  8.90,  8.91,  8.92,  8.93, 8.95,
				      12.31, 12.34, 12.36, 12.40, 12.9, 90 };
	static const double few[] = { 8.88, 8.90, 8.91, 8.92, 8.93, 8.95,
				      8.96, 8.97, 8.98, 9.0,  9.01, 12.31 };
	static const double steps[] = { 1, 1, 1, 1, 1, 2, 2, 2, 2 };
	static const double same[12] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	static const char *const names[] = { "normal", "slightly skewed",
					     "skewed" };
	struct groups g;
	double x[40], worst, rate;
	bool good;

	tell(two_groups(two, 12, &g) && near(g.centre[0], 8.915) &&
		     near(g.centre[1], 12.38) && near(g.share[0], 0.5) &&
		     near(g.share[1], 0.5),
	     "two groups: seen, with centres and shares, beside an outlier");
	tell(two_groups(steps, 9, &g) && g.centre[0] == 1 && g.centre[1] == 2 &&
		     near(g.share[0], 5 / 9.0),
	     "two groups: of equal values each");
	tell(!two_groups(plain, 10, &g) && !two_groups(same, 12, &g) &&
		     !two_groups(few, 12, &g) && !two_groups(two + 2, 7, &g),
	     "two groups: not in one, in one value, with one value far off, in "
	     "too few");

	for (int i = 0; i < 40; i++)
		x[i] = i < 35 ? 8 + 0.01 * i : 12 + 0.01 * i;
	good = two_groups(x, 40, &g) && near(g.share[1], 0.125);
	x[35] = 8.35;
	tell(good && !two_groups(x, 40, &g),
	     "two groups: 5 of 40 are one, 4 are not");

	state = 3;
	for (int what = 0; what < 3; what++) {
		static const int sizes[] = { 8, 12, 20, 50, 200 };

		worst = 0;
		for (size_t i = 0; i < LENGTH(sizes); i++) {
			rate = grouped(sizes[i], what);
			worst = fmax(worst, rate);
		}
		tell(worst < 2,
		     "two groups: taken for such, %s samples of 8 "
		     "to 200: at most %.1f %%",
		     names[what], worst);
	}
	rate = grouped(50, 3);
	tell(rate > 95,
	     "two groups: 30 %% ten deviations off, of 50: seen in "
	     "%.1f %%",
	     rate);
}

static void test_looks(void)
{
	uint64_t n = 0, last = 0;
	bool good = next_look(0) == 12 && next_look(12) == 14;

	for (int i = 0; i < 60; i++) {
		last = n;
		n = next_look(n);
		good &= n > last && n % 2 == 0 && (i == 0 || n <= last * 1.26);
	}
	tell(good && n > 100000, "looks: from 12 pairs on, even, ever rarer");
}

int main(void)
{
	test_ranks();
	test_estimates();
	test_digits();
	test_groups();
	test_looks();
	test_error_rates();
	test_families();
	return finish();
}
