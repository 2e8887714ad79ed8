#include "dataplane/node/eal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>

#include "dataplane/net/dpdk/dpdk_eal.h"

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

/* Packet buffers and devices are wanted by the dpdk back end alone. */
static void choose_memory(struct dpdk_eal *out, const struct conf *conf, unsigned lcores)
{
	if (conf->net_backend != CONF_BACKEND_DPDK) {
		*out = (struct dpdk_eal){4, {"--no-huge", "--no-pci", "-m", "16"}};
		return;
	}
	bool has_huge_pages = conf->dpdk_huge_pages == CONF_HUGE_PAGES_AUTO &&
			      dpdk_eal_has_huge_pages(dpdk_eal_memory(conf, lcores));
	dpdk_eal_args(out, conf, lcores, has_huge_pages);
}

int eal_start(const struct conf *conf, const struct cpus *cpus, const cpu_set_t *allowed, char *why,
	size_t why_size)
{
	char map[4096];
	int rc = cpus_print_map(cpus, allowed, map, sizeof(map));
	if (rc != 0) {
		snprintf(why, why_size, "the list of allowed CPUs is too long for EAL");
		return rc;
	}
	/* --in-memory would be the word for it, but DPDK 22.11 refuses it together with --no-huge. */
	const char *args[] = {"millrace-dataplane", "--no-shconf", "--no-telemetry",
		"--log-level=error", "--lcores", map};
	struct dpdk_eal memory;
	choose_memory(&memory, conf, cpus->count);
	char *argv[ARRAY_LEN(args) + DPDK_EAL_ARGS + 1] = {0};
	int argc = 0;
	for (unsigned i = 0; i < ARRAY_LEN(args); i++)
		argv[argc++] = (char *)(uintptr_t)args[i];
	for (unsigned i = 0; i < memory.count; i++)
		argv[argc++] = memory.args[i];
	char base[] = RUNTIME_TEMPLATE;
	bool is_ours = getenv("RUNTIME_DIRECTORY") == NULL && mkdtemp(base) != NULL &&
		       setenv("RUNTIME_DIRECTORY", base, 0) == 0;
	rc = rte_eal_init(argc, argv);
	if (is_ours) {
		remove_runtime_dir(base);
		unsetenv("RUNTIME_DIRECTORY");
	}
	if (rc >= 0)
		return 0;
	snprintf(why, why_size, "EAL does not start: %s", rte_strerror(rte_errno));
	return -rte_errno;
}

int eal_launch(uint32_t index, int (*run)(void *arg), void *arg)
{
	return rte_eal_remote_launch(run, arg, index + 1);
}

void eal_join(uint32_t index)
{
	(void)rte_eal_wait_lcore(index + 1);
}
