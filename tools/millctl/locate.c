#include "tools/millctl/locate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int locate_conf(struct conf *out, const struct options *o, struct conf_errors *errors)
{
	struct conf_input input = {.path = o->config, .env = environ};
	return conf_load(out, NULL, &input, errors);
}

bool locate_keep_node(char *text)
{
	bool is_node = false, is_found = false;
	for (char *line = text; *line != '\0';) {
		size_t len = strcspn(line, "\n");
		bool is_top = len > 0 && line[0] != ' ' && line[0] != '\t' && line[0] != '#';
		if (is_top)
			is_node = strncmp(line, "node:", 5) == 0;
		is_found |= is_node;
		if (!is_node)
			memset(line, ' ', len);
		line += len + (line[len] == '\n');
	}
	return is_found;
}

/* The node section of a file that does not load as a whole. */
static int load_node_section(struct conf *out, const char *path)
{
	struct conf_errors ignored;
	FILE *f = fopen(path, "re");
	char *text = calloc(1, LIMIT_CONF_FILE_BYTES + 1);
	int err = -EINVAL;
	if (f != NULL && text != NULL) {
		size_t len = fread(text, 1, LIMIT_CONF_FILE_BYTES, f);
		if (len < LIMIT_CONF_FILE_BYTES && strlen(text) == len && locate_keep_node(text))
			err = conf_load_text(out, NULL, text, len, path, &ignored);
	}
	if (f != NULL)
		fclose(f);
	free(text);
	return err;
}

int locate_socket(char out[OPS_PATH], const struct options *o, struct conf_errors *errors)
{
	struct conf conf;
	const char *node = o->node, *run_dir = o->run_dir;
	errors->count = 0;
	if (o->socket != NULL) {
		if (snprintf(out, OPS_PATH, "%s", o->socket) < OPS_PATH)
			return 0;
		errors->count = 1;
		snprintf(errors->text[0], CONF_ERROR_TEXT,
			"--socket is longer than a socket path can be");
		return -EINVAL;
	}
	if (node == NULL || run_dir == NULL) {
		int err = locate_conf(&conf, o, errors);
		if (err != 0 && o->config != NULL)
			err = load_node_section(&conf, o->config);
		if (err != 0)
			return err;
		node = node != NULL ? node : conf.node_name;
		run_dir = run_dir != NULL ? run_dir : conf.node_run_dir;
	}
	if (ops_path(out, run_dir, node) == 0)
		return 0;
	errors->count = 1;
	snprintf(errors->text[0], CONF_ERROR_TEXT,
		"--run-dir and --node are too long for a socket path");
	return -EINVAL;
}
