/* conf_value: one value between text and struct conf, checked by what conf.def says of its key.
 * A refusal writes into `why` what was wrong and what is allowed. */
#ifndef LIB_CONF_CONF_VALUE_H
#define LIB_CONF_CONF_VALUE_H

#include "lib/conf/conf_key.h"

enum { CONF_WHY = 208 };

/* Every key but lists. Returns false when refused; `out` is then unchanged. */
CHECKED bool conf_value_set(
	struct conf *out, const struct conf_key *key, struct conf_text text, char why[CONF_WHY]);

/* Lists: empty it, then append item by item. An item equal to an earlier one is refused. */
void conf_value_clear(struct conf *out, const struct conf_key *key);
CHECKED bool conf_value_append(
	struct conf *out, const struct conf_key *key, struct conf_text text, char why[CONF_WHY]);

/* Any key, from one piece of text; the items of a list are separated by `separator`, and blanks
 * around them do not count. */
CHECKED bool conf_value_set_any(struct conf *out, const struct conf_key *key, struct conf_text text,
	char separator, char why[CONF_WHY]);

#endif
