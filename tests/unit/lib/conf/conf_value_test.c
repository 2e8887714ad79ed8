/* the edges of every key, generated from the registry itself. */
#include "lib/conf/conf_value.h"

#include <inttypes.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct conf_text text_of(const char *s)
{
	return (struct conf_text){s, strlen(s)};
}

static void check_number(const struct conf_key *key, uint64_t n, bool is_ok)
{
	struct conf c = {0};
	char text[32], why[CONF_WHY], printed[32];
	snprintf(text, sizeof(text), "%" PRIu64, n);
	bool ok = conf_value_set(&c, key, text_of(text), why);
	if (ok != is_ok)
		printf("%s.%s: %s\n", key->section, key->key, text);
	CU_ASSERT_EQUAL(ok, is_ok);
	if (ok) {
		conf_print(&c, key, printed, sizeof(printed));
		CU_ASSERT_STRING_EQUAL(printed, text);
	} else {
		CU_ASSERT_PTR_NOT_NULL(strstr(why, "is out of range; allowed: "));
	}
}

static void numbers_have_two_edges(void)
{
	unsigned seen = 0;
	for (unsigned i = 0; i < conf_key_count; i++) {
		const struct conf_key *key = &conf_keys[i];
		if (key->type != CONF_TYPE_NUM)
			continue;
		seen++;
		check_number(key, key->min, true);
		check_number(key, key->max, true);
		if (key->min > 0)
			check_number(key, key->min - 1, false);
		check_number(key, key->max + 1, false);
		check_number(key, UINT64_MAX, false);
	}
	CU_ASSERT(seen > 10);
}

static void strings_have_a_length(void)
{
	for (unsigned i = 0; i < conf_key_count; i++) {
		const struct conf_key *key = &conf_keys[i];
		struct conf c = {0};
		char text[128], why[CONF_WHY];
		if (key->type != CONF_TYPE_STR)
			continue;
		memset(text, 'a', sizeof(text));
		CU_ASSERT(
			conf_value_set(&c, key, (struct conf_text){text, key->capacity - 1}, why));
		CU_ASSERT_EQUAL(strlen((char *)&c + key->offset), key->capacity - 1);
		CU_ASSERT_FALSE(
			conf_value_set(&c, key, (struct conf_text){text, key->capacity}, why));
		CU_ASSERT_PTR_NOT_NULL(strstr(why, "is too long; allowed: "));
	}
}

/* The nth distinct item of a form. */
static void item(enum conf_form form, unsigned n, char out[32])
{
	switch (form) {
	case CONF_FORM_TEXT:
	case CONF_FORM_CPU:
		snprintf(out, 32, "%u", n);
		return;
	case CONF_FORM_ENDPOINT:
		snprintf(out, 32, "127.0.0.1:%u", 1000 + n);
		return;
	case CONF_FORM_CIDR:
		snprintf(out, 32, "10.%u.0.0/16", n);
		return;
	}
}

static void lists_have_a_length(void)
{
	for (unsigned i = 0; i < conf_key_count; i++) {
		const struct conf_key *key = &conf_keys[i];
		struct conf c = {0};
		char text[32], why[CONF_WHY];
		if (key->type != CONF_TYPE_LIST)
			continue;
		for (unsigned n = 0; n < key->items_max; n++) {
			item(key->form, n, text);
			CU_ASSERT(conf_value_append(&c, key, text_of(text), why));
		}
		item(key->form, key->items_max, text);
		CU_ASSERT_FALSE(conf_value_append(&c, key, text_of(text), why));
		CU_ASSERT_PTR_NOT_NULL(strstr(why, "is one item too many; allowed: "));
		/* What is not a list does not take the place of one. */
		CU_ASSERT_FALSE(conf_value_set(&c, key, text_of(text), why));
	}
}

static void every_choice_is_its_index(void)
{
	for (unsigned i = 0; i < conf_key_count; i++) {
		const struct conf_key *key = &conf_keys[i];
		struct conf c = {0};
		char why[CONF_WHY], printed[32];
		uint64_t index = 0;
		if (key->type != CONF_TYPE_ENUM)
			continue;
		for (const char *p = key->choices; p;
			p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL) {
			struct conf_text choice = {p, strcspn(p, "|")};
			CU_ASSERT(conf_value_set(&c, key, choice, why));
			uint64_t stored;
			memcpy(&stored, (char *)&c + key->offset, sizeof(stored));
			CU_ASSERT_EQUAL(stored, index++);
			CU_ASSERT_EQUAL(
				conf_print(&c, key, printed, sizeof(printed)), (int)choice.len);
			CU_ASSERT_EQUAL(memcmp(printed, choice.data, choice.len), 0);
		}
		CU_ASSERT(index >= 2);
	}
	/* The names the code uses stand for the words of conf.def. */
	struct conf c = {0};
	char printed[16];
	c.net_backend = CONF_BACKEND_FSTACK;
	c.net_poll = CONF_POLL_BUSY;
	c.log_format = CONF_LOG_TEXT;
	conf_print(&c, conf_key_find("net", "backend"), printed, sizeof(printed));
	CU_ASSERT_STRING_EQUAL(printed, "fstack");
	conf_print(&c, conf_key_find("net", "poll"), printed, sizeof(printed));
	CU_ASSERT_STRING_EQUAL(printed, "busy");
	conf_print(&c, conf_key_find("log", "format"), printed, sizeof(printed));
	CU_ASSERT_STRING_EQUAL(printed, "text");
}

static const struct {
	const char *text;
	uint64_t bytes; /* 0: refused */
} sizes[] = {
	{"1048576", 1048576},
	{"1024KiB", 1048576},
	{"1MiB", 1048576},
	{"3GiB", 3221225472},
	{"1024GiB", 1099511627776},
	{"1025GiB", 0},
	{"1mib", 0},
	{"1 MiB", 0},
	{"1MB", 0},
	{"1.5GiB", 0},
	{"01GiB", 0},
	{"1GiBGiB", 0},
	{"-1GiB", 0},
	{"18446744073709551616", 0},
	{"36028797018963968KiB", 0},
};

static void sizes_take_exact_suffixes(void)
{
	const struct conf_key *key = conf_key_find("storage", "slab_bytes");
	for (unsigned i = 0; i < ARRAY_LEN(sizes); i++) {
		struct conf c = {0};
		char why[CONF_WHY];
		CU_ASSERT_EQUAL(
			conf_value_set(&c, key, text_of(sizes[i].text), why), sizes[i].bytes != 0);
		CU_ASSERT_EQUAL(c.storage_slab_bytes, sizes[i].bytes);
	}
}

static void print_counts_what_does_not_fit(void)
{
	struct conf c = {0};
	const struct conf_key *key = conf_key_find("node", "run_dir");
	char out[8] = "?";
	strcpy(c.node_run_dir, "/a\"b\\c");
	CU_ASSERT_EQUAL(conf_print(&c, key, NULL, 0), 10);
	CU_ASSERT_EQUAL(conf_print(&c, key, out, 1), 10);
	CU_ASSERT_STRING_EQUAL(out, "");
	CU_ASSERT_EQUAL(conf_print(&c, key, out, sizeof(out)), 10);
	CU_ASSERT_STRING_EQUAL(out, "\"/a\\\"b\\");
}

static void allowed_fits_its_room(void)
{
	for (unsigned i = 0; i < conf_key_count; i++) {
		char out[CONF_ALLOWED];
		int len = conf_key_allowed(&conf_keys[i], out, sizeof(out));
		CU_ASSERT(len > 0 && len < CONF_ALLOWED);
		CU_ASSERT_EQUAL(strlen(out), len);
	}
	char little[9];
	CU_ASSERT_EQUAL(
		conf_key_allowed(conf_key_find("net", "backend"), little, sizeof(little)), 18);
	CU_ASSERT_STRING_EQUAL(little, "host, dp");
}

static const struct unit_case cases[] = {
	{"numbers_have_two_edges", numbers_have_two_edges},
	{"strings_have_a_length", strings_have_a_length},
	{"lists_have_a_length", lists_have_a_length},
	{"every_choice_is_its_index", every_choice_is_its_index},
	{"sizes_take_exact_suffixes", sizes_take_exact_suffixes},
	{"print_counts_what_does_not_fit", print_counts_what_does_not_fit},
	{"allowed_fits_its_room", allowed_fits_its_room},
};
UNIT_MAIN("lib/conf/conf_value", cases)
