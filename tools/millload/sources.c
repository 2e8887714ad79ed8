#include "tools/millload/sources.h"

#include <errno.h>
#include <string.h>

/* An address without a port. */
static int parse_ip(struct addr *out, const char *text)
{
	struct cidr net;
	if (strchr(text, '/') != NULL || cidr_parse(&net, text) != 0)
		return -EINVAL;
	memcpy(out->ip, net.ip, sizeof(out->ip));
	out->port = 0;
	return 0;
}

/* The address behind `a`. */
static void step(struct addr *a)
{
	for (int i = 15; i >= 0 && ++a->ip[i] == 0; i--)
		;
}

static int add_range(struct sources *s, const struct addr *first, const struct addr *last)
{
	if (addr_is_v4(first) != addr_is_v4(last) || memcmp(first->ip, last->ip, 16) > 0)
		return -EINVAL;
	for (struct addr a = *first;; step(&a)) {
		if (s->count == SOURCES_MAX)
			return -E2BIG;
		s->at[s->count++] = a;
		if (memcmp(a.ip, last->ip, sizeof(a.ip)) == 0)
			return 0;
	}
}

static int add_item(struct sources *s, char *item)
{
	struct addr first, last;
	char *dash = strchr(item, '-');
	if (dash != NULL)
		*dash = '\0';
	if (parse_ip(&first, item) != 0 || parse_ip(&last, dash != NULL ? dash + 1 : item) != 0)
		return -EINVAL;
	return add_range(s, &first, &last);
}

int sources_add(struct sources *s, const char *text)
{
	for (;;) {
		char item[SOURCES_TEXT_BYTES];
		size_t len = strcspn(text, ",");
		if (len == 0 || len >= sizeof(item))
			return -EINVAL;
		memcpy(item, text, len);
		item[len] = '\0';
		int rc = add_item(s, item);
		if (rc != 0 || text[len] == '\0')
			return rc;
		text += len + 1;
	}
}

const struct addr *sources_next(struct sources *s)
{
	if (s->count == 0)
		return NULL;
	const struct addr *a = &s->at[s->next];
	s->next = s->next + 1 == s->count ? 0 : s->next + 1;
	return a;
}
