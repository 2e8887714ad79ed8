#include "dataplane/http/http_text.h"

void http_text_uint(struct http_text *t, uint64_t value)
{
	char digits[20];
	unsigned at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	http_text_put(t, digits + at, sizeof(digits) - at);
}

void http_text_hex(struct http_text *t, uint64_t value, unsigned digits)
{
	char text[16];
	MUST_HOT(digits <= sizeof(text));
	for (unsigned i = digits; i > 0; i--) {
		text[i - 1] = "0123456789abcdef"[value & 15];
		value >>= 4;
	}
	http_text_put(t, text, digits);
}

/* One byte as JSON has it; returns how many characters. */
static unsigned json_escape(uint8_t byte, char out[6])
{
	if (byte == '"' || byte == '\\') {
		out[0] = '\\';
		out[1] = (char)byte;
		return 2;
	}
	if (byte >= 0x20 && byte < 0x7f) {
		out[0] = (char)byte;
		return 1;
	}
	/* Bytes above 0x7e may be anything but UTF-8: they become the code point of the same number. */
	memcpy(out, "\\u00", 4);
	out[4] = "0123456789abcdef"[byte >> 4];
	out[5] = "0123456789abcdef"[byte & 15];
	return 6;
}

void http_text_json(struct http_text *t, const char *text, size_t reserve)
{
	char escaped[6];
	HTTP_TEXT_LITERAL(t, "\"");
	for (; *text != '\0'; text++) {
		unsigned len = json_escape((uint8_t)*text, escaped);
		if ((size_t)(t->end - t->at) < reserve + len + 1) {
			t->is_cut = true;
			break;
		}
		http_text_put(t, escaped, len);
	}
	HTTP_TEXT_LITERAL(t, "\"");
}
