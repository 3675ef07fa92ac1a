/*
 * compare_chance.c: the error of a figure of a trace.
 *
 * A trace is a sample of what the load does. How much a figure varies between the blocks of the trace (stats_track.c)
 * gives its error. A figure is a ratio of two sums (bytes over ticks, latencies over requests); its error follows
 * from the deviations of the blocks. Neighbouring blocks may be correlated, so their covariances are added if that
 * makes the error larger. Rare events occur in few blocks, which then say little; so counts of them are also tested
 * against Poisson's distribution, and the less certain result is used.
 *
 * Figures are compared by their ratio, so errors are those of logarithms. Student's distribution with Welch's degrees
 * of freedom gives the p-value.
 */
#include <math.h>

#include "ptt/compare_int.h"

enum { FEW_BLOCKS = 6, FEW_EVENTS = 200, LAGS = 10 };

struct sample compare_ratio(const double *num, const double *den, uint32_t n, double per)
{
	double sum = 0, of = 0, off[PTT_TRACK_BLOCKS] = { 0 }, square = 0, lagged = 0;
	struct sample s = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		sum += num[i];
		of += den[i];
	}
	if (of <= 0)
		return s;
	s.value = sum / of * per;
	if (n < FEW_BLOCKS)
		return s;
	for (uint32_t i = 0; i < n; i++)
		off[i] = num[i] - sum / of * den[i];
	for (uint32_t i = 0; i < n; i++) {
		square += off[i] * off[i];
		for (uint32_t k = 1; k <= LAGS && k <= i; k++)
			lagged += 2 * (1 - k / (LAGS + 1.0)) * off[i] * off[i - k];
	}
	s.error = sqrt((square + (lagged > 0 ? lagged : 0)) * n / (n - 1)) / of * per;
	s.df = n - 1;
	return s;
}

/* ---- laws -------------------------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
	f = d;
	for (int m = 1; m <= 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		f *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-12)
			break;
	}
	return f;
}

/* The regularised incomplete beta function. */
static double beta_share(double a, double b, double x)
{
	if (x <= 0 || x >= 1)
		return x >= 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a :
					   1 - front * beta_fraction(b, a, 1 - x) / b;
}

double compare_t_chance(double t, double df)
{
	return df > 0 ? beta_share(df / 2, 0.5, df / (df + t * t)) : 1;
}

double compare_t(double df, double chance)
{
	double low = 0, high = 1000;

	while (high - low > 1e-6) {
		double t = (low + high) / 2;
		*(compare_t_chance(t, df) > chance ? &low : &high) = t;
	}
	return high;
}

/* That of so many events as there are, as unevenly shared, when both have the same rate. */
static double count_chance(const struct sample *a, const struct sample *b)
{
	double share = a->exposure / (a->exposure + b->exposure);
	double below = beta_share(b->events, a->events + 1, 1 - share); /* P(b has as many or more) */
	double above = beta_share(a->events, b->events + 1, share);
	double least = b->events == 0 ? above : a->events == 0 ? below : below < above ? below : above;

	return 2 * least < 1 ? 2 * least : 1;
}

/* ---- two traces ------------------------------------------------------------------------------------------ */

/* The square of the relative error, where there is a value. */
static double chance_relative_square(const struct sample *s)
{
	return s->value > 0 ? s->error * s->error / (s->value * s->value) : 0;
}

/* Where one of them has none, what it may have had all the same: so many events are missed once in 100 times. */
static double least_growth(const struct sample *a, const struct sample *b)
{
	const struct sample *some = a->value > 0 ? a : b, *none = a->value > 0 ? b : a;
	double missed = 4.6 / (none->exposure > 0 ? none->exposure : 1),
	       rate = some->events / (some->exposure > 0 ? some->exposure : 1);
	double grown = rate > missed ? log(rate / missed) : 0;

	return some == b ? grown : -grown;
}

struct growth compare_growth(const struct sample *a, const struct sample *b)
{
	struct growth g = { .chance = 1 };
	double x = chance_relative_square(a), y = chance_relative_square(b), t;
	bool both = a->value > 0 && b->value > 0;

	g.log = both ? log(b->value / a->value) : least_growth(a, b);
	if (a->df == 0 || b->df == 0 || (!both && a->events + b->events == 0))
		return g;
	g.error = sqrt(x + y);
	g.df = x + y > 0 ? (x + y) * (x + y) / (x * x / a->df + y * y / b->df) : a->df + b->df;
	g.grain = both ? a->grain / a->value + b->grain / b->value : 0;
	t = both ? fabs(g.log) / g.error : 1 / g.error; /* of nothing and something: how sure something is */
	g.chance = g.error > 0 ? compare_t_chance(t, g.df) : 0;
	if (a->exposure > 0 && b->exposure > 0 && a->events + b->events < FEW_EVENTS) {
		double counted = count_chance(a, b);
		g.chance = counted > g.chance ? counted : g.chance;
	}
	return g;
}

double compare_together(const double *x, const double *y, uint32_t n)
{
	double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;

	if (n < FEW_BLOCKS)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		mx += x[i] / n;
		my += y[i] / n;
	}
	for (uint32_t i = 0; i < n; i++) {
		xx += (x[i] - mx) * (x[i] - mx);
		yy += (y[i] - my) * (y[i] - my);
		xy += (x[i] - mx) * (y[i] - my);
	}
	if (xx <= 0 || yy <= 0)
		return 0;
	double r = xy / sqrt(xx * yy);
	r = r > 0.999999 ? 0.999999 : r < -0.999999 ? -0.999999 : r;
	return atanh(r) * sqrt(n - 3);
}
