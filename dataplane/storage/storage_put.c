#include "dataplane/http/http_cond.h"
#include "dataplane/http/http_text.h"
#include "dataplane/storage/storage_private.h"
#include "lib/base/addr.h"
#include "lib/inflate/inflate.h"

/* Chunks that are not an object yet. */
struct draft {
	uint32_t count;
	uint32_t bytes;
	uint32_t chunks[LIMIT_OBJECT_CHUNKS];
};

/* The payload of a job. The lcore fills it in; the worker changes it between submit and done. */
struct put {
	struct storage *st;
	struct http_server *server; /* for the lcore alone */
	struct draft body;	    /* what it holds; done gives it back */
	struct b3 address;	    /* asked for (PUT), then found */
	uint32_t length;	    /* of the object */
	uint8_t coding;		    /* enum inflate_coding */
	uint8_t when_absent;	    /* enum http_cond_verdict: if there is no such object yet */
	uint8_t when_present;
	bool is_addressed; /* PUT */
	bool is_new;
};
static_assert(sizeof(struct put) <= JOB_PAYLOAD, "fits a job");

static void draft_drop(struct storage *st, struct draft *d)
{
	for (uint32_t i = 0; i < d->count; i++)
		storage_slab_give(&st->slab, d->chunks[i]);
	d->count = 0;
}

/* Where inflate's output goes. */
struct inflating {
	struct storage *st;
	struct draft draft;
	bool is_long; /* more than an object holds: the rest is dropped, but the caps are still watched */
};

static bool inflate_into(void *ctx, const uint8_t *data, size_t len)
{
	struct inflating *in = ctx;
	struct draft *d = &in->draft;
	while (len != 0 && !in->is_long) {
		uint32_t at = d->bytes % LIMIT_CHUNK_BYTES;
		if (at == 0 && d->count == LIMIT_OBJECT_CHUNKS) {
			in->is_long = true;
			break;
		}
		if (at == 0) {
			if (!storage_slab_take(&in->st->slab, &d->chunks[d->count]))
				return false;
			d->count++;
		}
		size_t n = LIMIT_CHUNK_BYTES - at;
		if (n > len)
			n = len;
		memcpy(storage_slab_at(&in->st->slab, d->chunks[d->count - 1]) + at, data, n);
		d->bytes += (uint32_t)n;
		data += n;
		len -= n;
	}
	return true;
}

static enum err_id refuse(struct job *job, enum err_id err, const char *detail)
{
	job->detail = detail;
	return err;
}

/* Puts the decoded bytes in the place of the coded ones, or changes nothing. */
static enum err_id decode(struct job *job, struct put *p, struct inflate *inflate)
{
	struct inflating in = {.st = p->st};
	struct span parts[LIMIT_OBJECT_CHUNKS];
	uint32_t left = p->body.bytes;
	for (uint32_t i = 0; i < p->body.count; i++) {
		uint32_t len = left < LIMIT_CHUNK_BYTES ? left : LIMIT_CHUNK_BYTES;
		parts[i] = (struct span){storage_slab_at(&p->st->slab, p->body.chunks[i]), len};
		left -= len;
	}
	enum inflate_status status = inflate_run(
		inflate, (enum inflate_coding)p->coding, parts, p->body.count, inflate_into, &in);
	if (status == INFLATE_DONE && !in.is_long) {
		draft_drop(p->st, &p->body);
		p->body = in.draft;
		return ERR_NONE;
	}
	draft_drop(p->st, &in.draft);
	switch (status) {
	case INFLATE_DONE:
		return refuse(
			job, ERR_BODY_CAP, "the decoded body is larger than an object may be");
	case INFLATE_CAP:
		return ERR_DECOMPRESS_CAP;
	case INFLATE_NO_ROOM:
		return ERR_STORAGE_FULL;
	case INFLATE_DAMAGED:
		break;
	}
	return refuse(job, ERR_BAD_REQUEST, "the body is not what its Content-Encoding says");
}

static void hash(const struct put *p, struct b3 *out)
{
	struct b3_hasher hasher;
	uint32_t left = p->body.bytes;
	b3_begin(&hasher);
	for (uint32_t i = 0; i < p->body.count; i++) {
		uint32_t len = left < LIMIT_CHUNK_BYTES ? left : LIMIT_CHUNK_BYTES;
		b3_add(&hasher, storage_slab_at(&p->st->slab, p->body.chunks[i]), len);
		left -= len;
	}
	b3_end(&hasher, out);
}

/* Makes the draft an object unless there is one already. */
static enum err_id commit(struct put *p, struct tally *tally)
{
	bool is_there = storage_index_find(&p->st->index, &p->address) != NULL;
	if ((is_there ? p->when_present : p->when_absent) != HTTP_COND_PROCEED)
		return ERR_PRECONDITION;
	if (is_there)
		return ERR_NONE;
	if (storage_index_add(&p->st->index, &p->address, p->body.bytes, p->body.chunks) == NULL)
		return ERR_STORAGE_FULL;
	p->body.count = 0;
	p->is_new = true;
	tally_inc(tally, TALLY_STORAGE_WRITES);
	return ERR_NONE;
}

/* On the worker. */
static void run(struct job *job, struct job_bench *bench)
{
	struct put *p = (struct put *)(void *)job->payload;
	struct b3 found;
	if (atomic_load_explicit(&job->is_canceled, memory_order_relaxed)) {
		job->err = ERR_CANCELED;
		return;
	}
	job->err = p->coding == INFLATE_IDENTITY ? ERR_NONE : decode(job, p, bench->inflate);
	if (job->err != ERR_NONE)
		return;
	hash(p, &found);
	if (p->is_addressed && !b3_equals(&found, &p->address)) {
		job->err = refuse(job, ERR_CONFLICT,
			"the body's BLAKE3 digest is not the address in the path");
		return;
	}
	p->address = found;
	p->length = p->body.bytes;
	job->err = commit(p, bench->tally);
}

static void answer(struct http_req *rq, const struct put *p)
{
	char lines[HTTP_FIELDS_BYTES], body[160], address[B3_TEXT];
	struct http_text head = http_text_on(lines, sizeof(lines));
	struct http_text json = http_text_on(body, sizeof(body));
	b3_print(&p->address, address);
	HTTP_TEXT_LITERAL(&head, "ETag: \"");
	http_text_put(&head, address, sizeof(address));
	HTTP_TEXT_LITERAL(&head, "\"\r\n");
	if (p->is_new) {
		HTTP_TEXT_LITERAL(&head, "Location: /o/");
		http_text_put(&head, address, sizeof(address));
		HTTP_TEXT_LITERAL(&head, "\r\n");
	}
	HTTP_TEXT_LITERAL(&json, "{\"address\":\"");
	http_text_put(&json, address, sizeof(address));
	HTTP_TEXT_LITERAL(&json, "\",\"length\":");
	http_text_uint(&json, p->length);
	HTTP_TEXT_LITERAL(&json, "}");
	http_reply(rq, &(struct http_reply){
			       .status = p->is_new ? 201 : 200,
			       .content_type = "application/json",
			       .fields = http_text_span(&head),
			       .inline_body = http_text_span(&json),
		       });
}

/* Back on the lcore; `run` may have been skipped when the deadline had passed. */
static void done(struct job *job)
{
	struct put p = *(struct put *)(void *)job->payload;
	struct http_req *rq = http_job_owner(job);
	enum err_id err = job->err;
	const char *detail = job->detail;
	draft_drop(p.st, &p.body);
	http_job_give(p.server, job);
	if (rq == NULL)
		return;
	if (err != ERR_NONE)
		http_fail(rq, err, detail);
	else
		answer(rq, &p);
}

static bool may_write(const struct http_req *rq)
{
	const struct conf *conf = http_req_conf(rq);
	struct cidr net;
	for (uint64_t i = 0; i < conf->storage_write_from.count; i++) {
		if (cidr_parse(&net, conf->storage_write_from.items[i]) == 0 &&
			cidr_contains(&net, http_req_peer(rq)))
			return true;
	}
	return false;
}

enum http_verdict storage_put_begin(struct http_req *rq, struct storage *st)
{
	struct b3 address;
	if (!may_write(rq)) {
		http_fail(rq, ERR_FORBIDDEN,
			"writes are accepted from the networks in storage.write_from only");
		return HTTP_ANSWERED;
	}
	if (rq->method == LABEL_METHOD_PUT && storage_address_parse(rq, &address) != 0)
		return HTTP_ANSWERED;
	if (rq->head.body != HTTP_PARSE_BODY_NONE && storage_is_full(st) &&
		storage_slab_free(&st->slab) == 0) {
		http_fail(rq, ERR_STORAGE_FULL, NULL);
		return HTTP_ANSWERED;
	}
	return HTTP_CONTINUE;
}

/* The conditions of a PUT, answered for both cases, since only the writer knows which it is. A POST is to the
 * collection, which has no representation. */
static void set_conditions(struct put *p, const struct http_req *rq)
{
	char tag[B3_TEXT + 2];
	struct span none = {NULL, 0}, etag = none;
	if (p->is_addressed) {
		tag[0] = tag[B3_TEXT + 1] = '"';
		b3_print(&p->address, tag + 1);
		etag = (struct span){(const uint8_t *)tag, sizeof(tag)};
	}
	p->when_absent = (uint8_t)http_cond_check(&rq->head, none).verdict;
	p->when_present = (uint8_t)http_cond_check(&rq->head, etag).verdict;
}

enum http_verdict storage_put(struct http_req *rq, struct storage *st)
{
	enum inflate_coding coding;
	struct span value;
	unsigned count = http_parse_get(&rq->head, HTTP_FIELD_CONTENT_ENCODING, &value);
	if (count > 1 || inflate_coding_parse(&coding, value) != 0) {
		http_fail(rq, ERR_CODING, NULL);
		return HTTP_ANSWERED;
	}
	struct b3 address = {{0}};
	bool is_addressed = rq->method == LABEL_METHOD_PUT;
	if (is_addressed && storage_address_parse(rq, &address) != 0)
		return HTTP_ANSWERED;
	struct job *job = http_job_take(rq);
	if (job == NULL) {
		http_fail(rq, ERR_BUSY, NULL);
		return HTTP_ANSWERED;
	}
	struct put *p = (struct put *)(void *)job->payload;
	*p = (struct put){.st = st,
		.server = rq->server,
		.coding = (uint8_t)coding,
		.address = address,
		.is_addressed = is_addressed};
	set_conditions(p, rq);
	p->body.count = rq->body.count;
	p->body.bytes = rq->body.bytes;
	memcpy(p->body.chunks, rq->body.handles, rq->body.count * sizeof(uint32_t));
	job->queue = QUEUE_STORAGE_WORK;
	job->run = run;
	job->done = done;
	if (!http_job_submit(rq, job))
		return HTTP_ANSWERED; /* the request still holds its blocks */
	rq->body.count = 0;
	return HTTP_PENDING;
}
