#include "lib/conf/conf_rules.h"

#include <string.h>

#include "lib/base/addr.h"
#include "lib/conf/conf_key.h"
#include "lib/conf/conf_route.h"

struct rules {
	const struct conf *c;
	const struct conf_origin *origin;
	const char *file;
	struct conf_errors *errors;
};

static void broken(const struct rules *r, const char *section, const char *name, const char *text)
{
	const struct conf_key *key = conf_key_find(section, name);
	MUST(key);
	unsigned i = conf_key_index(key);
	struct conf_place at = {r->origin->source[i], r->file, r->origin->line[i]};
	conf_error_add_key(r->errors, &at, key, "%s", text);
}

static void check_node(const struct rules *r)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	const char *name = r->c->node_name, *dir = r->c->node_run_dir;
	if (name[0] == '\0' || name[strspn(name, letters)] != '\0')
		broken(r, "node", "name",
			"is not a name; allowed: one or more letters, digits, - and _");
	if (dir[0] != '/')
		broken(r, "node", "run_dir",
			"is not an absolute path; allowed: a path that begins with /");
}

static void check_listen(const struct rules *r)
{
	struct addr exporter, http;
	if (r->c->net_listen.count == 0)
		broken(r, "net", "listen", "is empty; allowed: at least one ADDRESS:PORT");
	if (r->c->net_lcores.count == 0)
		broken(r, "net", "lcores", "is empty; allowed: auto, or at least one CPU number");
	if (r->c->exporter_listen[0] == '\0')
		return;
	if (addr_parse(&exporter, r->c->exporter_listen) != 0) {
		broken(r, "exporter", "listen",
			"is not an address; allowed: ADDRESS:PORT such as 127.0.0.1:9605, or "
			"nothing");
		return;
	}
	for (uint64_t i = 0; i < r->c->net_listen.count; i++) {
		if (addr_parse(&http, r->c->net_listen.items[i]) == 0 && exporter.port != 0 &&
			http.port == exporter.port && memcmp(http.ip, exporter.ip, 16) == 0)
			broken(r, "exporter", "listen",
				"is also in net.listen; allowed: an address of its own");
	}
}

static void check_limits(const struct rules *r)
{
	if (r->c->limits_ip_burst > 0 && r->c->limits_ip_rate == 0)
		broken(r, "limits", "ip_burst",
			"has no limits.ip_rate to go with; allowed: 0, or set limits.ip_rate too");
}

static void check_dpdk(const struct rules *r)
{
	struct conf_route_addr addr;
	struct conf_route route;
	bool is_used = r->c->net_backend == CONF_BACKEND_DPDK;
	if (is_used && r->c->dpdk_ports.count == 0)
		broken(r, "dpdk", "ports",
			"is empty; allowed: at least one device, since net.backend is dpdk");
	if (is_used && r->c->dpdk_addresses.count == 0)
		broken(r, "dpdk", "addresses",
			"is empty; allowed: at least one address, since net.backend is dpdk");
	for (uint64_t i = 0; i < r->c->dpdk_addresses.count; i++) {
		if (conf_route_parse_addr(&addr, r->c->dpdk_addresses.items[i]) != 0)
			broken(r, "dpdk", "addresses",
				"has an item that is no address; allowed: ADDRESS/PREFIX, with "
				"@PORT or "
				"@PORT.VLAN behind it");
		else if (r->c->dpdk_ports.count != 0 && addr.port >= r->c->dpdk_ports.count)
			broken(r, "dpdk", "addresses",
				"names a port that dpdk.ports does not have; allowed: @0 is the "
				"first");
	}
	for (uint64_t i = 0; i < r->c->dpdk_routes.count; i++) {
		if (conf_route_parse(&route, r->c->dpdk_routes.items[i]) != 0)
			broken(r, "dpdk", "routes",
				"has an item that is no route; allowed: NETWORK/PREFIX via "
				"ADDRESS");
	}
}

void conf_rules_check(const struct conf *c, const struct conf_origin *origin, const char *file_name,
	struct conf_errors *errors)
{
	struct rules r = {c, origin, file_name, errors};
	bool is_whole = errors->count == 0;
	check_node(&r);
	check_listen(&r);
	check_dpdk(&r);
	/* Between keys only when each is right by itself: a refused one still has its default. */
	if (is_whole)
		check_limits(&r);
}
