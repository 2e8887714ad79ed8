#include "tools/millctl/doctor_parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TCP_STATE_LISTEN = 0x0a };

bool doctor_parse_meminfo(const char *text, const char *key, uint64_t *out)
{
	size_t len = strlen(key);
	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0 && line[len] == ':') {
			char *end;
			*out = strtoull(line + len + 1, &end, 10);
			return end != line + len + 1;
		}
	}
	return false;
}

bool doctor_parse_kernel(const char *text, unsigned *major, unsigned *minor)
{
	return sscanf(text, "%u.%u", major, minor) == 2;
}

bool doctor_parse_has_word(const char *cmdline, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = cmdline; (at = strstr(at, word)) != NULL; at += len) {
		bool starts = at == cmdline || isspace((unsigned char)at[-1]);
		if (starts && (at[len] == '\0' || isspace((unsigned char)at[len])))
			return true;
	}
	return false;
}

/* The kernel writes an address as words of its own byte order: 0100007F is 127.0.0.1. */
static bool parse_local(const char *text, struct addr *out)
{
	const char *colon = strchr(text, ':');
	size_t digits = colon != NULL ? (size_t)(colon - text) : 0;
	if (digits != 8 && digits != 32)
		return false;
	memset(out, 0, sizeof(*out));
	uint8_t *ip = out->ip;
	if (digits == 8) {
		ip[10] = ip[11] = 0xff;
		ip += 12;
	}
	for (size_t word = 0; word < digits / 8; word++) {
		char hex[9];
		snprintf(hex, sizeof(hex), "%.8s", text + word * 8);
		uint32_t value = (uint32_t)strtoul(hex, NULL, 16);
		memcpy(ip + word * 4, &value, 4);
	}
	out->port = (uint16_t)strtoul(colon + 1, NULL, 16);
	return true;
}

static bool is_any(const struct addr *a)
{
	static const uint8_t any4[16] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t any6[16] = {0};
	return memcmp(a->ip, any4, 16) == 0 || memcmp(a->ip, any6, 16) == 0;
}

bool doctor_parse_is_listening(const char *text, const struct addr *want)
{
	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		char local[48];
		unsigned state;
		struct addr have;
		if (sscanf(line, " %*u: %47s %*s %x", local, &state) != 2)
			continue;
		if (state != TCP_STATE_LISTEN || !parse_local(local, &have) ||
			have.port != want->port)
			continue;
		if (is_any(&have) || is_any(want) || memcmp(have.ip, want->ip, 16) == 0)
			return true;
	}
	return false;
}
