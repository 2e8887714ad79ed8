#include "dataplane/http/http_date.h"

#include <errno.h>
#include <string.h>

enum { DAY_S = 86400 };

/* 9999-12-31T23:59:59Z */
#define UNIX_S_MAX 253402300799ull

static const char day_names[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char month_names[12][4] = {
	"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct civil {
	unsigned year, month, day; /* month and day from 1 */
};

/* Years that start in March put the leap day last; 400 of them are 146097 days. The epoch lies
 * 719468 days after March 1st of the year 0. */
static struct civil civil_of_days(uint64_t days)
{
	uint64_t z = days + 719468;
	uint64_t era = z / 146097;
	unsigned doe = (unsigned)(z % 146097);
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned mp = (5 * doy + 2) / 153;
	struct civil c = {
		.year = yoe + (unsigned)era * 400 + (mp >= 10),
		.month = mp < 10 ? mp + 3 : mp - 9,
		.day = doy - (153 * mp + 2) / 5 + 1,
	};
	return c;
}

static uint64_t days_of_civil(struct civil c)
{
	unsigned y = c.year - (c.month <= 2);
	unsigned yoe = y % 400;
	unsigned mp = c.month > 2 ? c.month - 3 : c.month + 9;
	unsigned doy = (153 * mp + 2) / 5 + c.day - 1;
	unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
	return (uint64_t)(y / 400) * 146097 + doe - 719468;
}

static void put2(char *out, unsigned v)
{
	out[0] = (char)('0' + v / 10);
	out[1] = (char)('0' + v % 10);
}

void http_date_print(uint64_t unix_s, char out[HTTP_DATE_BYTES])
{
	if (unix_s > UNIX_S_MAX)
		unix_s = UNIX_S_MAX;
	uint64_t days = unix_s / DAY_S;
	unsigned s = (unsigned)(unix_s % DAY_S);
	struct civil c = civil_of_days(days);
	memcpy(out, "Sun, 06 Nov 1994 08:49:37 GMT", HTTP_DATE_BYTES);
	memcpy(out, day_names[(days + 4) % 7], 3);
	put2(out + 5, c.day);
	memcpy(out + 8, month_names[c.month - 1], 3);
	put2(out + 12, c.year / 100);
	put2(out + 14, c.year % 100);
	put2(out + 17, s / 3600);
	put2(out + 20, s / 60 % 60);
	put2(out + 23, s % 60);
}

static bool get2(const uint8_t *p, unsigned *out)
{
	unsigned tens = p[0] - (unsigned)'0', ones = p[1] - (unsigned)'0';
	*out = tens * 10 + ones;
	return tens <= 9 && ones <= 9;
}

/* Reads the fields where they must stand; whether the text around them is right, and the day
 * exists, is found by printing the result. */
int http_date_parse(struct span text, uint64_t *unix_s)
{
	unsigned day, hi, lo, h, m, s, month = 0;
	char again[HTTP_DATE_BYTES];
	if (text.len != HTTP_DATE_BYTES)
		return -EINVAL;
	const uint8_t *p = text.data;
	while (month < 12 && memcmp(month_names[month], p + 8, 3) != 0)
		month++;
	if (month == 12 || !get2(p + 5, &day) || !get2(p + 12, &hi) || !get2(p + 14, &lo) ||
		!get2(p + 17, &h) || !get2(p + 20, &m) || !get2(p + 23, &s))
		return -EINVAL;
	unsigned year = hi * 100 + lo;
	if (year < 1970 || day == 0 || day > 31 || h > 23 || m > 59 || s > 59)
		return -EINVAL;
	uint64_t t =
		days_of_civil((struct civil){year, month + 1, day}) * DAY_S + h * 3600 + m * 60 + s;
	http_date_print(t, again);
	if (memcmp(again, p, HTTP_DATE_BYTES) != 0)
		return -EINVAL;
	*unix_s = t;
	return 0;
}
