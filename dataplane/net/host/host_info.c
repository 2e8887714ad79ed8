#include "dataplane/net/host/host_info.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "dataplane/net/host/host_state.h"

static const char *state_name(uint8_t state)
{
	static const char *const names[] = {
		[TCP_ESTABLISHED] = "established",
		[TCP_SYN_SENT] = "syn_sent",
		[TCP_SYN_RECV] = "syn_rcvd",
		[TCP_FIN_WAIT1] = "fin_wait_1",
		[TCP_FIN_WAIT2] = "fin_wait_2",
		[TCP_TIME_WAIT] = "time_wait",
		[TCP_CLOSE] = "closed",
		[TCP_CLOSE_WAIT] = "close_wait",
		[TCP_LAST_ACK] = "last_ack",
		[TCP_LISTEN] = "listen",
		[TCP_CLOSING] = "closing",
	};
	return state < ARRAY_LEN(names) && names[state] != NULL ? names[state] : "unknown";
}

bool host_info_describe(struct net_conn *conn, struct net_tcp_info *out)
{
	const struct host_conn *c = (const struct host_conn *)conn;
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);
	if (getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
		return false;
	*out = (struct net_tcp_info){.state = state_name(info.tcpi_state),
		.rtt_us = info.tcpi_rtt,
		.cwnd_bytes = info.tcpi_snd_cwnd * info.tcpi_snd_mss,
		.retrans = info.tcpi_total_retrans};
	return true;
}
