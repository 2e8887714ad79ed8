#include "dataplane/net/dpdk/dpdk_eal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "dataplane/net/dpdk/port.h"

enum {
	MIB = 1 << 20,
	BASE_MIB = 32, /* EAL's own, and the queues of the ports */
	PAGE = 4096,
	FRAME_MIN = 2048,
	BUFFER_EXTRA = 512,    /* headers of buffer and object, head room */
	SHELL_BYTES = 256,     /* half as many as buffers, and their rings */
	LCORE_BYTES = 4 * MIB, /* reassembly */
};

static void add(struct dpdk_eal *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void add(struct dpdk_eal *out, const char *fmt, ...)
{
	va_list args;
	MUST(out->count < DPDK_EAL_ARGS);
	va_start(args, fmt);
	vsnprintf(out->args[out->count++], DPDK_EAL_ARG_BYTES, fmt, args);
	va_end(args);
}

/* Without huge pages no buffer crosses a page: each takes whole ones. */
uint64_t dpdk_eal_memory(const struct conf *conf, unsigned lcores)
{
	uint64_t frame = conf->dpdk_mtu > FRAME_MIN ? conf->dpdk_mtu : FRAME_MIN;
	uint64_t buffer = (frame + BUFFER_EXTRA + PAGE - 1) / PAGE * PAGE;
	return (uint64_t)BASE_MIB * MIB +
	       lcores * (LCORE_BYTES + conf->dpdk_mbufs * (buffer + SHELL_BYTES));
}

bool dpdk_eal_has_huge_pages(uint64_t bytes)
{
	static const char path[] = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages";
	unsigned long pages = 0;
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (uint64_t)pages * 2 * MIB >= bytes;
}

void dpdk_eal_args(
	struct dpdk_eal *out, const struct conf *conf, unsigned lcores, bool has_huge_pages)
{
	bool has_pci = false;
	out->count = 0;
	if (has_huge_pages) {
		add(out, "--in-memory");
	} else {
		add(out, "--no-huge");
		add(out, "-m");
		add(out, "%lu", (unsigned long)(dpdk_eal_memory(conf, lcores) / MIB));
	}
	for (uint64_t i = 0; i < conf->dpdk_ports.count; i++) {
		if (!port_is_pci(conf->dpdk_ports.items[i]))
			continue;
		has_pci = true;
		add(out, "-a");
		add(out, "%s", conf->dpdk_ports.items[i]);
	}
	if (!has_pci)
		add(out, "--no-pci");
}

/* EAL makes a run-time directory even when told to keep no files. It gets one in RAM, of this process alone, that is
 * removed again at once: nothing is put there. */
#define RUNTIME_TEMPLATE "/dev/shm/millrace-eal-XXXXXX"

static void remove_runtime_dir(const char *base)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "%s/dpdk/rte", base);
	(void)rmdir(path);
	(void)snprintf(path, sizeof(path), "%s/dpdk", base);
	(void)rmdir(path);
	(void)rmdir(base);
}

int dpdk_eal_start(const char *program, const char *lcores, struct dpdk_eal *memory, char *why,
	size_t why_size)
{
	/* --in-memory would be the word for it, but DPDK 22.11 refuses it together with --no-huge. */
	const char *args[] = {
		program, "--no-shconf", "--no-telemetry", "--log-level=error", "--lcores", lcores};
	char *argv[ARRAY_LEN(args) + DPDK_EAL_ARGS + 1] = {0};
	int argc = 0;
	for (unsigned i = 0; i < ARRAY_LEN(args); i++)
		argv[argc++] = (char *)(uintptr_t)args[i];
	for (unsigned i = 0; i < memory->count; i++)
		argv[argc++] = memory->args[i];
	char base[] = RUNTIME_TEMPLATE;
	bool is_ours = getenv("RUNTIME_DIRECTORY") == NULL && mkdtemp(base) != NULL &&
		       setenv("RUNTIME_DIRECTORY", base, 0) == 0;
	int rc = rte_eal_init(argc, argv);
	if (is_ours) {
		remove_runtime_dir(base);
		unsetenv("RUNTIME_DIRECTORY");
	}
	if (rc >= 0)
		return 0;
	snprintf(why, why_size, "EAL does not start: %s", rte_strerror(rte_errno));
	return -rte_errno;
}
