#include "dataplane/node/eal.h"

#include <stdio.h>

#include <rte_launch.h>

#include "dataplane/net/dpdk/dpdk_eal.h"

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
	struct dpdk_eal memory;
	choose_memory(&memory, conf, cpus->count);
	return dpdk_eal_start("millrace-dataplane", map, &memory, why, why_size);
}

int eal_launch(uint32_t index, int (*run)(void *arg), void *arg)
{
	return rte_eal_remote_launch(run, arg, index + 1);
}

void eal_join(uint32_t index)
{
	(void)rte_eal_wait_lcore(index + 1);
}
