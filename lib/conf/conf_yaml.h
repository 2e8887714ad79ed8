/* conf_yaml: a YAML file of two levels, `section: {key: value}`, into struct conf.
 * Taken: plain and quoted scalars, lists of them, comments. Refused with the line: anchors, aliases,
 * tags, a second document, a key or section given twice, deeper nesting.
 * Memory: what libyaml needs for a text of that length; freed before it returns. */
#ifndef LIB_CONF_CONF_YAML_H
#define LIB_CONF_CONF_YAML_H

#include "lib/conf/conf_value.h"

/* Adds to `errors` what is wrong; `out` keeps its former value for each key that is refused. */
void conf_yaml_read(struct conf *out, struct conf_origin *origin, struct conf_text text,
	const char *file_name, struct conf_errors *errors);

#endif
