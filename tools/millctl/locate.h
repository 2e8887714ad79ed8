/* locate: finds the node that is meant: --socket, else --node and --run-dir, else the configuration
 * file, environment and defaults. A file that is wrong elsewhere still tells the node, so that a
 * node can be asked about a configuration it refused. */
#ifndef TOOLS_MILLCTL_LOCATE_H
#define TOOLS_MILLCTL_LOCATE_H

#include "lib/conf/conf.h"
#include "lib/ops/ops_path.h"
#include "tools/millctl/options.h"

/* The whole configuration the options name, for doctor. Returns 0, or -EINVAL with `errors`. */
CHECKED int locate_conf(struct conf *out, const struct options *o, struct conf_errors *errors);

/* The socket's path. Returns 0, or -EINVAL with `errors`. */
CHECKED int locate_socket(char out[OPS_PATH], const struct options *o, struct conf_errors *errors);

/* The lines of the `node:` section at the top level of YAML text; the rest becomes empty lines. Works
 * in place; returns whether there is one. Pure. */
bool locate_keep_node(char *text);

#endif
