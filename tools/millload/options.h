/* options: the command line of millload, checked. Pure but for getopt's own state. */
#ifndef TOOLS_MILLLOAD_OPTIONS_H
#define TOOLS_MILLLOAD_OPTIONS_H

#include "tools/millload/sources.h"
#include "tools/millload/target.h"

enum {
	OPTIONS_TARGETS = 8,
	OPTIONS_HEADERS = 16,
	OPTIONS_ADDRESSES = 16,
	OPTIONS_ADDRESS_BYTES = 64,
	OPTIONS_CONNECTIONS_MAX = 1000000,
	OPTIONS_IDLE_MAX = 4000000,
	OPTIONS_PIPELINE_MAX = 64,
	OPTIONS_PAYLOAD_MIN = 16,
	OPTIONS_PAYLOAD_MAX = 1400,
	OPTIONS_SECONDS_MAX = 86400,
	OPTIONS_ANY = -1,
};

enum options_backend { OPTIONS_HOST, OPTIONS_DPDK };

struct options {
	struct target targets[OPTIONS_TARGETS];
	unsigned target_count;

	uint64_t connections;
	uint64_t pipeline;
	uint64_t rate;	   /* 0: closed loop */
	uint64_t requests; /* 0: no such bound */
	uint64_t idle;
	uint64_t timeout_ms;
	uint64_t duration_ms;
	uint64_t warmup_ms;
	bool is_per_request;

	const char *method;
	const char *headers[OPTIONS_HEADERS];
	unsigned header_count;
	const char *body; /* file, or NULL */

	int64_t expect_status;
	int64_t expect_length;	 /* OPTIONS_ANY: as the first answer */
	const char *expect_body; /* file, or NULL */

	uint64_t payload;
	bool is_one_way;

	enum options_backend backend;
	struct sources sources;
	int64_t lcore; /* OPTIONS_ANY: not pinned */
	const char *vdev;
	char addresses[OPTIONS_ADDRESSES][OPTIONS_ADDRESS_BYTES];
	unsigned address_count;
	const char *gateway;
	uint64_t mtu;
	uint64_t mbufs;

	bool is_json;
	bool is_quiet;
	bool is_help;
	bool is_version;
};

extern const char options_help[];

/* False: `why` says what is wrong, for a person. Strings point into argv. */
CHECKED bool options_parse(struct options *o, int argc, char **argv, char *why, size_t why_size);

#endif
