#include "controlplane/audit/audit.h"

#include <stdio.h>

#include "controlplane/bus/bus.h"
#include "lib/log/log.h"

void audit_record(
	struct seg *seg, const struct audit_who *who, const char *what, const char *outcome)
{
	char text[LIMIT_EVENT_TEXT_BYTES];
	snprintf(text, sizeof(text), "who=uid:%u,pid:%d what=%s capability=ops-socket outcome=%s",
		(unsigned)who->uid, (int)who->pid, what, outcome);
	bus_emit(seg, EVENT_AUDIT, "%s", text);
	LOG(INFO, "audit: %s", text);
}
