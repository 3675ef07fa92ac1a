/*
 * lower_net.c: network addresses as text: inet_ntoa(), inet_ntoa6(), inet_ntop(), link_ntop().
 *
 * The address is read from memory, and its text is written byte by byte into a temporary. Counts are kept in the
 * temporary as well: a register would keep its range on each path, and the verifier would walk all paths
 * (cg_forget()). IPv6 is written as in RFC 5952: lower case, no leading zeros, and "::" for the longest run of groups
 * that are 0 (the first of several). IPv4 addresses within IPv6 (RFC 4291, 2.5.5) end in IPv4's notation.
 */
#include "dlang/lower_int.h"

#define NET_TEXT 64u /* the longest, and a NUL, in whole words */

/* What is counted: where the next byte goes; of IPv6 the longest run of groups that are 0, and the one in work. */
enum { NET_AT = NET_TEXT, NET_START = NET_AT + 8, NET_LENGTH = NET_START + 8, NET_RUN = NET_LENGTH + 8 };
#define NET_BYTES (NET_RUN + 8u)

/* What text is written. */
struct net_text {
	ir_obj o;
};

static ir_reg net_get(struct lw *l, const struct net_text *t, uint32_t what)
{
	struct ir_ins *i = lw_on(l, IR_OLOAD, t->o, what, 8);

	return i->d = lw_reg(l);
}

static void net_set(struct lw *l, const struct net_text *t, uint32_t what, ir_reg v)
{
	lw_store8(l, t->o, what, v);
}

static struct net_text net_begin(struct lw *l)
{
	struct net_text t = { lw_temp(l, NET_BYTES) };

	lw_zero(l, t.o, 0, NET_BYTES);
	if (!l->failed)
		l->obj[t.o].indexed = true;
	return t;
}

static void net_put(struct lw *l, const struct net_text *t, ir_reg byte)
{
	ir_reg at = net_get(l, t, NET_AT);
	struct ir_ins *i = lw_on(l, IR_OSTOREX, t->o, 0, 1);

	i->a = byte;
	i->b = at;
	i->i = NET_TEXT;
	i->x = 1;
	net_set(l, t, NET_AT, lw_binary(l, IR_ADD, at, lw_const(l, 1)));
}

static void net_put_char(struct lw *l, const struct net_text *t, char c)
{
	net_put(l, t, lw_const(l, c));
}

static void net_put_text(struct lw *l, const struct net_text *t, const char *s)
{
	for (; *s; s++)
		net_put_char(l, t, *s);
}

/* A digit of v, unless v is below `from`: then it would be a zero in front. */
static void net_put_digit(struct lw *l, const struct net_text *t, ir_reg v, uint32_t from, ir_reg digit)
{
	uint32_t none = lw_label(l);

	if (from)
		lw_jcmp(l, v, IR_LTU, lw_const(l, from), none);
	net_put(l, t, lw_digit(l, digit));
	lw_put(l, none);
}

static ir_reg net_load(struct lw *l, ir_obj o, uint32_t off, uint32_t size)
{
	struct ir_ins *i = lw_on(l, IR_OLOAD, o, off, size);

	return i->d = lw_reg(l);
}

/* Four bytes of o. */
static void net_put_ipv4(struct lw *l, const struct net_text *t, ir_obj o, uint32_t off)
{
	for (uint32_t k = 0; k < 4; k++) {
		ir_reg v = net_load(l, o, off + k, 1), ten = lw_const(l, 10), hundred = lw_const(l, 100);

		if (k)
			net_put_char(l, t, '.');
		net_put_digit(l, t, v, 100, lw_binary(l, IR_DIVU, v, hundred));
		net_put_digit(l, t, v, 10, lw_binary(l, IR_MODU, lw_binary(l, IR_DIVU, v, ten), ten));
		net_put_digit(l, t, v, 0, lw_binary(l, IR_MODU, v, ten));
	}
}

static ir_reg net_hex(struct lw *l, ir_reg v, unsigned shift)
{
	return lw_binary(l, IR_AND, lw_binary(l, IR_SHR, v, lw_const(l, shift)), lw_const(l, 15));
}

static ir_reg net_group(struct lw *l, ir_obj o, uint32_t k)
{
	struct ir_ins *i;
	ir_reg v = net_load(l, o, 2 * k, 2);

	i = lw_emit(l, IR_HTON);
	i->a = v;
	i->s = 2;
	return i->d = lw_reg(l);
}

/* The longest run of groups that are 0: where it begins (8: there is none), and how many they are. */
static void net_longest_run(struct lw *l, const struct net_text *t, ir_obj o)
{
	net_set(l, t, NET_START, lw_const(l, 8));
	net_set(l, t, NET_LENGTH, lw_const(l, 1)); /* one group alone stays as it is */
	for (uint32_t k = 0; k < 8; k++) {
		uint32_t zero = lw_label(l), next = lw_label(l);
		ir_reg run;

		lw_jcmp(l, net_load(l, o, 2 * k, 2), IR_EQ, lw_const(l, 0), zero);
		net_set(l, t, NET_RUN, lw_const(l, 0));
		lw_jmp(l, next);
		lw_put(l, zero);
		run = lw_binary(l, IR_ADD, net_get(l, t, NET_RUN), lw_const(l, 1));
		net_set(l, t, NET_RUN, run);
		lw_jcmp(l, run, IR_LEU, net_get(l, t, NET_LENGTH), next);
		net_set(l, t, NET_LENGTH, run);
		net_set(l, t, NET_START, lw_binary(l, IR_SUB, lw_const(l, k + 1), run));
		lw_put(l, next);
	}
}

/* Jumps to `not` unless the address has an IPv4 address within; its prefix is written where strings have room for
 * both. */
static void net_put_within(struct lw *l, const struct net_text *t, ir_obj o, uint32_t not )
{
	ir_reg length = net_get(l, t, NET_LENGTH);
	uint32_t compatible = lw_label(l), dotted = lw_label(l);

	lw_jcmp(l, net_get(l, t, NET_START), IR_NE, lw_const(l, 0), not );
	lw_jcmp(l, length, IR_EQ, lw_const(l, 6), compatible);
	lw_jcmp(l, length, IR_NE, lw_const(l, 5), not );
	lw_jcmp(l, net_load(l, o, 10, 2), IR_NE, lw_const(l, 0xffff), not );
	if (l->u->strmost >= sizeof("::ffff:255.255.255.255") - 1)
		net_put_text(l, t, "::ffff:");
	lw_jmp(l, dotted);
	lw_put(l, compatible);
	if (l->u->strmost >= sizeof("::255.255.255.255") - 1)
		net_put_text(l, t, "::");
	lw_put(l, dotted);
	net_put_ipv4(l, t, o, 12);
}

static void net_put_ipv6(struct lw *l, const struct net_text *t, ir_obj o)
{
	uint32_t groups = lw_label(l), done = lw_label(l);

	net_longest_run(l, t, o);
	net_put_within(l, t, o, groups);
	lw_jmp(l, done);
	lw_put(l, groups);
	for (uint32_t k = 0; k < 8; k++) {
		uint32_t shown = lw_label(l), next = lw_label(l), bare = lw_label(l);
		ir_reg here = lw_const(l, k), start = net_get(l, t, NET_START), behind, v;

		behind = lw_binary(l, IR_ADD, start, net_get(l, t, NET_LENGTH));
		lw_jcmp(l, here, IR_LTU, start, shown);
		lw_jcmp(l, here, IR_GEU, behind, shown);
		lw_jcmp(l, here, IR_NE, start, next);
		net_put_text(l, t, "::");
		lw_jmp(l, next);
		lw_put(l, shown);
		if (k) {
			lw_jcmp(l, here, IR_EQ, behind, bare);
			net_put_char(l, t, ':');
		}
		lw_put(l, bare);
		v = net_group(l, o, k);
		for (unsigned shift = 12; shift; shift -= 4)
			net_put_digit(l, t, v, 1u << shift, net_hex(l, v, shift));
		net_put_digit(l, t, v, 0, net_hex(l, v, 0));
		lw_put(l, next);
	}
	lw_put(l, done);
}

/* n bytes, two digits each. */
static void net_put_link(struct lw *l, const struct net_text *t, ir_obj o, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		ir_reg v = net_load(l, o, k, 1);

		if (k)
			net_put_char(l, t, ':');
		net_put(l, t, lw_digit(l, net_hex(l, v, 4)));
		net_put(l, t, lw_digit(l, net_hex(l, v, 0)));
	}
}

/* The bytes of an address at a pointer. */
static ir_obj net_read(struct lw *l, const struct d_node *n, uint32_t size)
{
	ir_reg address = lw_pointer(l, n, size);
	ir_obj o = lw_temp(l, size);
	struct ir_ins *i = lw_on(l, IR_OREAD, o, 0, size);

	i->a = address;
	return o;
}

static void net_put_kind(struct lw *l, const struct net_text *t, const struct d_node *n, uint32_t kind)
{
	if (n->call == CALL_link_ntop)
		net_put_link(l, t, net_read(l, n->arg[1], kind ? 20 : 6), kind ? 20 : 6);
	else if (kind == 0)
		net_put_ipv4(l, t, net_read(l, n->arg[n->narg - 1], 4), 0);
	else
		net_put_ipv6(l, t, net_read(l, n->arg[n->narg - 1], 16));
}

/* inet_ntop(family, address), link_ntop(type, address): one that is not known is an illegal operation. */
static void net_by_family(struct lw *l, const struct net_text *t, const struct d_node *n)
{
	static const uint16_t families[] = { 2, 10 },
			      links[] = { 1, 32 }; /* AF_INET, AF_INET6; ARPHRD_ETHER, ARPHRD_INFINIBAND */
	const bool link = n->call == CALL_link_ntop;
	const uint32_t count = link ? COUNT(links) : COUNT(families), done = lw_label(l);
	const uint16_t *numbers = link ? links : families;
	ir_reg family = lw_value(l, n->arg[0]);
	bool known = false;

	for (uint32_t k = 0; k < count; k++)
		known |= n->arg[0]->kind == N_INT && n->arg[0]->ival == numbers[k];
	for (uint32_t k = 0; k < count; k++) {
		const uint16_t number = numbers[k];
		uint32_t other = lw_label(l);

		if (known && n->arg[0]->ival != number)
			continue; /* where none is known all stay: the kernel refuses code that nothing leads to */
		lw_jcmp(l, family, IR_NE, lw_const(l, number), other);
		net_put_kind(l, t, n, k);
		lw_jmp(l, done);
		lw_put(l, other);
	}
	lw_fault(l, FAULT_ILLOP, family);
	lw_put(l, done);
}

void lw_subr_net(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	struct net_text t = net_begin(l);
	ir_reg from, most;

	if (n->narg == 2)
		net_by_family(l, &t, n);
	else
		net_put_kind(l, &t, n, n->call == CALL_inet_ntoa6);
	from = lw_const(l, 0);
	most = lw_const(l, NET_TEXT);
	lw_part(lw_on(l, IR_SSUB, o, off, size), t.o, NET_TEXT, from, most);
}
