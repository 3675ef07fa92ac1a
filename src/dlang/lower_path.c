/*
 * lower_path.c: d_path(): the name of a file, as the kernel has it: a mount and a directory entry.
 *
 * The kernel's own helper serves few of its functions, so the way up is walked here: from an entry to its parent, from
 * the root of a mount to where it is mounted, up to the mount that is mounted on itself.  Names come last to first, so
 * the text grows from the end of a buffer to its front, and is copied from where it begins.
 *
 * A program can't loop without a bound, and a step is 100 instructions: there are PATH_STEPS of them, one after the
 * other.  Where the text begins lies in the buffer's object, not in a register: the verifier knows nothing of what it
 * loads from there, so that all ways to a step look the same to it and it walks each step once.
 *
 * Names and parents are read without locks: a file that is renamed meanwhile may have a name that is half of each.
 */
#include "dlang/lower_int.h"
#include "dlang/type_int.h"

#include <string.h>

#define PATH_STEPS 24 /* names and mounts */

enum path_member {
	PATH_MNT,
	PATH_DENTRY,
	DENTRY_PARENT,
	DENTRY_NAME,
	QSTR_TEXT,
	QSTR_LENGTH,
	MNT_ROOT,
	MOUNT_MNT,
	MOUNT_PARENT,
	MOUNT_POINT,
};
static const char *const path_members[][2] = {
	[PATH_MNT] = { "path", "mnt" },
	[PATH_DENTRY] = { "path", "dentry" },
	[DENTRY_PARENT] = { "dentry", "d_parent" },
	[DENTRY_NAME] = { "dentry", "d_name" },
	[QSTR_TEXT] = { "qstr", "name" },
	[QSTR_LENGTH] = { "qstr", "len" },
	[MNT_ROOT] = { "vfsmount", "mnt_root" },
	[MOUNT_MNT] = { "mount", "mnt" },
	[MOUNT_PARENT] = { "mount", "mnt_parent" },
	[MOUNT_POINT] = { "mount", "mnt_mountpoint" },
};
static_assert(COUNT(path_members) == D_PATH_MEMBERS, "room for each offset");

int path_find_members(struct d_unit *u, uint32_t line)
{
	for (size_t i = 0; i < COUNT(path_members); i++) {
		const struct d_type *t = u->env.ktypes != NULL ? type_tagged(u, TY_STRUCT, path_members[i][0]) : NULL;

		if (u->env.ktypes == NULL)
			return d_fail(u, line, D_UNSUPPORTED,
				      "d_path( ) reads structures of a kernel: there is none where this runs");
		if (t == NULL)
			return d_nomem(u);
		if (!member_offset(u, t, path_members[i][1], &u->path_offset[i]))
			return d_fail(u, line, D_UNSUPPORTED, "d_path( ): this kernel's struct %s has no member %s",
				      path_members[i][0], path_members[i][1]);
	}
	return 0;
}

struct path {
	const uint32_t *offset; /* of the kernel's members */
	ir_obj word, text;      /* text: where it begins (8 bytes), and it */
	uint32_t room;          /* bytes of the text */
	ir_reg dentry, mount;   /* where the walk is */
	ir_reg slash, one;
	uint32_t top, alone, cut; /* labels: the walk ends at the top; at an entry without a parent; too early */
};

/* Bytes of the kernel at an address. */
static ir_reg path_load(struct lw *l, const struct path *p, ir_reg base, uint32_t offset, uint32_t size)
{
	ir_reg at = offset ? lw_binary(l, IR_ADD, base, lw_const(l, offset)) : base;
	struct ir_ins *i = lw_on(l, IR_OREAD, p->word, 0, size);

	i->a = at;
	i = lw_on(l, IR_OLOAD, p->word, 0, size);
	return i->d = lw_reg(l);
}

static ir_reg path_start(struct lw *l, const struct path *p)
{
	struct ir_ins *i = lw_on(l, IR_OLOAD, p->text, 0, 8);

	return i->d = lw_reg(l);
}

/* A character in front of the text. */
static void path_put(struct lw *l, const struct path *p, ir_reg c)
{
	ir_reg at = lw_binary(l, IR_SUB, path_start(l, p), p->one);
	struct ir_ins *i = lw_on(l, IR_OSTOREX, p->text, 8, 1);

	i->a = c;
	i->b = at;
	i->i = p->room;
	i->x = 1;
	lw_store8(l, p->text, 0, at);
}

/* From the root of a mount to where that is mounted, or a name and up to the parent. */
static void path_step(struct lw *l, const struct path *p)
{
	const uint32_t *off = p->offset, name = lw_label(l), next = lw_label(l);
	ir_reg root = path_load(l, p, p->mount, off[MOUNT_MNT] + off[MNT_ROOT], 8), above, length, at;
	struct ir_ins *i;

	lw_jcmp(l, root, IR_NE, p->dentry, name);
	above = path_load(l, p, p->mount, off[MOUNT_PARENT], 8);
	lw_jcmp(l, above, IR_EQ, p->mount, p->top);
	lw_move_to(l, p->dentry, path_load(l, p, p->mount, off[MOUNT_POINT], 8));
	lw_move_to(l, p->mount, above);
	lw_jmp(l, next);

	lw_put(l, name);
	above = path_load(l, p, p->dentry, off[DENTRY_PARENT], 8);
	lw_jcmp(l, above, IR_EQ, p->dentry, p->alone);
	length = path_load(l, p, p->dentry, off[DENTRY_NAME] + off[QSTR_LENGTH], 4);
	at = lw_binary(l, IR_SUB, path_start(l, p), length);
	lw_jcmp(l, at, IR_LT, lw_const(l, 4), p->cut); /* room for a slash, and for what tells that it is cut */
	lw_store8(l, p->text, 0, at);
	root = path_load(l, p, p->dentry, off[DENTRY_NAME] + off[QSTR_TEXT], 8);
	i = lw_on(l, IR_OREADN, p->text, 8, 0);
	i->a = root;
	i->b = at;
	i->e = length;
	i->i = p->room;
	path_put(l, p, p->slash);
	lw_move_to(l, p->dentry, above);
	lw_put(l, next);
}

/* Whether an argument, made a number, was a pointer to a mount, which is asked for where it is mounted. */
static bool path_is_of_mount(const struct d_node *arg)
{
	const struct d_type *t = arg->kind == N_CAST ? arg->a->type : arg->type;

	return t->kind == TY_PTR && t->to->kind == TY_STRUCT && t->to->name && !strcmp(t->to->name, "struct vfsmount");
}

/* d_path(p): absolute, from the root of the mounts on. A path that is too long or too deep begins with "...", and an
 * entry that lies in no directory (of a pipe, a socket) has its name alone. */
void lw_subr_path(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	const uint32_t bound = n->type->size < size ? n->type->size : size, copy = lw_label(l), end = lw_label(l);
	struct path p = { .offset = l->u->path_offset,
			  .room = l->u->strsize,
			  .top = lw_label(l),
			  .alone = lw_label(l),
			  .cut = lw_label(l) };
	ir_reg path = lw_value(l, n->arg[0]), last = lw_const(l, l->u->strmost), text, dot;
	struct ir_ins *i;

	lw_zero(l, o, off, size);
	p.word = lw_temp(l, 8);
	p.text = lw_temp(l, 8 + p.room);
	p.slash = lw_const(l, '/');
	p.one = lw_const(l, 1);
	p.dentry = lw_reg(l);
	p.mount = lw_reg(l);
	const bool of_mount = path_is_of_mount(n->arg[0]);
	lw_move_to(l, p.dentry, path_load(l, &p, path, p.offset[of_mount ? MNT_ROOT : PATH_DENTRY], 8));
	if (!of_mount)
		path = path_load(l, &p, path, p.offset[PATH_MNT], 8);
	lw_move_to(l, p.mount, lw_binary(l, IR_SUB, path, lw_const(l, p.offset[MOUNT_MNT])));
	lw_store8(l, p.text, 0, last);
	lw_zero(l, p.text, 8 + (l->u->strmost & ~7u), p.room - (l->u->strmost & ~7u));
	for (int step = 0; step < PATH_STEPS; step++)
		path_step(l, &p);

	lw_put(l, p.cut);
	dot = lw_const(l, '.');
	for (int k = 0; k < 3; k++)
		path_put(l, &p, dot);
	lw_jmp(l, copy);

	lw_put(l, p.alone);
	lw_jcmp(l, path_start(l, &p), IR_NE, last, copy);
	text = path_load(l, &p, p.dentry, p.offset[DENTRY_NAME] + p.offset[QSTR_TEXT], 8);
	i = lw_on(l, IR_OREADSTR, o, off, bound);
	i->a = text;
	lw_jmp(l, end);

	lw_put(l, p.top);
	lw_jcmp(l, path_start(l, &p), IR_NE, last, copy);
	path_put(l, &p, p.slash);
	lw_put(l, copy);
	i = lw_emit(l, IR_OADDR);
	i->o = p.text;
	i->O = 8;
	text = i->d = lw_reg(l);
	text = lw_binary(l, IR_ADD, text, path_start(l, &p));
	i = lw_on(l, IR_OREADSTR, o, off, bound);
	i->a = text;
	lw_put(l, end);
}
