#include "controlplane/metrics/exporter.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "controlplane/metrics/exposition.h"
#include "controlplane/metrics/readiness.h"
#include "lib/base/addr.h"
#include "lib/base/version.h"
#include "lib/clock/clock.h"
#include "lib/log/log.h"

enum {
	RETRY_MS = 1000,
	TURNS_MAX = 16, /* of MHD_run in a row, so that one busy scraper cannot hold the loop */
	CONN_MEMORY = 16384,
	BACKLOG = 64,
};

#define TYPE_TEXT "text/plain; version=0.0.4; charset=utf-8"
#define TYPE_JSON "application/json"

/* Sends `body`, which is copied. `retry_s` 0: no Retry-After. `corr_id` NULL: no X-Corr-ID. */
static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, const char *type,
	const char *body, size_t len, uint64_t retry_s, const char *corr_id)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(len, (void *)body, MHD_RESPMEM_MUST_COPY);
	if (r == NULL)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (corr_id != NULL)
		MHD_add_response_header(r, "X-Corr-ID", corr_id);
	if (retry_s != 0) {
		char text[24];
		snprintf(text, sizeof(text), "%llu", (unsigned long long)retry_s);
		MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, text);
	}
	enum MHD_Result result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

static bool is_corr_id(const char *text)
{
	size_t len = strlen(text);
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	return len > 0 && len <= LIMIT_HTTP_CORR_ID_BYTES && strspn(text, allowed) == len;
}

static void choose_corr_id(struct MHD_Connection *c, char out[LIMIT_HTTP_CORR_ID_BYTES + 1])
{
	const char *given = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "X-Corr-ID");
	if (given != NULL && is_corr_id(given)) {
		snprintf(out, LIMIT_HTTP_CORR_ID_BYTES + 1, "%s", given);
		return;
	}
	uint64_t id[2] = {0, 0};
	if (getrandom(id, sizeof(id), GRND_NONBLOCK) != (ssize_t)sizeof(id))
		id[0] = clock_now_ns();
	snprintf(out, LIMIT_HTTP_CORR_ID_BYTES + 1, "%016llx%016llx", (unsigned long long)id[0],
		(unsigned long long)id[1]);
}

/* every error answer has the same shape. */
static enum MHD_Result reply_error(struct MHD_Connection *c, enum err_id err, const char *message)
{
	char corr_id[LIMIT_HTTP_CORR_ID_BYTES + 1];
	char body[LIMIT_HTTP_ERROR_BODY_BYTES];
	choose_corr_id(c, corr_id);
	int n = snprintf(body, sizeof(body),
		"{\"error\":\"%s\",\"message\":\"%s\",\"corr_id\":\"%s\"}\n", err_infos[err].code,
		message, corr_id);
	return reply(c, err_infos[err].status, TYPE_JSON, body, (size_t)n, 0, corr_id);
}

static enum MHD_Result reply_metrics(struct exporter *x, struct MHD_Connection *c)
{
	struct page page;
	page_init(&page, x->page, LIMIT_EXPORTER_PAGE_BYTES);
	struct exposition e = {.seg = x->seg,
		.sample = x->sample,
		.is_amnesia = x->running->conf.node_amnesia != 0,
		.version = version_string()};
	exposition_print(&page, &e);
	if (page.is_cut) {
		LOG(ERROR, "the metrics do not fit %d bytes", (int)LIMIT_EXPORTER_PAGE_BYTES);
		return reply_error(c, ERR_INTERNAL, "the metrics page is over its limit");
	}
	return reply(c, MHD_HTTP_OK, TYPE_TEXT, page.text, page.len, 0, NULL);
}

static enum MHD_Result reply_ready(struct exporter *x, struct MHD_Connection *c)
{
	struct seg_ready ready;
	readiness_read(&ready, x->seg);
	json_t *json = readiness_json(&ready);
	char *text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	if (text == NULL)
		return MHD_NO;
	enum MHD_Result result = reply(c, ready.ready ? 200 : 503, TYPE_JSON, text, strlen(text),
		ready.ready ? 0 : x->running->conf.http_retry_after_s, NULL);
	free(text);
	return result;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *c, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_len,
	void **state)
{
	(void)version;
	(void)upload;
	(void)upload_len;
	struct exporter *x = user;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return reply_error(c, ERR_METHOD, "GET and HEAD only");
	/* The first call only says that the head is there. */
	if (*state == NULL) {
		*state = x;
		return MHD_YES;
	}
	if (strcmp(url, "/metrics") == 0)
		return reply_metrics(x, c);
	if (strcmp(url, "/readyz") == 0)
		return reply_ready(x, c);
	static const char alive[] = "{\"status\":\"ok\"}";
	if (strcmp(url, "/healthz") == 0)
		return reply(c, MHD_HTTP_OK, TYPE_JSON, alive, sizeof(alive) - 1, 0, NULL);
	return reply_error(c, ERR_NOT_FOUND, "try /metrics, /healthz or /readyz");
}

static void run(struct exporter *x)
{
	MHD_UNSIGNED_LONG_LONG timeout_ms;
	for (int i = 0; i < TURNS_MAX; i++) {
		MHD_run(x->daemon);
		if (MHD_get_timeout(x->daemon, &timeout_ms) != MHD_YES || timeout_ms != 0)
			return;
	}
}

static void on_ready(struct loop_source *source, uint32_t events)
{
	(void)events;
	run(CONTAINER_OF(source, struct exporter, source));
}

static int open_listener(const char *text)
{
	struct addr a;
	if (addr_parse(&a, text) != 0)
		return -EINVAL;
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(a.port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(a.port)};
	memcpy(&v4.sin_addr, a.ip + 12, 4);
	memcpy(&v6.sin6_addr, a.ip, 16);
	bool is_v4 = addr_is_v4(&a);
	const struct sockaddr *sa = is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
	socklen_t sa_len = is_v4 ? sizeof(v4) : sizeof(v6);
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int one = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!is_v4)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, sa, sa_len) != 0 || listen(fd, BACKLOG) != 0) {
		int err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int start_daemon(struct exporter *x, int take_fd)
{
	x->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, x,
		MHD_OPTION_LISTEN_SOCKET, take_fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)LIMIT_EXPORTER_CLIENTS, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)LIMIT_EXPORTER_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONN_MEMORY, MHD_OPTION_END);
	if (x->daemon == NULL) {
		close(take_fd);
		return -ENOMEM;
	}
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(x->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	x->source = (struct loop_source){.fd = info->epoll_fd, .ready = on_ready};
	int err = loop_add(x->loop, &x->source, EPOLLIN);
	if (err != 0) {
		MHD_stop_daemon(x->daemon);
		x->daemon = NULL;
	}
	return err;
}

static void try_start(struct exporter *x, uint64_t now_ns)
{
	const char *listen_on = x->running->conf.exporter_listen;
	x->tried_ns = now_ns;
	int fd = open_listener(listen_on);
	int err = fd < 0 ? fd : start_daemon(x, fd);
	if (err == 0) {
		x->why[0] = '\0';
		LOG(INFO, "metrics on http://%s/metrics", listen_on);
		return;
	}
	if (x->why[0] == '\0')
		LOG(ERROR, "exporter.listen %s: %s; trying again every second", listen_on,
			strerror(-err));
	snprintf(x->why, sizeof(x->why), "%s", strerror(-err));
}

int exporter_init(struct exporter *x, struct loop *loop, struct seg *seg,
	const struct running *running, const struct sample *sample)
{
	*x = (struct exporter){.loop = loop, .seg = seg, .running = running, .sample = sample};
	if (running->conf.exporter_listen[0] == '\0')
		return 0;
	x->page = malloc(LIMIT_EXPORTER_PAGE_BYTES);
	if (x->page == NULL)
		return -ENOMEM;
	try_start(x, clock_now_ns());
	return 0;
}

void exporter_fini(struct exporter *x)
{
	if (x->daemon != NULL) {
		loop_remove(x->loop, &x->source);
		MHD_stop_daemon(x->daemon);
		x->daemon = NULL;
	}
	free(x->page);
	x->page = NULL;
}

void exporter_tick(struct exporter *x, uint64_t now_ns)
{
	if (x->daemon != NULL)
		run(x);
	else if (x->page != NULL && now_ns - x->tried_ns >= RETRY_MS * NS_PER_MS)
		try_start(x, now_ns);
}

bool exporter_is_up(const struct exporter *x)
{
	return x->daemon != NULL;
}
