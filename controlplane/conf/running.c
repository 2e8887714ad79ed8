#include "controlplane/conf/running.h"

#include <errno.h>
#include <stdio.h>

#include "controlplane/bus/bus.h"
#include "lib/log/log.h"

int running_load(struct running *r, const struct conf_input *input, struct conf_errors *errors)
{
	*r = (struct running){.input = *input};
	return conf_load(&r->conf, &r->origin, &r->input, errors);
}

void running_publish(struct running *r, struct seg *seg)
{
	r->version = snap_publish(seg_conf(seg), &r->conf);
}

static void list_changes(const struct conf *a, const struct conf *b, struct running_change *out)
{
	MUST(conf_key_count <= CONF_KEYS_MAX);
	for (unsigned i = 0; i < conf_key_count; i++) {
		if (!conf_key_equals(a, b, &conf_keys[i]))
			out->keys[out->count++] = (uint8_t)i;
	}
}

void running_diff(const struct running *r, struct conf *next, struct running_change *out)
{
	*out = (struct running_change){.verdict = RUNNING_BAD};
	if (conf_load(next, NULL, &r->input, &out->errors) != 0)
		return;
	list_changes(&r->conf, next, out);
	out->verdict = out->count > 0 ? RUNNING_CHANGED : RUNNING_SAME;
}

static void print_keys(const struct running_change *change, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (unsigned i = 0; i < change->count && used < size; i++) {
		const struct conf_key *k = &conf_keys[change->keys[i]];
		int n = snprintf(
			out + used, size - used, "%s%s.%s", i > 0 ? ", " : "", k->section, k->key);
		used += n > 0 ? (size_t)n : 0;
	}
}

static void tell_refused(struct seg *seg, const struct conf_errors *errors)
{
	bus_emit(seg, EVENT_CONFIG_REFUSED, "%s", errors->text[0]);
	for (unsigned i = 0; i < errors->count; i++)
		LOG(ERROR, "reload refused: %s", errors->text[i]);
}

static void tell_changed(
	struct seg *seg, const struct running *r, const struct running_change *change)
{
	char keys[LIMIT_EVENT_TEXT_BYTES];
	print_keys(change, keys, sizeof(keys));
	bus_emit(seg, EVENT_CONFIG_CHANGED, "%s", keys);
	LOG(INFO, "configuration version %llu is in use; changed: %s",
		(unsigned long long)r->version, keys);
}

void running_reload(struct running *r, struct seg *seg, struct running_change *out)
{
	struct conf next;
	struct conf_origin origin;
	*out = (struct running_change){.verdict = RUNNING_BAD};
	if (conf_load(&next, &origin, &r->input, &out->errors) != 0) {
		tell_refused(seg, &out->errors);
		return;
	}
	if (conf_check_reload(&r->conf, &next, &out->errors) != 0) {
		out->verdict = RUNNING_RESTART;
		tell_refused(seg, &out->errors);
		return;
	}
	list_changes(&r->conf, &next, out);
	r->origin = origin;
	if (out->count == 0) {
		out->verdict = RUNNING_SAME;
		LOG(INFO, "reload: nothing changed");
		return;
	}
	out->verdict = RUNNING_CHANGED;
	r->conf = next;
	running_publish(r, seg);
	log_set_level((enum log_level)next.log_level);
	tell_changed(seg, r, out);
}
