/* millctl: asks a node, and tells it things, over its ops socket (N-4). docs/millctl.md */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/version.h"
#include "tools/millctl/commands.h"

enum { WORDS_TEXT = 64 };

/* "config check FILE" */
static const char *words_of(const struct command *c, char out[WORDS_TEXT])
{
	snprintf(out, WORDS_TEXT, "%s%s%s%s%s", c->name, c->sub != NULL ? " " : "",
		c->sub != NULL ? c->sub : "", c->arg != NULL ? " " : "",
		c->arg != NULL ? c->arg : "");
	return out;
}

static void print_help(void)
{
	printf("millctl: asks a Millrace node, and tells it things\n\nusage: millctl [options] "
	       "COMMAND\n\n");
	char words[WORDS_TEXT];
	for (unsigned i = 0; i < command_count; i++)
		printf("  %-18s %s\n", words_of(&commands[i], words), commands[i].summary);
	printf("\n%s\nmillctl COMMAND --help tells more. "
	       "Exit codes: 0 good, 1 a negative answer, 2 wrong usage or\n"
	       "configuration, 3 no node answers, 4 the node refused.\n",
		options_help);
}

static void print_command_help(const struct command *c)
{
	char words[WORDS_TEXT];
	printf("millctl %s: %s\n", words_of(c, words), c->summary);
	if (c->details != NULL)
		printf("%s\n", c->details);
	printf("\n%s", options_help);
}

static enum exit_code refuse(const char *why)
{
	fprintf(stderr, "millctl: %s; see millctl --help\n", why);
	return EXIT_CODE_USAGE;
}

int main(int argc, char **argv)
{
	struct options o;
	char why[256];
	/* A reader that went away ends us as it ends every filter. */
	signal(SIGPIPE, SIG_DFL);
	if (!options_parse(&o, argc, argv, why, sizeof(why)))
		return refuse(why);
	if (o.is_version) {
		printf("millctl %s\n", version_string());
		return EXIT_CODE_OK;
	}
	if (o.is_help &&
		(o.word_count == 0 || (o.word_count == 1 && strcmp(o.words[0], "config") == 0))) {
		print_help();
		return EXIT_CODE_OK;
	}
	const struct command *c = commands_find(&o, why, sizeof(why));
	if (c == NULL)
		return refuse(why);
	if (o.is_help) {
		print_command_help(c);
		return EXIT_CODE_OK;
	}
	return c->run(&o);
}
