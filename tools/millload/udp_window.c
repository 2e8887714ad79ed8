#include "tools/millload/udp_window.h"

#include <string.h>

static struct udp_place *place_of(struct udp_window *w, uint64_t number)
{
	return &w->places[number % UDP_WINDOW];
}

void udp_window_init(struct udp_window *w)
{
	memset(w, 0, sizeof(*w));
}

void udp_window_sent(struct udp_window *w, uint64_t from_ns, uint64_t now_ns)
{
	MUST(udp_window_has_room(w));
	*place_of(w, w->next++) =
		(struct udp_place){.from_ns = from_ns, .sent_ns = now_ns, .is_waiting = true};
	w->waiting++;
}

/* What is answered at the old end makes room. */
static void shrink(struct udp_window *w)
{
	while (w->oldest < w->next && !place_of(w, w->oldest)->is_waiting)
		w->oldest++;
}

bool udp_window_answered(struct udp_window *w, uint64_t number, uint64_t *from_ns)
{
	if (number < w->oldest || number >= w->next)
		return false;
	struct udp_place *place = place_of(w, number);
	if (!place->is_waiting)
		return false;
	place->is_waiting = false;
	w->waiting--;
	*from_ns = place->from_ns;
	shrink(w);
	return true;
}

uint64_t udp_window_expire(struct udp_window *w, uint64_t before_ns)
{
	uint64_t lost = 0;
	for (; w->oldest < w->next; w->oldest++) {
		struct udp_place *place = place_of(w, w->oldest);
		if (!place->is_waiting)
			continue;
		if (place->sent_ns > before_ns)
			break;
		place->is_waiting = false;
		w->waiting--;
		lost++;
	}
	return lost;
}
