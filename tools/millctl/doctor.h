/* doctor: is this machine fit for a node? Each finding has a level, what was seen, and the exact
 * command that mends it. Runs unprivileged; changes nothing. */
#ifndef TOOLS_MILLCTL_DOCTOR_H
#define TOOLS_MILLCTL_DOCTOR_H

#include "lib/conf/conf.h"
#include "tools/millctl/options.h"

enum { DOCTOR_FINDINGS = 64, DOCTOR_TEXT = 256, DOCTOR_FILE = 65536 };

enum doctor_level { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor_finding {
	const char *check;
	enum doctor_level level;
	char detail[DOCTOR_TEXT];
	char fix[DOCTOR_TEXT]; /* empty when there is nothing to mend */
};

struct doctor {
	struct conf conf;      /* of the node that is meant; defaults when it does not load */
	bool needs_bypass;     /* its back end goes past the kernel */
	bool has_controlplane; /* a node runs here already: what it holds is taken rightly */
	bool has_dataplane;
	unsigned count;
	struct doctor_finding findings[DOCTOR_FINDINGS];
	char file[DOCTOR_FILE]; /* the last file that was read */
};

enum exit_code doctor_run(const struct options *o);

/* Adds a finding; beyond DOCTOR_FINDINGS they are left out. The detail is printf-like. */
void doctor_say(struct doctor *d, const char *check, enum doctor_level level, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
/* The command that mends the last finding. */
void doctor_fix(struct doctor *d, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Reads a file into d->file, without its last newline; an empty text when it cannot. */
const char *doctor_read(struct doctor *d, const char *path);

/* The checks. */
void doctor_system_check(struct doctor *d); /* versions, CPU, memory, limits */
void doctor_net_check(struct doctor *d);    /* IOMMU, NICs, ports, run_dir */

#endif
