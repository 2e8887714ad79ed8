#include "lib/conf/conf_flags.h"

#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/version.h"

static void print_help(const char *program, const char *about)
{
	printf("%s: %s\n\n"
	       "usage: %s [--config FILE] [--set section.key=value]...\n\n"
	       "  --config FILE            the configuration, YAML; without it the file that "
	       "MILLRACE_CONFIG names,\n"
	       "                           else all keys have their defaults\n"
	       "  --set section.key=value  one key, before file and environment "
	       "(MILLRACE_SECTION_KEY)\n"
	       "  --help                   this text\n"
	       "  --version                the version\n",
		program, about, program);
}

static enum conf_flags_verdict refuse(const char *program, const char *what, const char *arg)
{
	fprintf(stderr, "%s: %s%s; see %s --help\n", program, what, arg, program);
	return CONF_FLAGS_EXIT_2;
}

enum conf_flags_verdict conf_flags_parse(
	struct conf_flags *f, int argc, char **argv, const char *program, const char *about)
{
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'},
		{"set", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	*f = (struct conf_flags){
		.input = {.path = getenv("MILLRACE_CONFIG"), .env = environ, .sets = f->sets}};
	optind = 1;
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
		if (c == 'c') {
			f->input.path = optarg;
		} else if (c == 's') {
			if (f->input.set_count == CONF_KEYS_MAX)
				return refuse(program, "too many --set", "");
			f->sets[f->input.set_count++] = optarg;
		} else if (c == 'h') {
			print_help(program, about);
			return CONF_FLAGS_EXIT_0;
		} else if (c == 'v') {
			printf("%s %s\n", program, version_string());
			return CONF_FLAGS_EXIT_0;
		} else if (c == ':') {
			return refuse(program, "a value is missing after ", argv[optind - 1]);
		} else {
			return refuse(program, "unknown flag ", argv[optind - 1]);
		}
	}
	if (optind < argc)
		return refuse(program, "unexpected argument ", argv[optind]);
	return CONF_FLAGS_GO;
}

void conf_flags_complain(const char *program, const struct conf_errors *errors)
{
	for (unsigned i = 0; i < errors->count; i++)
		fprintf(stderr, "%s: %s\n", program, errors->text[i]);
}
