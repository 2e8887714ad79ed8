/* conf_types: the configuration as a plain, pointer-free value, so that it can be a snapshot in
 * shared memory. Each key of config/conf.def is one member, <section>_<key>. */
#ifndef LIB_CONF_CONF_TYPES_H
#define LIB_CONF_CONF_TYPES_H

#include "lib/base/registry.h"

struct conf {
#define CONF_NUM(section, key, def, min, max, unit, change, help) uint64_t section##_##key;
#define CONF_BOOL(section, key, def, change, help)		  uint64_t section##_##key;
#define CONF_ENUM(section, key, def, choices, change, help)	  uint64_t section##_##key;
#define CONF_STR(section, key, capacity, def, change, help) \
	char section##_##key[((capacity) + 7) / 8 * 8];
#define CONF_LIST(section, key, capacity, items_max, def, form, change, help) \
	struct { \
		uint64_t count; \
		char items[items_max][capacity]; \
	} section##_##key;
#include "config/conf.def"
#undef CONF_NUM
#undef CONF_BOOL
#undef CONF_ENUM
#undef CONF_STR
#undef CONF_LIST
};
static_assert(sizeof(struct conf) % 8 == 0, "snapshots copy whole words");

/* The choices of the enum keys, in the order of conf.def. */
enum conf_backend { CONF_BACKEND_HOST, CONF_BACKEND_DPDK, CONF_BACKEND_FSTACK };
enum conf_poll { CONF_POLL_ADAPTIVE, CONF_POLL_BUSY };
enum conf_huge_pages { CONF_HUGE_PAGES_AUTO, CONF_HUGE_PAGES_OFF };
enum conf_log_format { CONF_LOG_AUTO, CONF_LOG_JSON, CONF_LOG_TEXT };

#endif
