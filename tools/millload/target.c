#include "tools/millload/target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A path goes into a request line: printable ASCII without blanks. */
static bool is_path(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text <= ' ' || *text > '~' || *text == '#')
			return false;
	}
	return true;
}

static int parse_host(struct target *out, const char *text, size_t len)
{
	char full[TARGET_HOST_BYTES + 4];
	if (len == 0 || len >= TARGET_HOST_BYTES)
		return -EINVAL;
	memcpy(out->host, text, len);
	out->host[len] = '\0';
	const char *after = strchr(out->host, ']');
	bool has_port = strchr(after != NULL ? after : out->host, ':') != NULL;
	if (!has_port && out->is_udp)
		return -EINVAL;
	snprintf(full, sizeof(full), "%s%s", out->host, has_port ? "" : ":80");
	if (addr_parse(&out->at, full) != 0 || out->at.port == 0)
		return -EINVAL;
	return 0;
}

int target_parse(struct target *out, const char *url)
{
	*out = (struct target){0};
	size_t scheme = 7;
	if (strncmp(url, "udp://", 6) == 0) {
		out->is_udp = true;
		scheme = 6;
	} else if (strncmp(url, "http://", 7) != 0) {
		return -EINVAL;
	}
	const char *host = url + scheme;
	size_t host_len = strcspn(host, "/");
	const char *path = host + host_len;
	if (out->is_udp && *path != '\0')
		return -EINVAL;
	if (strlen(path) >= sizeof(out->path) || !is_path(path))
		return -EINVAL;
	snprintf(out->path, sizeof(out->path), "%s", *path == '\0' ? "/" : path);
	return parse_host(out, host, host_len);
}
