/* report: what a run was like, for people and for programs. docs/millload.md describes the JSON. */
#ifndef TOOLS_MILLLOAD_REPORT_H
#define TOOLS_MILLLOAD_REPORT_H

#include "tools/millload/run.h"

/* The line of one second, on standard error. */
void report_line(const struct run *r, const struct run_mark *now);

/* The result on standard output: one JSON document with --json, else text. */
void report_result(const struct run *r);

/* One line for the person who must fix it. */
void report_why_nothing(const struct run *r, char *why, size_t why_size);

/* Everything was answered as expected, and the schedule was kept. */
bool report_is_good(const struct run *r);

#endif
