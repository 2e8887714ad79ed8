#include "tools/millctl/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/millctl/client.h"
#include "tools/millctl/commands.h"
#include "tools/millctl/locate.h"
#include "tools/millctl/show.h"
#include "tools/millctl/table.h"

static const char *const level_names[] = {
	[DOCTOR_OK] = "ok", [DOCTOR_WARN] = "warn", [DOCTOR_FAIL] = "fail"};

void doctor_say(struct doctor *d, const char *check, enum doctor_level level, const char *fmt, ...)
{
	if (d->count == DOCTOR_FINDINGS)
		return;
	struct doctor_finding *f = &d->findings[d->count++];
	*f = (struct doctor_finding){.check = check, .level = level};
	va_list args;
	va_start(args, fmt);
	vsnprintf(f->detail, sizeof(f->detail), fmt, args);
	va_end(args);
}

void doctor_fix(struct doctor *d, const char *fmt, ...)
{
	struct doctor_finding *f = &d->findings[d->count - 1];
	va_list args;
	va_start(args, fmt);
	vsnprintf(f->fix, sizeof(f->fix), fmt, args);
	va_end(args);
}

const char *doctor_read(struct doctor *d, const char *path)
{
	d->file[0] = '\0';
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return d->file;
	size_t len = fread(d->file, 1, sizeof(d->file) - 1, f);
	fclose(f);
	if (len > 0 && d->file[len - 1] == '\n')
		len--;
	d->file[len] = '\0';
	return d->file;
}

static void check_configuration(struct doctor *d, const struct options *o)
{
	static struct conf_errors errors;
	if (locate_conf(&d->conf, o, &errors) == 0) {
		doctor_say(d, "configuration", DOCTOR_OK, "%s",
			o->config != NULL ? o->config : "no file named; defaults");
		return;
	}
	doctor_say(d, "configuration", DOCTOR_FAIL, "%s", errors.text[0]);
	doctor_fix(d, "millctl config check %s", o->config != NULL ? o->config : "FILE");
	struct conf_input none = {0};
	MUST(conf_load(&d->conf, NULL, &none, &errors) == 0);
}

/* Asks the node that is meant, if it runs, which of its processes do. */
static void look_at_node(struct doctor *d, const struct options *o)
{
	static struct conf_errors errors;
	char path[OPS_PATH];
	struct ops_request request = {.command = OPS_STATUS};
	struct client_failure f = {0};
	if (locate_socket(path, o, &errors) != 0)
		return;
	json_t *status = client_ask(path, &request, &f);
	json_decref(f.errors);
	size_t i;
	json_t *p;
	json_array_foreach(json_object_get(status, "processes"), i, p)
	{
		bool is_dataplane = strcmp(show_text(p, "process"), "dataplane") == 0;
		*(is_dataplane ? &d->has_dataplane : &d->has_controlplane) = show_flag(p, "up");
	}
	json_decref(status);
}

static void print_json(const struct doctor *d, enum doctor_level worst)
{
	json_t *rows = json_array();
	for (unsigned i = 0; i < d->count; i++) {
		const struct doctor_finding *f = &d->findings[i];
		json_array_append_new(
			rows, json_pack("{s:s, s:s, s:s, s:s}", "check", f->check, "level",
				      level_names[f->level], "detail", f->detail, "fix", f->fix));
	}
	json_t *json = json_pack("{s:s, s:o}", "worst", level_names[worst], "findings", rows);
	commands_print_json(json);
	json_decref(json);
}

static void print_text(const struct doctor *d)
{
	static const struct table_column columns[] = {
		{"LEVEL", false}, {"CHECK", false}, {"FOUND", false}};
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	bool has_fix = false;
	for (unsigned i = 0; i < d->count; i++) {
		const struct doctor_finding *f = &d->findings[i];
		table_cell(&t, "%s", level_names[f->level]);
		table_cell(&t, "%s", f->check);
		table_cell(&t, "%s", f->detail);
		has_fix |= f->fix[0] != '\0';
	}
	table_print(&t, stdout, show_width(stdout));
	table_fini(&t);
	if (has_fix)
		printf("\nThe commands that mend them; those of level ok only for another back "
		       "end:\n");
	for (unsigned i = 0; i < d->count; i++) {
		const struct doctor_finding *f = &d->findings[i];
		if (f->fix[0] != '\0')
			printf("\n# %s (%s)\n%s\n", f->check, level_names[f->level], f->fix);
	}
}

enum exit_code doctor_run(const struct options *o)
{
	struct doctor *d = calloc(1, sizeof(*d));
	MUST(d != NULL);
	check_configuration(d, o);
	d->needs_bypass = d->conf.net_backend != CONF_BACKEND_HOST;
	look_at_node(d, o);
	doctor_system_check(d);
	doctor_net_check(d);
	enum doctor_level worst = DOCTOR_OK;
	for (unsigned i = 0; i < d->count; i++)
		worst = d->findings[i].level > worst ? d->findings[i].level : worst;
	if (o->is_json)
		print_json(d, worst);
	else
		print_text(d);
	free(d);
	return worst == DOCTOR_FAIL ? EXIT_CODE_NO : EXIT_CODE_OK;
}
