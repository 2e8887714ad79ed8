#include "lib/conf/conf_yaml.h"

#include <string.h>
#include <yaml.h>

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the current one */
	bool has_event;
	bool is_broken; /* the text is not YAML from here on */
	struct conf *out;
	struct conf_origin *origin;
	struct conf_errors *errors;
	struct conf_text text;
	const char *file;
	uint32_t section_line
		[CONF_KEYS_MAX]; /* by the index of the section's first key; 0: not seen */
};

static struct conf_place place(const struct reader *r, uint32_t line)
{
	return (struct conf_place){CONF_FROM_FILE, r->file, line};
}

static uint32_t event_line(const struct reader *r)
{
	return (uint32_t)r->event.start_mark.line + 1;
}

static uint32_t line_of_offset(const struct reader *r, size_t offset)
{
	uint32_t line = 1;
	for (size_t i = 0; i < offset && i < r->text.len; i++)
		line += r->text.data[i] == '\n';
	return line;
}

static void refuse_text(struct reader *r)
{
	const char *problem = r->parser.problem ? r->parser.problem : "out of memory";
	struct conf_place at = place(r, (uint32_t)r->parser.problem_mark.line + 1);
	r->is_broken = true;
	if (r->parser.error == YAML_READER_ERROR) {
		at.line = line_of_offset(r, r->parser.problem_offset);
		conf_error_add(r->errors, &at, NULL, "not UTF-8 text: %s", problem);
		return;
	}
	conf_error_add(r->errors, &at, NULL, "not YAML: %s (column %zu)", problem,
		r->parser.problem_mark.column + 1);
}

/* Steps to the next event. False at the first thing that is not YAML: the walk ends there. */
static bool next(struct reader *r)
{
	if (r->is_broken)
		return false;
	if (r->has_event)
		yaml_event_delete(&r->event);
	r->has_event = yaml_parser_parse(&r->parser, &r->event) == 1;
	if (!r->has_event)
		refuse_text(r);
	return r->has_event;
}

static bool event_has_extras(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return e->data.scalar.anchor || e->data.scalar.tag;
	case YAML_SEQUENCE_START_EVENT:
		return e->data.sequence_start.anchor || e->data.sequence_start.tag;
	case YAML_MAPPING_START_EVENT:
		return e->data.mapping_start.anchor || e->data.mapping_start.tag;
	case YAML_ALIAS_EVENT:
		return true;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		break;
	}
	return false;
}

static int depth_change(yaml_event_type_t type)
{
	if (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT)
		return 1;
	if (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT)
		return -1;
	return 0;
}

/* No key nests deeper than a list in a section; the YAML library's time grows with the square of the
 * depth, so that what is far deeper is not read on. */
enum { SKIP_DEPTH_MAX = 32 };

/* From the first event of a node to its last. */
static bool skip_node(struct reader *r)
{
	int depth = depth_change(r->event.type);
	while (depth > 0) {
		if (!next(r))
			return false;
		depth += depth_change(r->event.type);
		if (depth > SKIP_DEPTH_MAX) {
			struct conf_place at = place(r, event_line(r));
			conf_error_add(r->errors, &at, NULL, "nested deeper than %d levels",
				SKIP_DEPTH_MAX);
			r->is_broken = true;
			return false;
		}
	}
	return true;
}

static struct conf_text scalar_text(const struct reader *r)
{
	return (struct conf_text){
		(const char *)r->event.data.scalar.value, r->event.data.scalar.length};
}

/* `key:` with nothing behind it, `~` and `null` are no value. */
static bool scalar_is_null(const struct reader *r)
{
	struct conf_text text = scalar_text(r);
	if (r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	return text.len == 0 || (text.len == 1 && text.data[0] == '~') ||
	       (text.len == 4 && memcmp(text.data, "null", 4) == 0);
}

/* A key or section name. False (and an error) for anything but a scalar without extras. */
static bool is_name(struct reader *r, const char *what)
{
	struct conf_place at = place(r, event_line(r));
	if (event_has_extras(&r->event))
		conf_error_add(r->errors, &at, NULL,
			"anchors, aliases and tags are not allowed; write the %s itself", what);
	else if (r->event.type != YAML_SCALAR_EVENT)
		conf_error_add(r->errors, &at, NULL, "the name of a %s is a word", what);
	else
		return true;
	return false;
}

static void refuse_value(struct reader *r, const struct conf_key *key, const char *what)
{
	struct conf_place at = place(r, event_line(r));
	char allowed[CONF_ALLOWED];
	conf_key_allowed(key, allowed, sizeof(allowed));
	conf_error_add_key(r->errors, &at, key, "%s; allowed: %s", what, allowed);
}

/* What is wrong with the kind of node the current event begins, or NULL. */
static const char *scalar_trouble(const struct reader *r, const struct conf_key *key)
{
	if (event_has_extras(&r->event))
		return "anchors, aliases and tags are not allowed here";
	if (r->event.type == YAML_MAPPING_START_EVENT)
		return "is a mapping, not a value";
	if (r->event.type == YAML_SEQUENCE_START_EVENT)
		return "is a list, not one value";
	if (scalar_is_null(r))
		return "has no value";
	bool is_plain = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (!is_plain && (key->type == CONF_TYPE_NUM || key->type == CONF_TYPE_BOOL))
		return "is quoted text";
	return NULL;
}

static bool read_scalar(struct reader *r, const struct conf_key *key)
{
	char why[CONF_WHY];
	const char *trouble = scalar_trouble(r, key);
	struct conf_place at = place(r, event_line(r));
	if (trouble) {
		refuse_value(r, key, trouble);
		return skip_node(r);
	}
	if (!conf_value_set(r->out, key, scalar_text(r), why))
		conf_error_add_key(r->errors, &at, key, "%s", why);
	return true;
}

static bool read_list(struct reader *r, const struct conf_key *key)
{
	char why[CONF_WHY];
	if (event_has_extras(&r->event) || r->event.type != YAML_SEQUENCE_START_EVENT) {
		refuse_value(r, key,
			event_has_extras(&r->event)
				? "anchors, aliases and tags are not allowed here"
				: "is not a list");
		return skip_node(r);
	}
	conf_value_clear(r->out, key);
	while (next(r) && r->event.type != YAML_SEQUENCE_END_EVENT) {
		struct conf_place at = place(r, event_line(r));
		const char *trouble = scalar_trouble(r, key);
		if (trouble)
			refuse_value(r, key, trouble);
		else if (!conf_value_append(r->out, key, scalar_text(r), why))
			conf_error_add_key(r->errors, &at, key, "%s", why);
		if (!skip_node(r))
			return false;
	}
	return !r->is_broken;
}

static bool key_is_new(struct reader *r, const struct conf_key *key, uint32_t line)
{
	unsigned index = conf_key_index(key);
	struct conf_place at = place(r, line);
	if (r->origin->source[index] == CONF_FROM_FILE) {
		conf_error_add_key(r->errors, &at, key,
			"is given twice, first on line %u; allowed: once", r->origin->line[index]);
		return false;
	}
	r->origin->source[index] = CONF_FROM_FILE;
	r->origin->line[index] = line;
	return true;
}

/* The current event is a name inside a section; reads it and its value. */
static bool read_key(struct reader *r, const char *section)
{
	struct conf_place at = place(r, event_line(r));
	if (!is_name(r, "key"))
		return skip_node(r) && next(r) && skip_node(r);
	struct conf_text section_text = {section, strlen(section)};
	const struct conf_key *key = conf_key_find_text(section_text, scalar_text(r));
	if (!key)
		conf_key_refuse(r->errors, &at, section_text, scalar_text(r));
	bool is_wanted = key && key_is_new(r, key, at.line);
	if (!next(r))
		return false;
	if (!is_wanted)
		return skip_node(r);
	return key->type == CONF_TYPE_LIST ? read_list(r, key) : read_scalar(r, key);
}

static bool section_is_new(struct reader *r, const struct conf_key *first, uint32_t line)
{
	uint32_t *seen = &r->section_line[conf_key_index(first)];
	struct conf_place at = place(r, line);
	if (*seen) {
		conf_error_add(r->errors, &at, first->section,
			"is given twice, first on line %u; allowed: once", *seen);
		return false;
	}
	*seen = line;
	return true;
}

/* The current event is the name of a section; reads it and what is in it. */
static bool read_section(struct reader *r)
{
	struct conf_place at = place(r, event_line(r));
	if (!is_name(r, "section"))
		return skip_node(r) && next(r) && skip_node(r);
	const struct conf_key *first = conf_key_find_section(scalar_text(r));
	if (!first)
		conf_key_refuse_section(r->errors, &at, scalar_text(r));
	bool is_wanted = first && section_is_new(r, first, at.line);
	if (!next(r))
		return false;
	if (!is_wanted)
		return skip_node(r);
	/* All its keys commented out: that is a section too. */
	if (r->event.type == YAML_SCALAR_EVENT && !event_has_extras(&r->event) && scalar_is_null(r))
		return true;
	if (event_has_extras(&r->event) || r->event.type != YAML_MAPPING_START_EVENT) {
		conf_error_add(r->errors, &at, first->section,
			"is a section; allowed: its keys, each on a line of its own, indented");
		return skip_node(r);
	}
	while (next(r) && r->event.type != YAML_MAPPING_END_EVENT) {
		if (!read_key(r, first->section))
			return false;
	}
	return !r->is_broken;
}

/* The current event begins the root node. */
static bool read_root(struct reader *r)
{
	struct conf_place at = place(r, event_line(r));
	if (r->event.type == YAML_SCALAR_EVENT && !event_has_extras(&r->event) && scalar_is_null(r))
		return true;
	if (event_has_extras(&r->event) || r->event.type != YAML_MAPPING_START_EVENT) {
		conf_error_add(r->errors, &at, NULL,
			"a configuration is made of sections; "
			"allowed: `section:` and its keys below it");
		return skip_node(r);
	}
	while (next(r) && r->event.type != YAML_MAPPING_END_EVENT) {
		if (!read_section(r))
			return false;
	}
	return !r->is_broken;
}

static void read_stream(struct reader *r)
{
	/* Stream start; then a document, or the end when the file has nothing but comments. */
	if (!next(r) || !next(r) || r->event.type == YAML_STREAM_END_EVENT)
		return;
	if (!next(r) || !read_root(r))
		return;
	/* Document end; then nothing more. */
	if (!next(r) || !next(r) || r->event.type == YAML_STREAM_END_EVENT)
		return;
	struct conf_place at = place(r, event_line(r));
	conf_error_add(r->errors, &at, NULL, "a second document begins here; allowed: one");
}

void conf_yaml_read(struct conf *out, struct conf_origin *origin, struct conf_text text,
	const char *file_name, struct conf_errors *errors)
{
	static const char bom[] = "\xef\xbb\xbf";
	struct reader r = {.out = out, .origin = origin, .errors = errors, .file = file_name};
	if (text.len >= 3 && memcmp(text.data, bom, 3) == 0)
		text = (struct conf_text){text.data + 3, text.len - 3};
	r.text = text;
	if (yaml_parser_initialize(&r.parser) != 1) {
		struct conf_place at = place(&r, 0);
		conf_error_add(errors, &at, NULL, "cannot be read: out of memory");
		return;
	}
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.data, text.len);
	read_stream(&r);
	if (r.has_event)
		yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
}
