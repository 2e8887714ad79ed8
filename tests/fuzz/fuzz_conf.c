/* fuzz_conf: any bytes as a configuration file. They are refused with at least one reason, or
 * read; and what was read, printed and read again, is the same. */
#include <stdio.h>
#include <string.h>

#include "lib/conf/conf.h"

enum { TEXT_SIZE = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t print_all(const struct conf *c, char text[TEXT_SIZE])
{
	size_t used = 0;
	const char *section = "";
	for (unsigned i = 0; i < conf_key_count; i++) {
		const struct conf_key *key = &conf_keys[i];
		if (strcmp(section, key->section) != 0)
			used += (size_t)snprintf(
				text + used, TEXT_SIZE - used, "%s:\n", key->section);
		section = key->section;
		used += (size_t)snprintf(text + used, TEXT_SIZE - used, "  %s: ", key->key);
		used += (size_t)conf_print(c, key, text + used, TEXT_SIZE - used);
		used += (size_t)snprintf(text + used, TEXT_SIZE - used, "\n");
		MUST(used < TEXT_SIZE);
	}
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct conf first, second;
	static struct conf_errors errors;
	char text[TEXT_SIZE];
	if (size > LIMIT_CONF_FILE_BYTES)
		return 0;
	if (conf_load_text(&first, NULL, (const char *)data, size, "fuzz", &errors) != 0) {
		MUST(errors.count > 0 && errors.count <= CONF_ERRORS_MAX);
		for (unsigned i = 0; i < errors.count; i++)
			MUST(strncmp(errors.text[i], "fuzz", 4) == 0 ||
				strncmp(errors.text[i], "default", 7) == 0);
		return 0;
	}
	size_t used = print_all(&first, text);
	MUST(conf_load_text(&second, NULL, text, used, "printed", &errors) == 0);
	MUST(memcmp(&first, &second, sizeof(first)) == 0);
	return 0;
}
