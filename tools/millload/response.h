/* response: reads the answers of an HTTP/1.1 server one after the other, as fast as a load generator needs it: status,
 * framing by Content-Length, whether the connection lives on. Everything else in the head is passed over.
 * Refused by name: chunked answers, and answers without a length.
 * Sans-I/O: bytes go in, verdicts come out; a head must lie in one piece (net_peek joins it).
 * Owner: one thread. Memory: none of its own. */
#ifndef TOOLS_MILLLOAD_RESPONSE_H
#define TOOLS_MILLLOAD_RESPONSE_H

#include "tools/millload/account.h"

enum response_verdict {
	RESPONSE_DONE, /* one answer is whole; more bytes belong to the next */
	RESPONSE_MORE, /* all was used, or the head is not yet whole */
	RESPONSE_BAD,  /* `fault` says why; the connection cannot be used any more */
};

struct response {
	uint64_t length; /* of the body */
	uint64_t at;	 /* bytes of the body that have come */
	uint16_t status;
	bool in_body; /* the head is read */
	bool is_last; /* the server closes after it */
	enum failure fault;
	struct span piece; /* bytes of the body in the last call's input; they end at `at` */
};

void response_init(struct response *r);

/* `is_head`: the answer is to a HEAD request. `used` is set on every path. */
enum response_verdict response_feed(struct response *r, struct span in, bool is_head, size_t *used);

#endif
