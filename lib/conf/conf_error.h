/* conf_error: where a value stands, and the lines that tell a person what is wrong with it.
 * Each line is `<place>: <key>: <what>; <what is allowed>`; lines past CONF_ERRORS_MAX are dropped,
 * a line past CONF_ERROR_TEXT is cut. */
#ifndef LIB_CONF_CONF_ERROR_H
#define LIB_CONF_CONF_ERROR_H

#include "lib/conf/conf.h"

struct conf_place {
	enum conf_source source;
	const char *file; /* CONF_FROM_FILE */
	uint32_t line;	  /* CONF_FROM_FILE; 0: the file as a whole */
};

/* `name` NULL: the trouble is not with one key. */
PRINTF_LIKE(4, 5)
void conf_error_add(
	struct conf_errors *e, const struct conf_place *at, const char *name, const char *fmt, ...);
/* The same, naming the key as that place spells it: the variable when it came from the environment.
 */
PRINTF_LIKE(4, 5)
void conf_error_add_key(struct conf_errors *e, const struct conf_place *at,
	const struct conf_key *key, const char *fmt, ...);

/* Somebody's bytes made fit for a line of text: cut at CONF_QUOTE, what is not printable as `?`. */
enum { CONF_QUOTE = 48 };
const char *conf_error_quote(char out[CONF_QUOTE], const char *text, size_t len);

#endif
