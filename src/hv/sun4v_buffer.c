/*
 * sun4v_buffer.c: MMU statistics as the guest uses them (mmustat.txt 2).
 *
 * Each strand has a buffer of its own in the transport's memory, at a multiple of its size, zeroed before it
 * is given; the hypervisor adds to it while the guest reads: every word is read once.
 */
#include "hv/sun4v_guest_int.h"

static uint8_t *bytes_at(const struct sun4v_client *c, uint32_t vcpu)
{
	return c->transport->memory + (size_t)vcpu * MMUSTAT_BYTES;
}

static int buffer_conf(struct sun4v_client *c, uint32_t vcpu, uint64_t ra, struct err *e)
{
	uint64_t o[6] = { ra };
	int rc = sun4v_trap(c, vcpu, HV_FAST_TRAP, SUN4V_MMUSTAT_CONF, o, e);

	return rc < 0 ? rc : sun4v_status(c, o[0], "mmustat", e);
}

int mmustat_start(struct sun4v_client *c, uint32_t vcpu, struct err *e)
{
	int rc;

	if (vcpu >= c->transport->strands)
		return err_set(e, TALLY_EINVAL, "no such strand: %u", vcpu);
	if (!c->mmustat)
		return err_set(e, TALLY_ENOTSUP, "%s has no MMU statistics: only Niagara has", c->transport->op->what);
	if ((vcpu + 1ull) * MMUSTAT_BYTES > c->transport->bytes)
		return err_set(e, TALLY_ENOMEM, "no room in the guest's memory for the buffer of strand %u", vcpu);
	memset(bytes_at(c, vcpu), 0, MMUSTAT_BYTES);
	rc = buffer_conf(c, vcpu, c->transport->base + (uint64_t)vcpu * MMUSTAT_BYTES, e);
	/* After an error nothing is collected, or, with some hypervisors, in the old buffer still: none of it is to be
	 * read. */
	c->buffer[vcpu] = rc == 0 ? c->transport->base + (uint64_t)vcpu * MMUSTAT_BYTES : 0;
	return rc;
}

int mmustat_stop(struct sun4v_client *c, uint32_t vcpu, struct err *e)
{
	if (vcpu >= c->transport->strands || !c->buffer[vcpu])
		return 0;
	c->buffer[vcpu] = 0;
	return buffer_conf(c, vcpu, 0, e);
}

void mmustat_decode(const uint8_t buffer[MMUSTAT_BYTES], struct mmustat *ret)
{
	for (uint32_t d = 0; d < 2; d++)
		for (uint32_t x = 0; x < 2; x++)
			for (uint32_t s = 0; s < MMUSTAT_SIZES; s++) {
				const uint8_t *at = buffer + mmustat_slot(d, x, s);

				ret->at[d][x][s].hits = be64_get(at);
				ret->at[d][x][s].ticks = be64_get(at + 8);
			}
}

int mmustat_read(struct sun4v_client *c, uint32_t vcpu, struct mmustat *ret, struct err *e)
{
	const struct hv_transport *l = c->transport;
	int rc = 0;

	if (vcpu >= l->strands || (!l->op->mmustat && !c->buffer[vcpu]))
		return err_set(e, TALLY_ESTATE, "strand %u has no statistics buffer", vcpu);
	if (l->op->mmustat)
		rc = l->op->mmustat(l->arg, vcpu, bytes_at(c, vcpu), e);
	if (rc < 0)
		return rc;
	mmustat_decode(bytes_at(c, vcpu), ret);
	return 0;
}
