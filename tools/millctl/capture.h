/* capture: `millctl capture`: asks the node for the packets of a port and writes them to a file, as the user who asks. */
#ifndef TOOLS_MILLCTL_CAPTURE_H
#define TOOLS_MILLCTL_CAPTURE_H

#include "tools/millctl/options.h"

enum exit_code capture_run(const struct options *o);

#endif
