#include "lib/conf/conf_key.h"

#include <string.h>

#define CHANGE_HOT     true
#define CHANGE_RESTART false
#define PLACE(section_, key_) \
	.section = #section_, .key = #key_, .offset = offsetof(struct conf, section_##_##key_)

const struct conf_key conf_keys[] = {
#define CONF_NUM(section_, key_, def_, min_, max_, unit_, change, help_) \
	{PLACE(section_, key_), .type = CONF_TYPE_NUM, .is_hot = CHANGE_##change, .min = (min_), \
		.max = (max_), .unit = (unit_), .def = #def_, .help = (help_)},
#define CONF_BOOL(section_, key_, def_, change, help_) \
	{PLACE(section_, key_), .type = CONF_TYPE_BOOL, .is_hot = CHANGE_##change, \
		.def = (def_) ? "true" : "false", .help = (help_)},
#define CONF_ENUM(section_, key_, def_, choices_, change, help_) \
	{PLACE(section_, key_), .type = CONF_TYPE_ENUM, .is_hot = CHANGE_##change, \
		.choices = (choices_), .def = (def_), .help = (help_)},
#define CONF_STR(section_, key_, capacity_, def_, change, help_) \
	{PLACE(section_, key_), .type = CONF_TYPE_STR, .is_hot = CHANGE_##change, \
		.capacity = (capacity_), .def = (def_), .help = (help_)},
#define CONF_LIST(section_, key_, capacity_, items_max_, def_, form_, change, help_) \
	{PLACE(section_, key_), .type = CONF_TYPE_LIST, .form = CONF_FORM_##form_, \
		.is_hot = CHANGE_##change, .capacity = (capacity_), .items_max = (items_max_), \
		.def = (def_), .help = (help_)},
#include "config/conf.def"
#undef CONF_NUM
#undef CONF_BOOL
#undef CONF_ENUM
#undef CONF_STR
#undef CONF_LIST
};
const unsigned conf_key_count = ARRAY_LEN(conf_keys);
static_assert(ARRAY_LEN(conf_keys) <= CONF_KEYS_MAX, "struct conf_origin has room for each key");

/* Names longer than this are nobody's typing error. */
enum { NAME_MAX_SHOWN = 64 };

static struct conf_text text_of(const char *s)
{
	return (struct conf_text){s, strlen(s)};
}

static bool text_equals(struct conf_text a, const char *b)
{
	return strlen(b) == a.len && memcmp(a.data, b, a.len) == 0;
}

unsigned conf_key_index(const struct conf_key *key)
{
	return (unsigned)(key - conf_keys);
}

const struct conf_key *conf_key_find_text(struct conf_text section, struct conf_text key)
{
	for (unsigned i = 0; i < conf_key_count; i++) {
		if (text_equals(section, conf_keys[i].section) &&
			text_equals(key, conf_keys[i].key))
			return &conf_keys[i];
	}
	return NULL;
}

const struct conf_key *conf_key_find(const char *section, const char *key)
{
	return conf_key_find_text(text_of(section), text_of(key));
}

const struct conf_key *conf_key_find_section(struct conf_text section)
{
	for (unsigned i = 0; i < conf_key_count; i++) {
		if (text_equals(section, conf_keys[i].section))
			return &conf_keys[i];
	}
	return NULL;
}

void conf_key_env_name(const struct conf_key *key, char out[CONF_ENV_NAME])
{
	int len = snprintf(out, CONF_ENV_NAME, "MILLRACE_%s_%s", key->section, key->key);
	MUST(len < CONF_ENV_NAME);
	for (char *p = out; *p; p++) {
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	}
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;
	return m < c ? m : c;
}

/* Letters to insert, delete or replace to make one name of the other. */
static unsigned distance(struct conf_text a, struct conf_text b)
{
	if (a.len > NAME_MAX_SHOWN || b.len > NAME_MAX_SHOWN)
		return NAME_MAX_SHOWN;
	unsigned row[NAME_MAX_SHOWN + 1];
	for (unsigned j = 0; j <= b.len; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a.len; i++) {
		unsigned diagonal = row[0];
		row[0] = i;
		for (unsigned j = 1; j <= b.len; j++) {
			unsigned above = row[j];
			unsigned replaced = diagonal + (a.data[i - 1] != b.data[j - 1]);
			row[j] = least(above + 1, row[j - 1] + 1, replaced);
			diagonal = above;
		}
	}
	return row[b.len];
}

static bool is_near(unsigned d, struct conf_text name)
{
	return d <= 2 ? d < name.len : d <= name.len / 4;
}

void conf_key_refuse_section(
	struct conf_errors *e, const struct conf_place *at, struct conf_text section)
{
	char quoted[CONF_QUOTE], known[160] = "";
	const char *nearest = NULL, *last = "";
	unsigned best = NAME_MAX_SHOWN, used = 0;
	conf_error_quote(quoted, section.data, section.len);
	for (unsigned i = 0; i < conf_key_count; i++) {
		const char *name = conf_keys[i].section;
		if (strcmp(name, last) == 0)
			continue;
		if (used < sizeof(known))
			used += (unsigned)snprintf(
				known + used, sizeof(known) - used, "%s%s", used ? ", " : "", name);
		last = name;
		unsigned d = distance(section, text_of(name));
		if (d < best) {
			best = d;
			nearest = name;
		}
	}
	if (nearest && is_near(best, section))
		conf_error_add(e, at, quoted, "unknown section; did you mean %s?", nearest);
	else
		conf_error_add(e, at, quoted, "unknown section; allowed: %s", known);
}

void conf_key_refuse(struct conf_errors *e, const struct conf_place *at, struct conf_text section,
	struct conf_text key)
{
	char quoted[CONF_QUOTE], name[2 * CONF_QUOTE], known[160] = "";
	const struct conf_key *nearest = NULL;
	unsigned best = NAME_MAX_SHOWN, used = 0;
	conf_error_quote(quoted, key.data, key.len);
	snprintf(name, sizeof(name), "%.*s.%s", (int)section.len, section.data, quoted);
	for (unsigned i = 0; i < conf_key_count; i++) {
		const struct conf_key *k = &conf_keys[i];
		bool is_here = text_equals(section, k->section);
		if (is_here && used < sizeof(known))
			used += (unsigned)snprintf(known + used, sizeof(known) - used, "%s%s",
				used ? ", " : "", k->key);
		/* The right key in the wrong section is near too, but a key of this section is
		 * nearer. */
		unsigned d = 2 * distance(key, text_of(k->key)) + !is_here;
		if (d < best) {
			best = d;
			nearest = k;
		}
	}
	if (nearest && is_near(best / 2, key))
		conf_error_add(e, at, name, "unknown key; did you mean %s.%s?", nearest->section,
			nearest->key);
	else
		conf_error_add(e, at, name, "unknown key; allowed: %s", known);
}

void conf_key_refuse_env(
	struct conf_errors *e, const struct conf_place *at, struct conf_text variable)
{
	char quoted[CONF_QUOTE], candidate[CONF_ENV_NAME], nearest[CONF_ENV_NAME] = "";
	unsigned best = NAME_MAX_SHOWN;
	conf_error_quote(quoted, variable.data, variable.len);
	for (unsigned i = 0; i < conf_key_count; i++) {
		conf_key_env_name(&conf_keys[i], candidate);
		unsigned d = distance(variable, text_of(candidate));
		if (d < best) {
			best = d;
			strcpy(nearest, candidate);
		}
	}
	if (best <= 3)
		conf_error_add(e, at, quoted, "no such key; did you mean %s?", nearest);
	else
		conf_error_add(e, at, quoted,
			"no such key; allowed: MILLRACE_<SECTION>_<KEY> and MILLRACE_CONFIG");
}
