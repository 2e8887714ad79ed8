/* tcp_loss: finds what was lost and how fast to send while it is repaired.
 *
 *   RACK (RFC 8985): a segment is lost when one sent later has arrived and a little time has passed.
 *   TLP  (RFC 8985): a silent tail is probed long before the timeout.
 *   RTO  (RFC 6298): everything is lost.
 *   PRR  (RFC 6937): while recovering, what leaves is paced by what arrives.
 *   Without SACK: three duplicate acknowledgements (RFC 6582).
 *
 * Owner: the lcore that owns the connection. Cost: O(1) and what it marks. */
#ifndef DATAPLANE_NET_DPDK_TCP_LOSS_H
#define DATAPLANE_NET_DPDK_TCP_LOSS_H

#include "dataplane/net/dpdk/tcp_rtx.h"

void tcp_loss_init(struct tcp_conn *c);
/* The peer has this segment now. */
void tcp_loss_delivered(struct tcp_conn *c, const struct tcp_rtx *seg, struct tcp_rtx_news *news);
/* An acknowledgement was taken into the scoreboard. */
void tcp_loss_on_ack(struct tcp_conn *c, const struct tcp_rtx_news *news);
/* Something was sent: the timers that watch it run. */
void tcp_loss_on_sent(struct tcp_conn *c, bool is_new);

/* The timers went off. */
void tcp_loss_on_rto(struct tcp_conn *c);
void tcp_loss_on_early(struct tcp_conn *c);

#endif
