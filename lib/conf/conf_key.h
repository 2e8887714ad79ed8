/* conf_key: finding keys by what a person typed. */
#ifndef LIB_CONF_CONF_KEY_H
#define LIB_CONF_CONF_KEY_H

#include "lib/conf/conf_error.h"

/* Text that need not end in NUL. */
struct conf_text {
	const char *data;
	size_t len;
};

const struct conf_key *conf_key_find_text(struct conf_text section, struct conf_text key);
/* The first key of the section, or NULL when there is no such section. */
const struct conf_key *conf_key_find_section(struct conf_text section);
unsigned conf_key_index(const struct conf_key *key);

/* Say that it is unknown, with the nearest that is known, else with all that would do. */
void conf_key_refuse_section(
	struct conf_errors *e, const struct conf_place *at, struct conf_text section);
void conf_key_refuse(struct conf_errors *e, const struct conf_place *at, struct conf_text section,
	struct conf_text key);
void conf_key_refuse_env(
	struct conf_errors *e, const struct conf_place *at, struct conf_text variable);

#endif
