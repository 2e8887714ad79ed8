#include "dataplane/node/eal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>

/* EAL makes a run-time directory even when told to keep no files. In RAM, and gone again at once: nothing is put there. */
#define RUNTIME_BASE "/dev/shm"

static void remove_runtime_dir(void)
{
	(void)rmdir(RUNTIME_BASE "/dpdk/rte");
	(void)rmdir(RUNTIME_BASE "/dpdk");
}

int eal_start(const struct cpus *cpus, const cpu_set_t *allowed, char *why, size_t why_size)
{
	char map[4096];
	int rc = cpus_print_map(cpus, allowed, map, sizeof(map));
	if (rc != 0) {
		snprintf(why, why_size, "the list of allowed CPUs is too long for EAL");
		return rc;
	}
	/* --in-memory would be the word for it, but DPDK 22.11 refuses it together with --no-huge. */
	const char *args[] = {"millrace-dataplane", "--no-huge", "--no-pci", "--no-shconf",
		"--no-telemetry", "-m", "16", "--log-level=error", "--lcores", map};
	char *argv[ARRAY_LEN(args) + 1] = {0};
	for (unsigned i = 0; i < ARRAY_LEN(args); i++)
		argv[i] = (char *)(uintptr_t)args[i];
	bool is_ours = getenv("RUNTIME_DIRECTORY") == NULL &&
		       setenv("RUNTIME_DIRECTORY", RUNTIME_BASE, 0) == 0;
	rc = rte_eal_init(ARRAY_LEN(args), argv);
	if (is_ours) {
		remove_runtime_dir();
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

void eal_stop(void)
{
	(void)rte_eal_cleanup();
}
