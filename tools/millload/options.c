#include "tools/millload/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char options_help[] =
	"millload: loads an HTTP server or a UDP service, and tells how it did\n"
	"\n"
	"usage: millload [options] URL...\n"
	"  URL is http://ADDRESS[:PORT]/PATH or udp://ADDRESS:PORT; connections are spread over "
	"several\n"
	"\n"
	"load\n"
	"  -c, --connections N    at the same time; datagrams waited for at the same time (64)\n"
	"  -p, --pipeline N       requests in flight on each connection (1)\n"
	"      --per-request      a connection for each request\n"
	"  -r, --rate N           open loop: N requests/s, latency from the time each was meant to "
	"leave;\n"
	"                         without it a closed loop: as fast as answers come\n"
	"  -d, --duration S       seconds of measuring (10; with --requests 3600)\n"
	"  -n, --requests N       end after so many requests\n"
	"  -w, --warmup S         seconds before measuring (0)\n"
	"      --timeout MS       without a byte of an answer (5000)\n"
	"      --idle N           open N more connections first, that stay silent\n"
	"      --source LIST      local addresses: A,B-C,...\n"
	"\n"
	"HTTP\n"
	"      --method M         GET, HEAD, POST, PUT or DELETE (GET)\n"
	"  -H, --header 'K: V'    one more field\n"
	"      --body FILE        what to send with each request\n"
	"      --expect-status N  the only good status (200)\n"
	"      --expect-length N  the only good length (that of the first answer)\n"
	"      --expect-body FILE compare each answer with it\n"
	"\n"
	"UDP\n"
	"      --payload BYTES    of each datagram (64)\n"
	"      --one-way          expect no echo\n"
	"\n"
	"network\n"
	"      --backend B        host (Linux sockets) or dpdk (host)\n"
	"      --lcore CPU        run on this CPU\n"
	"      --vdev DEVICE      dpdk: a PCI address or a virtual device, as "
	"net_memif0,role=client,...\n"
	"      --address A/BITS   dpdk: our address, or a range B-C/BITS of them\n"
	"      --gateway A        dpdk: where the rest of the world is\n"
	"      --mtu BYTES        dpdk: largest IP packet (1500)\n"
	"      --mbufs N          dpdk: packet buffers (32768)\n"
	"\n"
	"output\n"
	"      --json             the result as one JSON document\n"
	"  -q, --quiet            no line per second\n"
	"      --help, --version\n"
	"\n"
	"Exit codes: 0 all requests answered as expected, 1 some were not, 2 wrong usage, 3 "
	"nothing could be sent.\n";

enum {
	OPT_PER_REQUEST = 256,
	OPT_TIMEOUT,
	OPT_IDLE,
	OPT_SOURCE,
	OPT_METHOD,
	OPT_BODY,
	OPT_EXPECT_STATUS,
	OPT_EXPECT_LENGTH,
	OPT_EXPECT_BODY,
	OPT_PAYLOAD,
	OPT_ONE_WAY,
	OPT_BACKEND,
	OPT_LCORE,
	OPT_VDEV,
	OPT_ADDRESS,
	OPT_GATEWAY,
	OPT_MTU,
	OPT_MBUFS,
	OPT_JSON,
	OPT_HELP,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{"connections", required_argument, NULL, 'c'},
	{"pipeline", required_argument, NULL, 'p'},
	{"per-request", no_argument, NULL, OPT_PER_REQUEST},
	{"rate", required_argument, NULL, 'r'},
	{"duration", required_argument, NULL, 'd'},
	{"requests", required_argument, NULL, 'n'},
	{"warmup", required_argument, NULL, 'w'},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{"idle", required_argument, NULL, OPT_IDLE},
	{"source", required_argument, NULL, OPT_SOURCE},
	{"method", required_argument, NULL, OPT_METHOD},
	{"header", required_argument, NULL, 'H'},
	{"body", required_argument, NULL, OPT_BODY},
	{"expect-status", required_argument, NULL, OPT_EXPECT_STATUS},
	{"expect-length", required_argument, NULL, OPT_EXPECT_LENGTH},
	{"expect-body", required_argument, NULL, OPT_EXPECT_BODY},
	{"payload", required_argument, NULL, OPT_PAYLOAD},
	{"one-way", no_argument, NULL, OPT_ONE_WAY},
	{"backend", required_argument, NULL, OPT_BACKEND},
	{"lcore", required_argument, NULL, OPT_LCORE},
	{"vdev", required_argument, NULL, OPT_VDEV},
	{"address", required_argument, NULL, OPT_ADDRESS},
	{"gateway", required_argument, NULL, OPT_GATEWAY},
	{"mtu", required_argument, NULL, OPT_MTU},
	{"mbufs", required_argument, NULL, OPT_MBUFS},
	{"json", no_argument, NULL, OPT_JSON},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

/* The whole of `text`, between min and max. */
static bool number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || n < min || n > max)
		return false;
	*out = n;
	return true;
}

static bool number_or_any(const char *text, uint64_t max, int64_t *out)
{
	uint64_t n;
	if (!number(text, 0, max, &n))
		return false;
	*out = (int64_t)n;
	return true;
}

/* Seconds with up to three decimals, as milliseconds. */
static bool seconds(const char *text, uint64_t min_ms, uint64_t *out_ms)
{
	uint64_t ms = 0;
	unsigned decimals = 0;
	bool has_point = false;
	for (const char *at = text; *at != '\0'; at++) {
		if (*at == '.' && !has_point && at != text && at[1] != '\0') {
			has_point = true;
			continue;
		}
		if (*at < '0' || *at > '9' || ms > OPTIONS_SECONDS_MAX * 1000ull ||
			(has_point && ++decimals > 3))
			return false;
		ms = ms * 10 + (uint64_t)(*at - '0');
	}
	for (; decimals < 3; decimals++)
		ms *= 10;
	*out_ms = ms;
	return *text != '\0' && ms >= min_ms && ms <= OPTIONS_SECONDS_MAX * 1000ull;
}

static bool method(struct options *o, const char *text)
{
	static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "DELETE"};
	for (unsigned i = 0; i < ARRAY_LEN(known); i++) {
		if (strcmp(text, known[i]) == 0) {
			o->method = known[i];
			return true;
		}
	}
	return false;
}

/* A field must not end the head. */
static bool header(struct options *o, const char *text)
{
	if (o->header_count == OPTIONS_HEADERS || strchr(text, ':') == NULL || text[0] == ':' ||
		strpbrk(text, "\r\n") != NULL)
		return false;
	o->headers[o->header_count++] = text;
	return true;
}

static bool backend(struct options *o, const char *text)
{
	o->backend = strcmp(text, "dpdk") == 0 ? OPTIONS_DPDK : OPTIONS_HOST;
	return o->backend == OPTIONS_DPDK || strcmp(text, "host") == 0;
}

/* "10.0.0.2/24" or "10.0.0.2-10.0.0.9/24". They are sources too, unless --source names others. */
static bool address(struct options *o, const char *text)
{
	struct sources range = {0};
	char ips[SOURCES_TEXT_BYTES];
	const char *slash = strchr(text, '/');
	uint64_t bits;
	if (slash == NULL || !number(slash + 1, 1, 128, &bits) ||
		(size_t)(slash - text) >= sizeof(ips))
		return false;
	memcpy(ips, text, (size_t)(slash - text));
	ips[slash - text] = '\0';
	if (sources_add(&range, ips) != 0 || (addr_is_v4(&range.at[0]) && bits > 32))
		return false;
	for (uint32_t i = 0; i < range.count; i++) {
		char ip[ADDR_TEXT];
		if (o->address_count == OPTIONS_ADDRESSES)
			return false;
		addr_print_ip(&range.at[i], ip);
		snprintf(o->addresses[o->address_count++], OPTIONS_ADDRESS_BYTES, "%s/%u", ip,
			(unsigned)bits);
	}
	return true;
}

static bool take_load(struct options *o, int c, const char *arg)
{
	switch (c) {
	case 'c':
		return number(arg, 1, OPTIONS_CONNECTIONS_MAX, &o->connections);
	case 'p':
		return number(arg, 1, OPTIONS_PIPELINE_MAX, &o->pipeline);
	case 'r':
		return number(arg, 1, 1000000000, &o->rate);
	case 'd':
		return seconds(arg, 1, &o->duration_ms);
	case 'n':
		return number(arg, 1, UINT64_MAX / 2, &o->requests);
	case 'w':
		return seconds(arg, 0, &o->warmup_ms);
	case OPT_TIMEOUT:
		return number(arg, 1, 3600000, &o->timeout_ms);
	case OPT_IDLE:
		return number(arg, 0, OPTIONS_IDLE_MAX, &o->idle);
	case OPT_SOURCE:
		return sources_add(&o->sources, arg) == 0;
	default:
		return false;
	}
}

static bool take_protocol(struct options *o, int c, const char *arg)
{
	switch (c) {
	case OPT_METHOD:
		return method(o, arg);
	case 'H':
		return header(o, arg);
	case OPT_BODY:
		o->body = arg;
		return true;
	case OPT_EXPECT_STATUS:
		return number_or_any(arg, 599, &o->expect_status) && o->expect_status >= 200;
	case OPT_EXPECT_LENGTH:
		return number_or_any(arg, 1ull << 40, &o->expect_length);
	case OPT_EXPECT_BODY:
		o->expect_body = arg;
		return true;
	case OPT_PAYLOAD:
		return number(arg, OPTIONS_PAYLOAD_MIN, OPTIONS_PAYLOAD_MAX, &o->payload);
	default:
		return take_load(o, c, arg);
	}
}

static bool take_network(struct options *o, int c, const char *arg)
{
	struct cidr gateway;
	switch (c) {
	case OPT_BACKEND:
		return backend(o, arg);
	case OPT_LCORE:
		return number_or_any(arg, 1023, &o->lcore);
	case OPT_VDEV:
		o->vdev = arg;
		return true;
	case OPT_ADDRESS:
		return address(o, arg);
	case OPT_GATEWAY:
		o->gateway = arg;
		return strchr(arg, '/') == NULL && cidr_parse(&gateway, arg) == 0;
	case OPT_MTU:
		return number(arg, 576, 9216, &o->mtu);
	case OPT_MBUFS:
		return number(arg, 4096, 4194304, &o->mbufs);
	default:
		return take_protocol(o, c, arg);
	}
}

static bool take_option(struct options *o, int c, const char *arg)
{
	switch (c) {
	case OPT_PER_REQUEST:
		return o->is_per_request = true;
	case OPT_ONE_WAY:
		return o->is_one_way = true;
	case OPT_JSON:
		return o->is_json = true;
	case 'q':
		return o->is_quiet = true;
	case OPT_HELP:
		return o->is_help = true;
	case OPT_VERSION:
		return o->is_version = true;
	default:
		return take_network(o, c, arg);
	}
}

/* The name of an option, as people write it. */
static const char *name_of(int c)
{
	for (const struct option *o = long_options; o->name != NULL; o++) {
		if (o->val == c)
			return o->name;
	}
	return "?";
}

static bool take_options(struct options *o, int argc, char **argv, char *why, size_t why_size)
{
	optind = 0; /* a fresh scan, also for a second call */
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, ":c:p:r:d:n:w:H:q", long_options, NULL)) != -1;) {
		if (c == '?' || c == ':') {
			snprintf(why, why_size, "%s %s",
				c == ':' ? "a value is missing after" : "unknown option",
				argv[optind - 1]);
			return false;
		}
		if (!take_option(o, c, optarg)) {
			snprintf(why, why_size, "%s is not a good value for --%s", optarg,
				name_of(c));
			return false;
		}
	}
	return true;
}

static bool take_targets(struct options *o, int argc, char **argv, char *why, size_t why_size)
{
	for (int i = optind; i < argc; i++) {
		if (o->target_count == OPTIONS_TARGETS) {
			snprintf(why, why_size, "at most %d URLs", OPTIONS_TARGETS);
			return false;
		}
		if (target_parse(&o->targets[o->target_count++], argv[i]) != 0) {
			snprintf(why, why_size,
				"%s is not http://ADDRESS[:PORT]/PATH or udp://ADDRESS:PORT",
				argv[i]);
			return false;
		}
	}
	return true;
}

/* What does not go together; NULL: nothing. */
static const char *conflict(const struct options *o)
{
	if (o->target_count == 0)
		return "a URL is missing";
	bool is_v4 = addr_is_v4(&o->targets[0].at);
	bool is_udp = o->targets[0].is_udp;
	for (unsigned i = 1; i < o->target_count; i++) {
		if (addr_is_v4(&o->targets[i].at) != is_v4 || o->targets[i].is_udp != is_udp)
			return "the URLs must be of one kind: http or udp, IPv4 or IPv6";
	}
	for (uint32_t i = 0; i < o->sources.count; i++) {
		if (addr_is_v4(&o->sources.at[i]) != is_v4)
			return "--source has addresses of another family than the URL";
	}
	if (is_udp && (o->is_per_request || o->pipeline != 1 || o->idle != 0))
		return "--per-request, --pipeline and --idle are for http";
	if (!is_udp && o->is_one_way)
		return "--one-way is for udp";
	if (o->is_per_request && o->pipeline != 1)
		return "--per-request and --pipeline exclude each other";
	if (o->backend == OPTIONS_DPDK && (o->vdev == NULL || o->address_count == 0))
		return "--backend dpdk needs --vdev and --address";
	if (o->backend == OPTIONS_HOST &&
		(o->vdev != NULL || o->address_count != 0 || o->gateway != NULL))
		return "--vdev, --address and --gateway are for --backend dpdk";
	return NULL;
}

/* Without --source, the addresses of the port that can reach the target. */
static void default_sources(struct options *o)
{
	if (o->sources.count != 0 || o->target_count == 0)
		return;
	bool is_v4 = addr_is_v4(&o->targets[0].at);
	for (unsigned i = 0; i < o->address_count; i++) {
		char ip[OPTIONS_ADDRESS_BYTES];
		snprintf(ip, sizeof(ip), "%s", o->addresses[i]);
		*strchr(ip, '/') = '\0';
		int rc = sources_add(&o->sources, ip);
		MUST(rc == 0);
		if (addr_is_v4(&o->sources.at[o->sources.count - 1]) != is_v4)
			o->sources.count--;
	}
}

bool options_parse(struct options *o, int argc, char **argv, char *why, size_t why_size)
{
	*o = (struct options){
		.connections = 64,
		.pipeline = 1,
		.timeout_ms = 5000,
		.method = "GET",
		.expect_status = 200,
		.expect_length = OPTIONS_ANY,
		.payload = 64,
		.lcore = OPTIONS_ANY,
		.mtu = 1500,
		.mbufs = 32768,
	};
	if (!take_options(o, argc, argv, why, why_size))
		return false;
	if (o->is_help || o->is_version)
		return true;
	if (!take_targets(o, argc, argv, why, why_size))
		return false;
	default_sources(o);
	if (o->duration_ms == 0)
		o->duration_ms = o->requests != 0 ? 3600000 : 10000;
	const char *wrong = conflict(o);
	if (wrong != NULL)
		snprintf(why, why_size, "%s", wrong);
	return wrong == NULL;
}
