/*
 * machine_image.c: a machine with one guest, an image of machine code under Unicorn.
 *
 * Its hypercalls are answered by the machine's service, and by two of ours that every guest
 * needs: to say something, and to end.  sun4v has both in CORE_TRAP; of POWER they are
 * H_PUT_TERM_CHAR, and H_CEDE: where no interrupt can come, a processor that gives itself up never
 * runs again, so that is the end, with r4 as the status.
 *
 * Time: a call takes TRAP_NS of the machine's, and nothing else does.  So an image does the same
 * every time, however fast it is run, and its own references are no load of the model.
 */
#include <string.h>

#include "attach/unicorn.h"
#include "platform/hv_machine_int.h"

#define MEMORY_BYTES (64u << 20)
#define PAGE 4096u
#define SUN4V_BASE UINT64_C(0x80000000)
#define POWER_ENTRY 0x100u /* of a flat image: where a reset goes */
#define SUN4V_TRAP_NS 1000u
#define POWER_TRAP_NS 1000000u
#define CONSOLE_MOST 4096u
enum { H_PUT_TERM_CHAR = 0x58, H_CEDE = 0xe0 }; /* tokens, PAPR 14.5.4.4.2 and 14.11.3 */

struct guest {
	const struct tally_machine_opts *m;
	struct model *machine;
	struct emu *emu;
	struct emu_memory memory;
	void *allocated;
	struct sun4v_guest *sun4v;
	struct sun4v_vcpu *vcpu;
	struct buf console;
	bool console_failed; /* nobody takes what the guest says: the run ends */
	bool ended;
	uint64_t status;
	struct err *e;
};

/* ---- the console --------------------------------------------------------------------------- */

static void guest_flush_console(struct guest *g)
{
	if (g->console.n && g->m->console && g->m->console(g->m->arg, g->console.p, g->console.n) < 0)
		g->console_failed = true;
	buf_clear(&g->console);
}

static void guest_put_char(void *arg, uint8_t c)
{
	struct guest *g = arg;

	buf_putc(&g->console, (char)c);
	if (c == '\n' || g->console.n >= CONSOLE_MOST || g->console.failed)
		guest_flush_console(g);
}

static void guest_exited(void *arg, uint64_t status)
{
	struct guest *g = arg;

	g->ended = true;
	g->status = status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void *mem_at(void *arg, uint64_t ra, size_t n)
{
	const struct emu_memory *m = &((struct guest *)arg)->memory;

	return range_holds(m->base, m->bytes, ra, n) ? m->p + (ra - m->base) : NULL;
}

static struct hv_mem memory_of(struct guest *g)
{
	return (struct hv_mem){ .arg = g, .at = mem_at };
}

static int give_memory(struct guest *g)
{
	g->allocated = mem_alloc(MEMORY_BYTES + PAGE);
	if (!g->allocated)
		return err_oom(g->e);
	g->memory.p = (uint8_t *)(((uintptr_t)g->allocated + PAGE - 1) / PAGE * PAGE);
	g->memory.bytes = MEMORY_BYTES;
	g->memory.base = g->machine->kind ? SUN4V_BASE : 0;
	return 0;
}

/* ---- traps -------------------------------------------------------------------------------------- */

static bool goes_on(const struct guest *g)
{
	return !g->ended && !g->console_failed;
}

static bool sun4v_trap(void *arg, unsigned trap, uint64_t r[6])
{
	struct guest *g = arg;

	model_advance(g->machine, SUN4V_TRAP_NS);
	(void)sun4v_call(g->vcpu, trap, r);
	return goes_on(g);
}

/* r4: the terminal, whichever; r5: how many bytes, of r6 and r7. */
static void put_term_char(struct guest *g, uint64_t r[6])
{
	if (r[2] > 16) {
		r[0] = (uint64_t)(int64_t)H_PARAMETER;
		return;
	}
	for (uint64_t i = 0; i < r[2]; i++)
		guest_put_char(g, (uint8_t)(r[3 + i / 8] >> (56 - i % 8 * 8)));
	r[0] = H_SUCCESS;
}

static bool papr_trap(void *arg, unsigned trap, uint64_t r[6])
{
	struct guest *g = arg;
	const struct hv_mem mem = memory_of(g);

	(void)trap;
	model_advance(g->machine, POWER_TRAP_NS);
	if (r[0] == H_PUT_TERM_CHAR)
		put_term_char(g, r);
	else if (r[0] == H_CEDE)
		guest_exited(g, r[1]);
	else
		papr_call(g->machine->papr, (struct papr_caller){ .partition = 1 }, &mem, r);
	return goes_on(g);
}

/* ---- a run ---------------------------------------------------------------------------------------- */

static int open_guest(struct guest *g, const struct model_opts *h)
{
	static const struct sun4v_rights all = { true, true, true, true };
	const struct sun4v_guest_opts o = { h->rights_given ? h->sun4v : all, memory_of(g), guest_put_char,
					    guest_exited, g };
	int rc;

	if (!g->machine->kind)
		return 0;
	rc = sun4v_guest_open(&g->sun4v, g->machine->sun4v, &o);
	if (rc >= 0)
		rc = sun4v_vcpu_open(&g->vcpu, g->sun4v, 0);
	if (rc < 0)
		return err_set(g->e, (enum tally_err) - rc, "%s", tally_strerror(rc));
	niagara_vcpu(g->machine->niagara, 0, g->vcpu);
	return 0;
}

static int guest_load_image(struct guest *g, struct emu_opts *o)
{
	uint8_t *file = NULL;
	size_t n;
	int rc = file_read_all(g->m->run, MEMORY_BYTES, &file, &n, g->e);

	if (rc >= 0)
		rc = emu_image_load(&o->image, &o->memory, o->cpu, o->cpu == EMU_POWER64 ? POWER_ENTRY : 0, file, n,
				    g->e);
	mem_free(file);
	return rc;
}

static int guest_run(struct guest *g, const struct model_opts *h)
{
	struct emu_opts o = { .trap = g->machine->kind ? sun4v_trap : papr_trap,
			      .arg = g,
			      .cpu = g->machine->kind ? EMU_SPARC64 : EMU_POWER64 };
	int rc = give_memory(g);

	o.memory = g->memory;
	if (rc == 0)
		rc = open_guest(g, h);
	if (rc == 0)
		rc = guest_load_image(g, &o);
	if (rc == 0)
		rc = emu_open(&g->emu, &o, g->e);
	if (rc == 0)
		rc = emu_run(g->emu, g->m->stop, g->e);
	guest_flush_console(g);
	if (rc == 0 && g->console_failed)
		rc = err_set(g->e, TALLY_EIO, "failed to write the guest's output");
	return rc;
}

int hv_machine_image(const struct tally_machine_opts *m, const struct plat_on *on, int32_t *status, struct err *e)
{
	struct guest g = { .m = m, .e = e };
	int rc;

	if (m->listen || m->guests)
		return err_set(e, TALLY_EINVAL, "--run cannot be combined with --listen or --guests");
	rc = hv_machine_open(&g.machine, on, false, e);
	if (rc == 0)
		rc = guest_run(&g, &on->hv);
	if (rc == 0)
		*status = (int32_t)(g.status & 0xff);
	emu_close(g.emu);
	if (g.vcpu)
		niagara_vcpu(g.machine->niagara, 0, NULL);
	sun4v_guest_close(g.sun4v);
	model_close(g.machine);
	buf_free(&g.console);
	mem_free(g.allocated);
	return rc;
}
