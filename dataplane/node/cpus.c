#include "dataplane/node/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cpus_allowed(cpu_set_t *out)
{
	CPU_ZERO(out);
	return sched_getaffinity(0, sizeof(*out), out) == 0 ? 0 : -errno;
}

static int last_of(const cpu_set_t *set)
{
	int cpu = CPU_SETSIZE - 1;
	while (cpu >= 0 && !CPU_ISSET(cpu, set))
		cpu--;
	return cpu;
}

static int add(struct cpus *out, uint32_t cpu, const cpu_set_t *allowed, char *why, size_t why_size)
{
	if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, allowed)) {
		snprintf(why, why_size,
			"net.lcores: CPU %u is not one this process may use (see `taskset -p`)",
			cpu);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < out->count; i++) {
		if (out->cpu[i] == cpu) {
			snprintf(why, why_size, "net.lcores: CPU %u is named twice", cpu);
			return -EINVAL;
		}
	}
	out->cpu[out->count++] = cpu;
	return 0;
}

int cpus_pick(struct cpus *out, const struct conf *conf, const cpu_set_t *allowed, char *why,
	size_t why_size)
{
	*out = (struct cpus){0};
	for (uint64_t i = 0; i < conf->net_lcores.count; i++) {
		const char *item = conf->net_lcores.items[i];
		int auto_cpu = last_of(allowed);
		uint32_t cpu = strcmp(item, "auto") == 0 ? (uint32_t)auto_cpu
							 : (uint32_t)strtoul(item, NULL, 10);
		int rc = add(out, cpu, allowed, why, why_size);
		if (rc != 0)
			return rc;
	}
	if (out->count != 0)
		return 0;
	snprintf(why, why_size, "net.lcores: at least one CPU, or auto");
	return -EINVAL;
}

int cpus_print_map(const struct cpus *cpus, const cpu_set_t *allowed, char *out, size_t size)
{
	size_t len = (size_t)snprintf(out, size, "0@(");
	const char *comma = "";
	for (int cpu = 0; cpu < CPU_SETSIZE && len < size; cpu++) {
		if (!CPU_ISSET(cpu, allowed))
			continue;
		len += (size_t)snprintf(out + len, size - len, "%s%d", comma, cpu);
		comma = ",";
	}
	if (len < size)
		len += (size_t)snprintf(out + len, size - len, ")");
	for (uint32_t i = 0; i < cpus->count && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, ",%u@%u", i + 1, cpus->cpu[i]);
	return len < size ? 0 : -ENOSPC;
}
