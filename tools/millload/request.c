#include "tools/millload/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_open_file(struct span *out, FILE *f)
{
	uint8_t *data = malloc(REQUEST_FILE_BYTES + 1);
	if (data == NULL)
		return -ENOMEM;
	size_t len = fread(data, 1, REQUEST_FILE_BYTES + 1, f);
	int rc = ferror(f) ? -EIO : len > REQUEST_FILE_BYTES ? -EFBIG : 0;
	if (rc != 0) {
		free(data);
		return rc;
	}
	*out = (struct span){data, len};
	return 0;
}

int request_read_file(struct span *out, const char *path, char *why, size_t why_size)
{
	FILE *f = fopen(path, "rb");
	int rc = f == NULL ? -errno : read_open_file(out, f);
	if (f != NULL)
		fclose(f);
	if (rc != 0)
		snprintf(why, why_size, "%s: %s", path, strerror(-rc));
	return rc;
}

int request_build(
	struct span *out, const struct options *o, const struct target *target, struct span body)
{
	char *data = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&data, &len);
	if (f == NULL)
		return -ENOMEM;
	fprintf(f, "%s %s HTTP/1.1\r\nHost: %s\r\n", o->method, target->path, target->host);
	for (unsigned i = 0; i < o->header_count; i++)
		fprintf(f, "%s\r\n", o->headers[i]);
	if (o->is_per_request)
		fprintf(f, "Connection: close\r\n");
	if (body.len != 0 || strcmp(o->method, "PUT") == 0 || strcmp(o->method, "POST") == 0)
		fprintf(f, "Content-Length: %zu\r\n", body.len);
	fprintf(f, "\r\n");
	if (body.len != 0)
		fwrite(body.data, 1, body.len, f);
	if (fclose(f) != 0) {
		free(data);
		return -ENOMEM;
	}
	*out = (struct span){(const uint8_t *)data, len};
	return 0;
}
