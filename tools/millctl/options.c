#include "tools/millctl/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

const char options_help[] =
	"  --json           one JSON document (lines, where something goes on) instead of text\n"
	"  --config FILE    find the node by its configuration; MILLRACE_CONFIG does the same\n"
	"  --node NAME      the node's name, node.name\n"
	"  --run-dir DIR    the directory of its ops socket, node.run_dir\n"
	"  --socket PATH    the ops socket itself\n"
	"  --help           this text\n"
	"  --version        the version\n";

static const struct option long_options[] = {
	{"json", no_argument, NULL, 'j'},
	{"config", required_argument, NULL, 'c'},
	{"node", required_argument, NULL, 'N'},
	{"run-dir", required_argument, NULL, 'r'},
	{"socket", required_argument, NULL, 's'},
	{"count", required_argument, NULL, 'n'},
	{"follow", no_argument, NULL, 'f'},
	{"wait", no_argument, NULL, 'w'},
	{"seconds", required_argument, NULL, 'S'},
	{"packets", required_argument, NULL, 'P'},
	{"filter", required_argument, NULL, 'F'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'v'},
	{NULL, 0, NULL, 0},
};

static bool parse_count(struct options *o, enum option_flag flag, uint32_t *out, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || n < 1 || n > UINT32_MAX)
		return false;
	*out = (uint32_t)n;
	o->given |= flag;
	return true;
}

static bool take_option(struct options *o, int c)
{
	switch (c) {
	case 'j':
		o->is_json = true;
		return true;
	case 'c':
		o->config = optarg;
		return true;
	case 'N':
		o->node = optarg;
		return true;
	case 'r':
		o->run_dir = optarg;
		return true;
	case 's':
		o->socket = optarg;
		return true;
	case 'n':
		return parse_count(o, OPTION_COUNT, &o->count, optarg);
	case 'S':
		return parse_count(o, OPTION_SECONDS, &o->seconds, optarg);
	case 'P':
		return parse_count(o, OPTION_PACKETS, &o->packets, optarg);
	case 'F':
		o->given |= OPTION_FILTER;
		o->filter = optarg;
		return true;
	case 'f':
		o->given |= OPTION_FOLLOW;
		return true;
	case 'w':
		o->given |= OPTION_WAIT;
		return true;
	case 'h':
		o->is_help = true;
		return true;
	case 'v':
		o->is_version = true;
		return true;
	default:
		return false;
	}
}

bool options_parse(struct options *o, int argc, char **argv, char *why, size_t why_size)
{
	*o = (struct options){.config = getenv("MILLRACE_CONFIG")};
	optind = 0; /* a fresh scan, also for a second call */
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, ":n:fh", long_options, NULL)) != -1;) {
		if (take_option(o, c))
			continue;
		bool is_number = c == 'n' || c == 'S' || c == 'P';
		const char *what = c == ':'    ? "a value is missing after"
				   : is_number ? "a number of at least 1 is needed, not"
					       : "unknown option";
		snprintf(why, why_size, "%s %s", what, is_number ? optarg : argv[optind - 1]);
		return false;
	}
	for (int i = optind; i < argc; i++) {
		if (o->word_count == ARRAY_LEN(o->words)) {
			snprintf(why, why_size, "unexpected argument %s", argv[i]);
			return false;
		}
		o->words[o->word_count++] = argv[i];
	}
	return true;
}
