#include "controlplane/ops/ops_capture.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/version.h"
#include "lib/clock/clock.h"
#include "lib/pcapng/pcapng.h"

static const struct conf *conf_of(const struct ops_capture *c)
{
	return &c->env->running->conf;
}

/* "0", "all", or the device as in dpdk.ports, with or without its arguments. */
static bool is_meant(const char *text, unsigned port, const char *device)
{
	char number[12];
	size_t len = strlen(text);
	snprintf(number, sizeof(number), "%u", port);
	return strcmp(text, "all") == 0 || strcmp(text, number) == 0 ||
	       (strncmp(text, device, len) == 0 && (device[len] == '\0' || device[len] == ','));
}

static uint32_t choose_ports(struct ops_capture *c, const char *text)
{
	uint32_t mask = 0;
	const struct conf *conf = conf_of(c);
	for (unsigned i = 0; i < conf->dpdk_ports.count; i++) {
		if (!is_meant(text, i, conf->dpdk_ports.items[i]))
			continue;
		mask |= 1u << i;
		c->iface_of[i] = c->port_count;
		c->ports[c->port_count++] = (uint8_t)i;
		c->dropped_before[i] = capture_dropped(&c->env->seg->capture, i);
	}
	return mask;
}

static bool refuse_state(
	const struct ops_capture *c, const struct ops_env *env, struct ops_refusal *why)
{
	if (env->running->conf.net_backend != CONF_BACKEND_DPDK)
		ops_refuse(why, "no_port",
			"net.backend is not dpdk: packets go through the kernel and there is no "
			"port to "
			"capture; use tcpdump on the interface");
	else if (!seg_is_alive(env->seg, SHM_DATAPLANE))
		ops_refuse(why, "dataplane_down", "the data plane is not running");
	else if (c->env != NULL)
		ops_refuse(why, "busy", "another capture is under way; one at a time");
	else
		return false;
	return true;
}

bool ops_capture_start(struct ops_capture *c, const struct ops_env *env,
	const struct ops_request *request, struct ops_refusal *why)
{
	struct capture_conf conf = {.ports = 0};
	char text[160];
	if (refuse_state(c, env, why))
		return false;
	if (capture_filter_parse(&conf.filter, request->filter, text, sizeof(text)) != 0) {
		ops_refuse(why, "bad_request", "%s", text);
		return false;
	}
	*c = (struct ops_capture){.env = env, .packets_max = request->packets};
	conf.ports = choose_ports(c, request->port);
	if (conf.ports == 0) {
		c->env = NULL;
		ops_refuse(why, "bad_request",
			"there is no port \"%.40s\": give a number from 0 to %u, a device of "
			"dpdk.ports, "
			"or all",
			request->port, (unsigned)env->running->conf.dpdk_ports.count - 1);
		return false;
	}
	c->deadline_ns = clock_now_ns() + request->seconds * NS_PER_S;
	conf.until_ns = c->deadline_ns;
	c->number = capture_start(&env->seg->capture, &conf);
	return true;
}

json_t *ops_capture_view(const struct ops_capture *c)
{
	json_t *ports = json_array();
	for (unsigned i = 0; i < c->port_count; i++)
		json_array_append_new(
			ports, json_string(conf_of(c)->dpdk_ports.items[c->ports[i]]));
	return json_pack("{s:o}", "ports", ports);
}

static size_t write_begin(struct ops_capture *c, uint8_t *out, size_t room)
{
	char application[64];
	snprintf(application, sizeof(application), "Millrace %s", version_string());
	size_t len = pcapng_section(out, room, application);
	for (unsigned i = 0; i < c->port_count; i++)
		len += pcapng_iface(out + len, room - len,
			conf_of(c)->dpdk_ports.items[c->ports[i]], LIMIT_CAPTURE_BYTES);
	c->is_begun = true;
	return len;
}

static uint64_t dropped_of(const struct ops_capture *c, unsigned port)
{
	return capture_dropped(&c->env->seg->capture, port) - c->dropped_before[port];
}

static size_t write_end(struct ops_capture *c, uint8_t *out, size_t room)
{
	size_t len = 0;
	for (unsigned i = 0; i < c->port_count; i++) {
		struct pcapng_stats stats = {.iface = i,
			.time_ns = clock_wall_ns(),
			.delivered = c->delivered[c->ports[i]],
			.dropped = dropped_of(c, c->ports[i])};
		len += pcapng_stats(out + len, room - len, &stats);
	}
	c->is_over = true;
	return len;
}

/* Records come from another process of ours: what would not fit a block is cut all the same. */
static size_t write_record(struct ops_capture *c, uint8_t *out, size_t room,
	const struct capture_record *r, unsigned lcore)
{
	unsigned port = r->port < LIMIT_NET_PORTS ? r->port : 0;
	struct pcapng_packet p = {.iface = c->iface_of[port],
		.queue = lcore,
		.time_ns = r->time_ns,
		.len = r->len,
		.data = {r->data, r->kept < sizeof(r->data) ? r->kept : sizeof(r->data)},
		.dir = r->dir == CAPTURE_OUT ? PCAPNG_DIR_OUT : PCAPNG_DIR_IN};
	size_t len = pcapng_packet(out, room, &p);
	if (len == 0)
		return 0;
	c->packets++;
	c->bytes += p.data.len;
	c->delivered[port]++;
	return len;
}

/* Returns true when the rings held nothing more. */
static bool write_records(struct ops_capture *c, uint8_t *out, size_t room, size_t *len)
{
	struct capture *capture = &c->env->seg->capture;
	unsigned lcore;
	const struct capture_record *r;
	while (c->packets < c->packets_max &&
		(r = capture_next(capture, c->number, &lcore)) != NULL) {
		size_t n = write_record(c, out + *len, room - *len, r, lcore);
		if (n == 0)
			return false;
		*len += n;
		capture_drop(capture, lcore);
	}
	return true;
}

size_t ops_capture_read(struct ops_capture *c, uint8_t *out, size_t room, uint64_t now_ns)
{
	MUST(c->env != NULL && room >= LIMIT_CAPTURE_CHUNK_BYTES);
	/* The statistics of all ports always fit at the end. */
	size_t packets_room = room - LIMIT_NET_PORTS * PCAPNG_HEAD_BYTES;
	size_t len = c->is_begun ? 0 : write_begin(c, out, room);
	if (!c->is_stopped && now_ns >= c->deadline_ns) {
		capture_stop(&c->env->seg->capture);
		c->is_stopped = true;
		c->ended_by = "seconds";
	}
	bool is_empty = write_records(c, out, packets_room, &len);
	if (!c->is_stopped && c->packets == c->packets_max) {
		capture_stop(&c->env->seg->capture);
		c->is_stopped = true;
		c->ended_by = "packets";
	}
	if (c->is_stopped && is_empty && !c->is_over)
		len += write_end(c, out + len, room - len);
	return len;
}

json_t *ops_capture_result(const struct ops_capture *c)
{
	uint64_t dropped = 0;
	for (unsigned i = 0; i < c->port_count; i++)
		dropped += dropped_of(c, c->ports[i]);
	return json_pack("{s:I, s:I, s:I, s:s}", "packets", (json_int_t)c->packets, "bytes",
		(json_int_t)c->bytes, "dropped", (json_int_t)dropped, "ended_by", c->ended_by);
}

void ops_capture_stop(struct ops_capture *c)
{
	if (c->env == NULL)
		return;
	capture_stop(&c->env->seg->capture);
	c->env = NULL;
}
