#include "lib/conf/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/conf/conf_rules.h"
#include "lib/conf/conf_yaml.h"

static void set_defaults(struct conf *out, struct conf_origin *origin)
{
	memset(out, 0, sizeof(*out));
	memset(origin, 0, sizeof(*origin));
	for (unsigned i = 0; i < conf_key_count; i++) {
		char why[CONF_WHY];
		struct conf_text text = {conf_keys[i].def, strlen(conf_keys[i].def)};
		MUST(conf_value_set_any(out, &conf_keys[i], text, ' ', why));
	}
}

/* Opens a plain file, without waiting on what is not one. Returns the descriptor, or -1 with an
 * error line. */
static int open_file(const char *path, struct conf_errors *errors)
{
	struct conf_place at = {CONF_FROM_FILE, path, 0};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) != 0) {
		conf_error_add(errors, &at, NULL, "cannot be read: %s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		conf_error_add(errors, &at, NULL, "is %s; allowed: a plain file",
			S_ISDIR(st.st_mode) ? "a directory" : "not a plain file");
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Reads up to `size` bytes. Returns how many, or -errno. */
static ssize_t read_all(int fd, char *out, size_t size)
{
	size_t used = 0;
	while (used < size) {
		ssize_t n = read(fd, out + used, size - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

static void load_file(
	struct conf *out, struct conf_origin *origin, const char *path, struct conf_errors *errors)
{
	struct conf_place at = {CONF_FROM_FILE, path, 0};
	int fd = open_file(path, errors);
	if (fd < 0)
		return;
	char *text = malloc(LIMIT_CONF_FILE_BYTES + 1);
	ssize_t len = text ? read_all(fd, text, LIMIT_CONF_FILE_BYTES + 1) : -ENOMEM;
	close(fd);
	if (len < 0)
		conf_error_add(errors, &at, NULL, "cannot be read: %s", strerror((int)-len));
	else if (len > LIMIT_CONF_FILE_BYTES)
		conf_error_add(errors, &at, NULL, "is too large; allowed: up to %d bytes",
			LIMIT_CONF_FILE_BYTES);
	else
		conf_yaml_read(out, origin, (struct conf_text){text, (size_t)len}, path, errors);
	free(text);
}

static void apply(struct conf *out, struct conf_origin *origin, const struct conf_key *key,
	struct conf_text text, enum conf_source source, struct conf_errors *errors)
{
	char why[CONF_WHY];
	struct conf_place at = {source, NULL, 0};
	origin->source[conf_key_index(key)] = (uint8_t)source;
	if (!conf_value_set_any(out, key, text, ',', why))
		conf_error_add_key(errors, &at, key, "%s", why);
}

static const struct conf_key *key_of_variable(struct conf_text name)
{
	char candidate[CONF_ENV_NAME];
	for (unsigned i = 0; i < conf_key_count; i++) {
		conf_key_env_name(&conf_keys[i], candidate);
		if (strlen(candidate) == name.len && memcmp(candidate, name.data, name.len) == 0)
			return &conf_keys[i];
	}
	return NULL;
}

static void load_variable(
	struct conf *out, struct conf_origin *origin, const char *entry, struct conf_errors *errors)
{
	static const char prefix[] = "MILLRACE_", not_a_key[] = "MILLRACE_CONFIG";
	struct conf_place at = {CONF_FROM_ENV, NULL, 0};
	if (strncmp(entry, prefix, sizeof(prefix) - 1) != 0)
		return;
	struct conf_text name = {entry, strcspn(entry, "=")};
	if (name.len == sizeof(not_a_key) - 1 && memcmp(entry, not_a_key, name.len) == 0)
		return;
	const char *value = entry[name.len] == '=' ? entry + name.len + 1 : "";
	const struct conf_key *key = key_of_variable(name);
	if (key)
		apply(out, origin, key, (struct conf_text){value, strlen(value)}, CONF_FROM_ENV,
			errors);
	else
		conf_key_refuse_env(errors, &at, name);
}

static void load_set(
	struct conf *out, struct conf_origin *origin, const char *set, struct conf_errors *errors)
{
	struct conf_place at = {CONF_FROM_FLAG, NULL, 0};
	const char *equals = strchr(set, '=');
	const char *dot = equals ? memchr(set, '.', (size_t)(equals - set)) : NULL;
	if (!dot) {
		char quoted[CONF_QUOTE];
		conf_error_add(errors, &at, NULL, "%s is not a setting; allowed: section.key=value",
			conf_error_quote(quoted, set, strlen(set)));
		return;
	}
	struct conf_text section = {set, (size_t)(dot - set)};
	struct conf_text name = {dot + 1, (size_t)(equals - dot - 1)};
	const struct conf_key *key = conf_key_find_text(section, name);
	if (key)
		apply(out, origin, key, (struct conf_text){equals + 1, strlen(equals + 1)},
			CONF_FROM_FLAG, errors);
	else if (conf_key_find_section(section))
		conf_key_refuse(errors, &at, section, name);
	else
		conf_key_refuse_section(errors, &at, section);
}

int conf_load(struct conf *out, struct conf_origin *origin, const struct conf_input *in,
	struct conf_errors *errors)
{
	struct conf_origin own;
	struct conf_origin *from = origin ? origin : &own;
	errors->count = 0;
	set_defaults(out, from);
	if (in->path)
		load_file(out, from, in->path, errors);
	for (char *const *entry = in->env; entry && *entry; entry++)
		load_variable(out, from, *entry, errors);
	for (unsigned i = 0; i < in->set_count; i++)
		load_set(out, from, in->sets[i], errors);
	conf_rules_check(out, from, in->path, errors);
	return errors->count ? -EINVAL : 0;
}

int conf_load_text(struct conf *out, struct conf_origin *origin, const char *text, size_t len,
	const char *file_name, struct conf_errors *errors)
{
	struct conf_origin own;
	struct conf_origin *from = origin ? origin : &own;
	errors->count = 0;
	set_defaults(out, from);
	conf_yaml_read(out, from, (struct conf_text){text, len}, file_name, errors);
	conf_rules_check(out, from, file_name, errors);
	return errors->count ? -EINVAL : 0;
}

int conf_check_reload(
	const struct conf *running, const struct conf *next, struct conf_errors *errors)
{
	errors->count = 0;
	for (unsigned i = 0; i < conf_key_count; i++) {
		const struct conf_key *key = &conf_keys[i];
		char was[CONF_QUOTE], is[CONF_QUOTE];
		if (key->is_hot || conf_key_equals(running, next, key))
			continue;
		if (errors->count == CONF_ERRORS_MAX)
			break;
		conf_print(running, key, was, sizeof(was));
		conf_print(next, key, is, sizeof(is));
		snprintf(errors->text[errors->count++], CONF_ERROR_TEXT,
			"%s.%s: needs a restart: running %s, asked for %s", key->section, key->key,
			was, is);
	}
	return errors->count ? -EBUSY : 0;
}
