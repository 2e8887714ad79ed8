/* conf: reads, checks, compares and prints the configuration.
 * Order:  defaults < file < environment MILLRACE_<SECTION>_<KEY> < flags (--set section.key=value).
 * Errors: fail closed. Each names file (or variable, or flag), line, key, what was wrong and what
 * is allowed; an unknown key is an error. The first CONF_ERRORS_MAX are kept, so one run shows them
 * all. Memory: bounded by LIMIT_CONF_FILE_BYTES and sizeof(struct conf); nothing is kept between
 * calls. Thread: any; no global state. Not for the poll loop: it reads files. */
#ifndef LIB_CONF_CONF_H
#define LIB_CONF_CONF_H

#include <stdio.h>

#include "lib/conf/conf_types.h"

enum conf_type { CONF_TYPE_NUM, CONF_TYPE_BOOL, CONF_TYPE_ENUM, CONF_TYPE_STR, CONF_TYPE_LIST };
enum conf_form { CONF_FORM_TEXT, CONF_FORM_ENDPOINT, CONF_FORM_CPU, CONF_FORM_CIDR };

/* One key, as conf.def has it. */
struct conf_key {
	const char *section;
	const char *key;
	enum conf_type type;
	enum conf_form form; /* of list items */
	bool is_hot;
	uint64_t min, max;   /* numbers */
	const char *unit;    /* numbers */
	const char *choices; /* enums: "a|b|c" */
	size_t capacity;     /* strings and list items, with the NUL */
	unsigned items_max;  /* lists */
	const char *def;     /* as it would be written in YAML; list items separated by one space */
	const char *help;
	size_t offset; /* of the member in struct conf */
};
extern const struct conf_key conf_keys[];
extern const unsigned conf_key_count;

/* NULL when there is no such key. */
const struct conf_key *conf_key_find(const char *section, const char *key);
/* MILLRACE_<SECTION>_<KEY>. */
enum { CONF_ENV_NAME = 64 };
void conf_key_env_name(const struct conf_key *key, char out[CONF_ENV_NAME]);
enum { CONF_ALLOWED = 96 }; /* room for what conf_key_allowed writes */
/* What the key takes, for people: "100 to 600000 ms". Returns what snprintf would. */
int conf_key_allowed(const struct conf_key *key, char *out, size_t size);

enum { CONF_ERRORS_MAX = 16, CONF_ERROR_TEXT = 256, CONF_KEYS_MAX = 64 };
struct conf_errors {
	unsigned count;
	char text[CONF_ERRORS_MAX][CONF_ERROR_TEXT];
};

/* Where each value came from, by index in conf_keys; for `millctl config show`. */
enum conf_source { CONF_FROM_DEFAULT, CONF_FROM_FILE, CONF_FROM_ENV, CONF_FROM_FLAG };
struct conf_origin {
	uint8_t source[CONF_KEYS_MAX];
	uint32_t line[CONF_KEYS_MAX]; /* for CONF_FROM_FILE */
};

/* What to read. `path` NULL: no file. `env` NULL: none, else as `environ`; a MILLRACE_ variable that
 * is no key is refused, but for MILLRACE_CONFIG, which names the file to programs. `sets`:
 * "section.key=value" strings. In both, the items of a list are separated by commas. */
struct conf_input {
	const char *path;
	char *const *env;
	const char *const *sets;
	unsigned set_count;
};

/* Fills `out` (and `origin` unless NULL). Returns 0, or -EINVAL with `errors` filled; `out` is then
 * not to be used. */
CHECKED int conf_load(struct conf *out, struct conf_origin *origin, const struct conf_input *in,
	struct conf_errors *errors);

/* The same from text in memory: for fuzzing and tests. */
CHECKED int conf_load_text(struct conf *out, struct conf_origin *origin, const char *text,
	size_t len, const char *file_name, struct conf_errors *errors);

/* The value of a key as YAML text. Returns what snprintf would. */
int conf_print(const struct conf *c, const struct conf_key *key, char *out, size_t size);

bool conf_key_equals(const struct conf *a, const struct conf *b, const struct conf_key *key);

/* For a reload: names in `errors` every RESTART key that differs. Returns 0, or -EBUSY when there
 * is one. */
CHECKED int conf_check_reload(
	const struct conf *running, const struct conf *next, struct conf_errors *errors);

#endif
