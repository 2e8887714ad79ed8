/* The data plane: pinned ingress lcores, worker threads and a main thread that looks after them (dataplane/node).
 * Exit codes: 0 drained; 1 drained, but something was cut at the deadline; 2 wrong usage or configuration; 3 it cannot
 * start. */
#include "dataplane/node/node.h"
#include "lib/conf/conf_flags.h"

#define PROGRAM "millrace-dataplane"

int main(int argc, char **argv)
{
	struct conf_flags flags;
	struct conf_errors errors;
	struct conf conf;
	switch (conf_flags_parse(
		&flags, argc, argv, PROGRAM, "serves the traffic of a Millrace node")) {
	case CONF_FLAGS_EXIT_0:
		return NODE_EXIT_DRAINED;
	case CONF_FLAGS_EXIT_2:
		return NODE_EXIT_CONFIG;
	case CONF_FLAGS_GO:
		break;
	}
	if (conf_load(&conf, NULL, &flags.input, &errors) != 0) {
		conf_flags_complain(PROGRAM, &errors);
		return NODE_EXIT_CONFIG;
	}
	return node_run(&conf);
}
