/* show: the node's JSON documents as text for people. A document without a member shows it empty, so
 * a newer node can still be looked at. `width`: see table.h. */
#ifndef TOOLS_MILLCTL_SHOW_H
#define TOOLS_MILLCTL_SHOW_H

#include <jansson.h>
#include <stdio.h>

#include "lib/base/base.h"

/* Columns of the terminal behind `out`, 0 when it is none. */
unsigned show_width(FILE *out);

void show_status(FILE *out, const json_t *status, unsigned width);
void show_queues(FILE *out, const json_t *queues, unsigned width);
void show_lcores(FILE *out, const json_t *lcores, unsigned width);
void show_conns(FILE *out, const json_t *conns, unsigned width);
void show_config(FILE *out, const json_t *keys, unsigned width);
void show_diff(FILE *out, const json_t *keys, unsigned width);
/* One line. */
void show_event(FILE *out, const json_t *event);

/* Members, with a default for what is not there. */
const char *show_text(const json_t *object, const char *key);
uint64_t show_number(const json_t *object, const char *key);
bool show_flag(const json_t *object, const char *key);

#endif
