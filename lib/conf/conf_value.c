#include "lib/conf/conf_value.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "lib/base/addr.h"

/* A list member of struct conf, whatever its capacity. */
struct list {
	uint64_t count;
	char items[];
};

static void *member(struct conf *c, const struct conf_key *key)
{
	return (char *)c + key->offset;
}

static const void *member_const(const struct conf *c, const struct conf_key *key)
{
	return (const char *)c + key->offset;
}

static bool is_bytes(const struct conf_key *key)
{
	return strcmp(key->unit, "bytes") == 0;
}

static const char *form_allowed(enum conf_form form)
{
	switch (form) {
	case CONF_FORM_TEXT:
		return "text";
	case CONF_FORM_ENDPOINT:
		return "ADDRESS:PORT such as 127.0.0.1:8080 or [::1]:8080";
	case CONF_FORM_CPU:
		return "auto alone, or CPU numbers, each once";
	case CONF_FORM_CIDR:
		return "networks such as 10.0.0.0/8 or ::1/128";
	}
	return "";
}

/* "a|b|c" as "a, b, c". */
static int print_choices(const char *choices, char *out, size_t size)
{
	int used = 0;
	for (;;) {
		int len = (int)strcspn(choices, "|");
		bool is_last = choices[len] == '\0';
		size_t at = (size_t)used < size ? (size_t)used : size;
		used += snprintf(out + at, size - at, "%.*s%s", len, choices, is_last ? "" : ", ");
		if (is_last)
			return used;
		choices += len + 1;
	}
}

int conf_key_allowed(const struct conf_key *key, char *out, size_t size)
{
	switch (key->type) {
	case CONF_TYPE_NUM:
		return snprintf(out, size, "%" PRIu64 " to %" PRIu64 " %s%s", key->min, key->max,
			key->unit, is_bytes(key) ? ", also with KiB, MiB or GiB" : "");
	case CONF_TYPE_BOOL:
		return snprintf(out, size, "true or false");
	case CONF_TYPE_ENUM:
		return print_choices(key->choices, out, size);
	case CONF_TYPE_STR:
		return snprintf(out, size, "text of up to %zu printable ASCII characters",
			key->capacity - 1);
	case CONF_TYPE_LIST:
		return snprintf(out, size, "a list of up to %u: %s", key->items_max,
			form_allowed(key->form));
	}
	return 0;
}

/* `what` is the sentence after the value. */
static bool refuse(
	char why[CONF_WHY], const struct conf_key *key, struct conf_text text, const char *what)
{
	char quoted[CONF_QUOTE], allowed[CONF_ALLOWED];
	conf_error_quote(quoted, text.data, text.len);
	conf_key_allowed(key, allowed, sizeof(allowed));
	snprintf(why, CONF_WHY, "%s %s; allowed: %s", text.len ? quoted : "an empty value", what,
		allowed);
	return false;
}

enum number { NUMBER_OK, NUMBER_BAD, NUMBER_HUGE };

static enum number parse_digits(struct conf_text text, uint64_t *out)
{
	uint64_t n = 0;
	if (text.len == 0 || (text.len > 1 && text.data[0] == '0'))
		return NUMBER_BAD;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return NUMBER_BAD;
	}
	for (size_t i = 0; i < text.len; i++) {
		if (__builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(n, (uint64_t)(text.data[i] - '0'), &n))
			return NUMBER_HUGE;
	}
	*out = n;
	return NUMBER_OK;
}

static enum number parse_bytes(struct conf_text text, uint64_t *out)
{
	static const struct {
		const char *suffix;
		uint64_t factor;
	} units[] = {{"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}};
	uint64_t factor = 1;
	for (unsigned i = 0; i < ARRAY_LEN(units) && text.len > 3; i++) {
		if (memcmp(text.data + text.len - 3, units[i].suffix, 3) == 0) {
			factor = units[i].factor;
			text.len -= 3;
		}
	}
	enum number result = parse_digits(text, out);
	if (result == NUMBER_OK && __builtin_mul_overflow(*out, factor, out))
		return NUMBER_HUGE;
	return result;
}

static bool set_number(
	uint64_t *out, const struct conf_key *key, struct conf_text text, char why[CONF_WHY])
{
	uint64_t n = 0;
	enum number result = is_bytes(key) ? parse_bytes(text, &n) : parse_digits(text, &n);
	if (result == NUMBER_BAD)
		return refuse(why, key, text, "is not a whole decimal number");
	if (result == NUMBER_HUGE || n < key->min || n > key->max)
		return refuse(why, key, text, "is out of range");
	*out = n;
	return true;
}

static bool set_bool(
	uint64_t *out, const struct conf_key *key, struct conf_text text, char why[CONF_WHY])
{
	bool is_true = text.len == 4 && memcmp(text.data, "true", 4) == 0;
	bool is_false = text.len == 5 && memcmp(text.data, "false", 5) == 0;
	if (!is_true && !is_false)
		return refuse(why, key, text, "is not a truth value");
	*out = is_true;
	return true;
}

static bool set_enum(
	uint64_t *out, const struct conf_key *key, struct conf_text text, char why[CONF_WHY])
{
	const char *choice = key->choices;
	for (uint64_t index = 0;; index++) {
		size_t len = strcspn(choice, "|");
		if (len == text.len && memcmp(choice, text.data, len) == 0) {
			*out = index;
			return true;
		}
		if (choice[len] == '\0')
			return refuse(why, key, text, "is not one of the choices");
		choice += len + 1;
	}
}

/* Printable ASCII that fits, copied with zeros behind it. */
static bool set_text(
	char *out, const struct conf_key *key, struct conf_text text, char why[CONF_WHY])
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < ' ' || text.data[i] > '~')
			return refuse(
				why, key, text, "has a character that is not printable ASCII");
	}
	if (text.len >= key->capacity)
		return refuse(why, key, text, "is too long");
	memset(out, 0, key->capacity);
	memcpy(out, text.data, text.len);
	return true;
}

bool conf_value_set(
	struct conf *out, const struct conf_key *key, struct conf_text text, char why[CONF_WHY])
{
	switch (key->type) {
	case CONF_TYPE_NUM:
		return set_number(member(out, key), key, text, why);
	case CONF_TYPE_BOOL:
		return set_bool(member(out, key), key, text, why);
	case CONF_TYPE_ENUM:
		return set_enum(member(out, key), key, text, why);
	case CONF_TYPE_STR:
		return set_text(member(out, key), key, text, why);
	case CONF_TYPE_LIST:
		break;
	}
	return refuse(why, key, text, "is not a list");
}

void conf_value_clear(struct conf *out, const struct conf_key *key)
{
	struct list *list = member(out, key);
	memset(list, 0, sizeof(*list) + key->capacity * key->items_max);
}

static bool cpu_is_valid(const char *item)
{
	uint64_t cpu;
	if (strcmp(item, "auto") == 0)
		return true;
	return parse_digits((struct conf_text){item, strlen(item)}, &cpu) == NUMBER_OK &&
	       cpu < CPU_SETSIZE;
}

static bool item_is_valid(enum conf_form form, const char *item)
{
	struct addr addr;
	struct cidr cidr;
	switch (form) {
	case CONF_FORM_TEXT:
		return true;
	case CONF_FORM_ENDPOINT:
		return addr_parse(&addr, item) == 0;
	case CONF_FORM_CPU:
		return cpu_is_valid(item);
	case CONF_FORM_CIDR:
		return cidr_parse(&cidr, item) == 0;
	}
	return false;
}

/* Two valid items that mean the same, however they are spelled. */
static bool items_are_same(enum conf_form form, const char *a, const char *b)
{
	struct addr addr_a, addr_b;
	struct cidr cidr_a, cidr_b;
	switch (form) {
	case CONF_FORM_TEXT:
		return strcmp(a, b) == 0;
	case CONF_FORM_CPU:
		return strcmp(a, b) == 0 || strcmp(a, "auto") == 0 || strcmp(b, "auto") == 0;
	case CONF_FORM_ENDPOINT:
		return addr_parse(&addr_a, a) == 0 && addr_parse(&addr_b, b) == 0 &&
		       addr_a.port == addr_b.port && memcmp(addr_a.ip, addr_b.ip, 16) == 0;
	case CONF_FORM_CIDR:
		return cidr_parse(&cidr_a, a) == 0 && cidr_parse(&cidr_b, b) == 0 &&
		       cidr_a.prefix == cidr_b.prefix && memcmp(cidr_a.ip, cidr_b.ip, 16) == 0;
	}
	return false;
}

bool conf_value_append(
	struct conf *out, const struct conf_key *key, struct conf_text text, char why[CONF_WHY])
{
	struct list *list = member(out, key);
	if (list->count == key->items_max)
		return refuse(why, key, text, "is one item too many");
	char *item = list->items + list->count * key->capacity;
	if (!set_text(item, key, text, why))
		return false;
	if (!item_is_valid(key->form, item)) {
		memset(item, 0, key->capacity);
		return refuse(why, key, text, "is not a valid item");
	}
	for (uint64_t i = 0; i < list->count; i++) {
		if (items_are_same(key->form, list->items + i * key->capacity, item)) {
			memset(item, 0, key->capacity);
			return refuse(why, key, text, "clashes with an earlier item");
		}
	}
	list->count++;
	return true;
}

static struct conf_text trimmed(struct conf_text text)
{
	while (text.len > 0 && *text.data == ' ') {
		text.data++;
		text.len--;
	}
	while (text.len > 0 && text.data[text.len - 1] == ' ')
		text.len--;
	return text;
}

bool conf_value_set_any(struct conf *out, const struct conf_key *key, struct conf_text text,
	char separator, char why[CONF_WHY])
{
	if (key->type != CONF_TYPE_LIST)
		return conf_value_set(out, key, text, why);
	conf_value_clear(out, key);
	if (trimmed(text).len == 0)
		return true;
	for (;;) {
		const char *end = memchr(text.data, separator, text.len);
		size_t len = end ? (size_t)(end - text.data) : text.len;
		if (!conf_value_append(out, key, trimmed((struct conf_text){text.data, len}), why))
			return false;
		if (!end)
			return true;
		text = (struct conf_text){end + 1, text.len - len - 1};
	}
}

/* snprintf's way of counting: what did not fit is counted all the same. */
struct printer {
	char *out;
	size_t size;
	size_t used;
};

static void put(struct printer *p, char c)
{
	if (p->used + 1 < p->size) {
		p->out[p->used] = c;
		p->out[p->used + 1] = '\0';
	}
	p->used++;
}

static void put_text(struct printer *p, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		put(p, text[i]);
}

static void put_quoted(struct printer *p, const char *text, size_t capacity)
{
	put(p, '"');
	for (size_t i = 0; i < capacity && text[i]; i++) {
		if (text[i] == '"' || text[i] == '\\')
			put(p, '\\');
		put(p, text[i]);
	}
	put(p, '"');
}

static void put_choice(struct printer *p, const char *choices, uint64_t index)
{
	while (index-- > 0 && strchr(choices, '|'))
		choices = strchr(choices, '|') + 1;
	put_text(p, choices, strcspn(choices, "|"));
}

static void put_list(struct printer *p, const struct conf_key *key, const struct list *list)
{
	put(p, '[');
	for (uint64_t i = 0; i < list->count && i < key->items_max; i++) {
		if (i > 0)
			put_text(p, ", ", 2);
		put_quoted(p, list->items + i * key->capacity, key->capacity);
	}
	put(p, ']');
}

int conf_print(const struct conf *c, const struct conf_key *key, char *out, size_t size)
{
	struct printer p = {out, size, 0};
	const void *value = member_const(c, key);
	if (size > 0)
		out[0] = '\0';
	switch (key->type) {
	case CONF_TYPE_NUM: {
		char digits[24];
		int len = snprintf(digits, sizeof(digits), "%" PRIu64, *(const uint64_t *)value);
		put_text(&p, digits, (size_t)len);
		break;
	}
	case CONF_TYPE_BOOL:
		put_choice(&p, "false|true", *(const uint64_t *)value);
		break;
	case CONF_TYPE_ENUM:
		put_choice(&p, key->choices, *(const uint64_t *)value);
		break;
	case CONF_TYPE_STR:
		put_quoted(&p, value, key->capacity);
		break;
	case CONF_TYPE_LIST:
		put_list(&p, key, value);
		break;
	}
	return (int)p.used;
}

static bool lists_are_equal(const struct conf_key *key, const struct list *a, const struct list *b)
{
	if (a->count != b->count)
		return false;
	for (uint64_t i = 0; i < a->count && i < key->items_max; i++) {
		if (strncmp(a->items + i * key->capacity, b->items + i * key->capacity,
			    key->capacity) != 0)
			return false;
	}
	return true;
}

bool conf_key_equals(const struct conf *a, const struct conf *b, const struct conf_key *key)
{
	const void *va = member_const(a, key), *vb = member_const(b, key);
	switch (key->type) {
	case CONF_TYPE_NUM:
	case CONF_TYPE_BOOL:
	case CONF_TYPE_ENUM:
		return *(const uint64_t *)va == *(const uint64_t *)vb;
	case CONF_TYPE_STR:
		return strncmp(va, vb, key->capacity) == 0;
	case CONF_TYPE_LIST:
		return lists_are_equal(key, va, vb);
	}
	return false;
}
