#include "lib/conf/conf_error.h"

#include <stdarg.h>
#include <string.h>

/* A path longer than this shows its end, so that the rest of the line has room. */
enum { FILE_SHOWN = 96, PREFIX = FILE_SHOWN + 32, NAME = 80 };

static void place_print(char out[PREFIX], const struct conf_place *at)
{
	switch (at->source) {
	case CONF_FROM_DEFAULT:
		snprintf(out, PREFIX, "default");
		return;
	case CONF_FROM_ENV:
		snprintf(out, PREFIX, "environment");
		return;
	case CONF_FROM_FLAG:
		snprintf(out, PREFIX, "--set");
		return;
	case CONF_FROM_FILE:
		break;
	}
	size_t len = strlen(at->file);
	const char *cut = len > FILE_SHOWN ? "..." : "";
	const char *file = len > FILE_SHOWN ? at->file + len - FILE_SHOWN : at->file;
	if (at->line == 0)
		snprintf(out, PREFIX, "%s%s", cut, file);
	else
		snprintf(out, PREFIX, "%s%s:%u", cut, file, at->line);
}

PRINTF_LIKE(4, 0)
static void add(struct conf_errors *e, const struct conf_place *at, const char *name,
	const char *fmt, va_list args)
{
	if (e->count == CONF_ERRORS_MAX)
		return;
	char *text = e->text[e->count++];
	char prefix[PREFIX];
	place_print(prefix, at);
	int used = snprintf(
		text, CONF_ERROR_TEXT, "%s: %s%s", prefix, name ? name : "", name ? ": " : "");
	if (used < CONF_ERROR_TEXT)
		vsnprintf(text + used, (size_t)(CONF_ERROR_TEXT - used), fmt, args);
}

void conf_error_add(
	struct conf_errors *e, const struct conf_place *at, const char *name, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	add(e, at, name, fmt, args);
	va_end(args);
}

void conf_error_add_key(struct conf_errors *e, const struct conf_place *at,
	const struct conf_key *key, const char *fmt, ...)
{
	char name[NAME];
	if (at->source == CONF_FROM_ENV)
		conf_key_env_name(key, name);
	else
		snprintf(name, sizeof(name), "%s.%s", key->section, key->key);
	va_list args;
	va_start(args, fmt);
	add(e, at, name, fmt, args);
	va_end(args);
}

const char *conf_error_quote(char out[CONF_QUOTE], const char *text, size_t len)
{
	size_t room = CONF_QUOTE - sizeof("...");
	size_t shown = len > room ? room : len;
	for (size_t i = 0; i < shown; i++)
		out[i] = (text[i] >= ' ' && text[i] <= '~') ? text[i] : '?';
	strcpy(out + shown, len > room ? "..." : "");
	return out;
}
