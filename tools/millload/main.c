/* millload: loads an HTTP server or a UDP service over the network seam (N-6). docs/millload.md */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/version.h"
#include "tools/millload/report.h"

enum { EXIT_GOOD, EXIT_FAILURES, EXIT_USAGE, EXIT_NOTHING };

static volatile sig_atomic_t is_stopped;

static void on_signal(int signal_number)
{
	(void)signal_number;
	is_stopped = 1;
}

static int complain(const char *why, int code)
{
	fprintf(stderr, "millload: %s%s\n", why, code == EXIT_USAGE ? "; see millload --help" : "");
	return code;
}

static int load(struct options *o)
{
	char why[256] = "";
	struct run *r = calloc(1, sizeof(*r));
	if (r == NULL)
		return complain("no memory", EXIT_NOTHING);
	if (run_open(r, o, why, sizeof(why)) != 0) {
		free(r);
		return complain(why, EXIT_NOTHING);
	}
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	r->stop = &is_stopped;
	int code = EXIT_GOOD;
	if (run_all(r, why, sizeof(why)) != 0)
		code = complain(why, EXIT_NOTHING);
	else
		report_result(r);
	if (code == EXIT_GOOD && !report_is_good(r))
		code = EXIT_FAILURES;
	run_close(r);
	free(r);
	return code;
}

int main(int argc, char **argv)
{
	char why[256];
	signal(SIGPIPE, SIG_IGN);
	struct options *o = calloc(1, sizeof(*o));
	if (o == NULL)
		return complain("no memory", EXIT_NOTHING);
	int code = EXIT_GOOD;
	if (!options_parse(o, argc, argv, why, sizeof(why)))
		code = complain(why, EXIT_USAGE);
	else if (o->is_help)
		fputs(options_help, stdout);
	else if (o->is_version)
		printf("millload %s\n", version_string());
	else
		code = load(o);
	free(o);
	return code;
}
