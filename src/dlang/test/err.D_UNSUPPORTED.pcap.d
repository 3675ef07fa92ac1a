BEGIN
{
	pcap(0, PCAP_IP);
}
/* expect-error 3: D_UNSUPPORTED pcap( ) takes a packet of a kernel: there is none where this runs */
