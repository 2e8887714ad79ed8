/* port: one ethdev port: found by its device string, set up with a queue pair per lcore, started.
 * Owner:   the main thread opens, watches and closes it; each lcore receives and sends on its own queue while the port
 *          is up.
 * Loss:    port_watch notices that the device is gone, or the kernel interface it stands on. The lcores leave it (port_is_up) and say so (port_leave); then
 *          the device is closed and looked for again every PORT_RETRY_MS.
 * Queues:  a port with fewer transmit queues than lcores is shared: who finds a queue taken comes back in his next turn.
 *          One with fewer receive queues, or without RSS, leaves the spreading to the lcores (dpdk_spread).
 * RSS:     the key is one 16-bit pattern repeated: both directions of a flow have the same hash. */
#ifndef DATAPLANE_NET_DPDK_PORT_H
#define DATAPLANE_NET_DPDK_PORT_H

#include <stdatomic.h>

#include <rte_spinlock.h>

#include "dataplane/net/dpdk/wire.h"
#include "lib/base/registry.h"
#include "lib/shm/tally.h"

struct rte_mempool;

enum {
	PORT_DEVICE_BYTES = 160,
	PORT_IFACE_BYTES = 16,
	PORT_RETRY_MS = 500,
	PORT_RSS_KEY_BYTES = 52
};

struct port_conf {
	const char *device; /* a PCI address, or NAME,ARGUMENTS of a virtual device */
	uint16_t lcores;
	uint16_t mtu;
	uint16_t rx_desc;
	uint16_t tx_desc;
	bool is_promiscuous;
	bool has_offloads;		  /* use what the port offers */
	struct rte_mempool *const *pools; /* one per lcore; outlive the port */
};

enum port_state { PORT_CLOSED, PORT_UP, PORT_LEAVING };

struct port {
	/* read by the lcores */
	_Atomic uint32_t state; /* enum port_state (w: main thread) */
	uint16_t id;
	uint16_t rx_queues;
	uint16_t tx_queues; /* fewer than lcores: they take turns (tx_locks) */
	uint16_t reta_size; /* with has_rss */
	uint8_t mac[WIRE_MAC_BYTES];
	bool has_rss;	   /* else whoever receives a packet must ask whose it is */
	bool rx_checks_ip; /* offloads in use */
	bool rx_checks_l4;
	bool tx_sums_ip;
	bool tx_sums_l4;
	bool takes_chains; /* packets of several buffers */
	bool keeps_pointers; /* hands our buffers to another thread or to a card: everything must be copied */

	/* (w: lcores) tried, never waited for */
	rte_spinlock_t tx_locks[LIMIT_LCORES];

	/* (w: each lcore its own) lcores that still use the port */
	_Atomic bool is_used[LIMIT_LCORES];

	/* the main thread's */
	struct port_conf conf;
	char device[PORT_DEVICE_BYTES];
	char iface[PORT_IFACE_BYTES]; /* the kernel's, when the device stands on one */
	unsigned iface_index;	      /* another one: it was taken away and made again */
	bool has_link;
	bool is_tap;
	uint64_t retry_ns;
	uint64_t losses[TALLY_SET_PORT]; /* as told already */
};

/* Sets the device up and starts it. On failure returns -errno and fills `why`. */
CHECKED int port_open(struct port *p, const struct port_conf *conf, char *why, size_t why_size);
/* No lcore uses it any more. */
void port_close(struct port *p);

/* What a port says it lost since the last time; by enum label_port. False: it says nothing now. */
CHECKED bool port_take_losses(struct port *p, uint64_t out[TALLY_SET_PORT]);

/* Looks after link and device; call it now and then. True: a lost device is back, maybe with another link address; the
 * caller takes that in and calls port_resume. */
CHECKED bool port_watch(struct port *p, uint64_t now_ns);
/* Lets the lcores use it. */
void port_resume(struct port *p);

static inline bool port_is_up(const struct port *p)
{
	return atomic_load_explicit(&p->state, memory_order_acquire) == PORT_UP;
}

/* An lcore begins to use a port that is up, or has stopped using one that is not. */
void port_enter(struct port *p, unsigned lcore);
void port_leave(struct port *p, unsigned lcore);

/* The symmetric key. */
void port_rss_key(uint8_t out[PORT_RSS_KEY_BYTES]);

/* Splits "net_af_packet0,iface=eth1" into name and arguments. A PCI address has none. */
CHECKED int port_split_device(const char *device, char *name, size_t name_size, const char **args);
bool port_is_pci(const char *device);
/* The kernel interface that the arguments name, "" when none. */
void port_find_iface(const char *args, char out[PORT_IFACE_BYTES]);

#endif
