/* conf_rules: what no single entry of conf.def can say: the shape of names and paths, and keys that
 * need one another. */
#ifndef LIB_CONF_CONF_RULES_H
#define LIB_CONF_CONF_RULES_H

#include "lib/conf/conf_error.h"

/* Adds a line for each rule that is broken, placed where the value came from. */
void conf_rules_check(const struct conf *c, const struct conf_origin *origin, const char *file_name,
	struct conf_errors *errors);

#endif
