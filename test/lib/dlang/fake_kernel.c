/* fake_kernel.c: a row for each type; its number is its place. */
#include "dlang/fake_kernel.h"

#include <string.h>

enum type {
	NONE,
	VOID,
	CHAR,
	UCHAR,
	SHORT,
	INT,
	UINT,
	LONG,
	ULONG,
	BOOL,
	WIDE,
	DOUBLE,
	CHAR_PTR,
	CHAR_16,
	KUID_TYPEDEF,
	KUID,
	CRED,
	CRED_PTR,
	TASK,
	TASK_PTR,
	MM,
	MM_PTR,
	SIGNAL,
	SIGNAL_PTR,
	UPID,
	UPID_FLEX,
	PID,
	PID_PTR,
	PID_PTR_4,
	FILES,
	FILES_PTR,
	FDTABLE,
	FDTABLE_PTR,
	FILE_S,
	FILE_PTR,
	FILE_PTR_PTR,
	PATH,
	QSTR,
	DENTRY,
	DENTRY_PTR,
	MOUNT,
	MOUNT_PTR,
	SUPER,
	SUPER_PTR,
	FSTYPE,
	FSTYPE_PTR,
	CSS,
	CSS_PTR,
	CGROUP,
	CGROUP_PTR,
	CGROUP_FLEX,
	KERNFS,
	KERNFS_PTR,
	STATE,
	CALLBACK,
	CALLBACK_PTR,
	MODULE,
	MODULE_PTR,
	VALUE,
	USER_PTR,
	USER_ADDRESS,
	SPAN,
	NTYPES
};

/* A member: its place in bytes, or of a bit-field its bits behind that. */
#define M(name, type, byte)             \
	{                               \
		name, type, (byte)*8, 0 \
	}
static const struct d_kmember kuid[] = { M("val", UINT, 0) };
static const struct d_kmember cred[] = { M("uid", KUID_TYPEDEF, 0), M("gid", KUID, 4), M("euid", KUID, 8),
					 M("egid", KUID, 12) };
static const struct d_kmember task[] = {
	M("pid", INT, 0),
	M("tgid", INT, 4),
	M("comm", CHAR_16, 8),
	M("real_parent", TASK_PTR, 24),
	M("cred", CRED_PTR, 32),
	M("mm", MM_PTR, 40),
	M("signal", SIGNAL_PTR, 48),
	M("files", FILES_PTR, 56),
	M("cgroups", CSS_PTR, 64),
	M("exit_code", INT, 72),
	{ "in_iowait", UINT, 608, 1 },
	{ "personality", INT, 609, 9 },
	M("state", STATE, 80),
	M("", VALUE, 88),
	M("handler", CALLBACK_PTR, 96),
	M("owner", MODULE_PTR, 104),
	M("weight", DOUBLE, 112),
	M("mask", WIDE, 120),
	M("start", USER_ADDRESS, 136),
};
static const struct d_kmember mm[] = { M("total_vm", ULONG, 0), M("arg_start", ULONG, 8), M("env_start", ULONG, 16),
				       M("user", USER_PTR, 24) };
static const struct d_kmember signal[] = { M("nr_threads", INT, 0), M("pids", PID_PTR_4, 8) };
static const struct d_kmember upid[] = { M("nr", INT, 0), M("ns", MODULE_PTR, 8) };
static const struct d_kmember pid[] = { M("level", UINT, 0), M("numbers", UPID_FLEX, 8) };
static const struct d_kmember files[] = { M("fdt", FDTABLE_PTR, 0), M("span", SPAN, 8) };
static const struct d_kmember span[] = { M("first", INT, 0), M("last", INT, 4) };
static const struct d_kmember fdtable[] = { M("max_fds", UINT, 0), M("fd", FILE_PTR_PTR, 8) };
static const struct d_kmember file[] = { M("f_path", PATH, 0), M("f_pos", LONG, 16), M("f_flags", UINT, 24) };
static const struct d_kmember path[] = { M("mnt", MOUNT_PTR, 0), M("dentry", DENTRY_PTR, 8) };
static const struct d_kmember qstr[] = { M("", VALUE, 0), M("name", CHAR_PTR, 8) };
static const struct d_kmember dentry[] = { M("d_parent", DENTRY_PTR, 0), M("d_name", QSTR, 8) };
static const struct d_kmember mount[] = { M("mnt_sb", SUPER_PTR, 0) };
static const struct d_kmember super[] = { M("s_type", FSTYPE_PTR, 0) };
static const struct d_kmember fstype[] = { M("name", CHAR_PTR, 0) };
static const struct d_kmember css[] = { M("dfl_cgrp", CGROUP_PTR, 0) };
static const struct d_kmember cgroup[] = { M("level", INT, 0), M("kn", KERNFS_PTR, 8),
					   M("ancestors", CGROUP_FLEX, 16) };
static const struct d_kmember kernfs[] = { M("name", CHAR_PTR, 0) };
static const struct d_kmember value[] = { M("whole", ULONG, 0), M("half", UINT, 0), M("byte", UCHAR, 0),
					  M("truth", BOOL, 0), M("short_one", SHORT, 0) };

#define INTEGER(bytes, sign)                                                    \
	{                                                                       \
		{ .kind = D_KT_INT, .size = bytes, .is_signed = sign }, NULL, 0 \
	}
#define POINTER(type)                                                \
	{                                                            \
		{ .kind = D_KT_PTR, .size = 8, .to = type }, NULL, 0 \
	}
#define ARRAY(type, count)                                              \
	{                                                               \
		{ .kind = D_KT_ARRAY, .n = count, .to = type }, NULL, 0 \
	}
#define STRUCT(tag, bytes, rows)                                                       \
	{                                                                              \
		{ .kind = D_KT_STRUCT, .size = bytes, .name = tag }, rows, COUNT(rows) \
	}
static const struct fake_type {
	struct d_ktype type;
	const struct d_kmember *member;
	uint32_t members;
} types[NTYPES] = {
	[CHAR] = INTEGER(1, true),
	[UCHAR] = INTEGER(1, false),
	[SHORT] = INTEGER(2, true),
	[INT] = INTEGER(4, true),
	[UINT] = INTEGER(4, false),
	[LONG] = INTEGER(8, true),
	[ULONG] = INTEGER(8, false),
	[WIDE] = INTEGER(16, false),
	[BOOL] = { { .kind = D_KT_INT, .size = 1, .is_bool = true }, NULL, 0 },
	[DOUBLE] = { { .kind = D_KT_FLOAT, .size = 8 }, NULL, 0 },
	[CHAR_PTR] = POINTER(CHAR),
	[CHAR_16] = ARRAY(CHAR, 16),
	[KUID_TYPEDEF] = { { .kind = D_KT_TYPEDEF, .name = "kuid_t", .to = KUID }, NULL, 0 },
	[KUID] = STRUCT("", 4, kuid),
	[CRED] = STRUCT("cred", 16, cred),
	[CRED_PTR] = POINTER(CRED),
	[TASK] = STRUCT("task_struct", 144, task),
	[TASK_PTR] = POINTER(TASK),
	[MM] = STRUCT("mm_struct", 32, mm),
	[MM_PTR] = POINTER(MM),
	[SIGNAL] = STRUCT("signal_struct", 40, signal),
	[SIGNAL_PTR] = POINTER(SIGNAL),
	[UPID] = STRUCT("upid", 16, upid),
	[UPID_FLEX] = ARRAY(UPID, 0),
	[PID] = STRUCT("pid", 8, pid),
	[PID_PTR] = POINTER(PID),
	[PID_PTR_4] = ARRAY(PID_PTR, 4),
	[FILES] = STRUCT("files_struct", 16, files),
	[FILES_PTR] = POINTER(FILES),
	[FDTABLE] = STRUCT("fdtable", 16, fdtable),
	[FDTABLE_PTR] = POINTER(FDTABLE),
	[FILE_S] = STRUCT("file", 32, file),
	[FILE_PTR] = POINTER(FILE_S),
	[FILE_PTR_PTR] = POINTER(FILE_PTR),
	[PATH] = STRUCT("path", 16, path),
	[QSTR] = STRUCT("qstr", 16, qstr),
	[DENTRY] = STRUCT("dentry", 24, dentry),
	[DENTRY_PTR] = POINTER(DENTRY),
	[MOUNT] = STRUCT("vfsmount", 8, mount),
	[MOUNT_PTR] = POINTER(MOUNT),
	[SUPER] = STRUCT("super_block", 8, super),
	[SUPER_PTR] = POINTER(SUPER),
	[FSTYPE] = STRUCT("file_system_type", 8, fstype),
	[FSTYPE_PTR] = POINTER(FSTYPE),
	[CSS] = STRUCT("css_set", 8, css),
	[CSS_PTR] = POINTER(CSS),
	[CGROUP] = STRUCT("cgroup", 16, cgroup),
	[CGROUP_PTR] = POINTER(CGROUP),
	[CGROUP_FLEX] = ARRAY(CGROUP_PTR, 0),
	[KERNFS] = STRUCT("kernfs_node", 8, kernfs),
	[KERNFS_PTR] = POINTER(KERNFS),
	[STATE] = { { .kind = D_KT_ENUM, .size = 4, .name = "state" }, NULL, 0 },
	[CALLBACK] = { { .kind = D_KT_FUNC, .to = INT }, NULL, 0 },
	[CALLBACK_PTR] = POINTER(CALLBACK),
	[MODULE] = { { .kind = D_KT_STRUCT, .name = "module", .incomplete = true }, NULL, 0 },
	[MODULE_PTR] = POINTER(MODULE),
	[VALUE] = { { .kind = D_KT_UNION, .size = 8, .name = "" }, value, COUNT(value) },
	[USER_PTR] = { { .kind = D_KT_PTR, .size = 8, .to = CHAR, .user = true }, NULL, 0 },
	[SPAN] = STRUCT("", 8, span),
	[USER_ADDRESS] = { { .kind = D_KT_TYPEDEF, .name = "user_address_t", .to = USER_PTR }, NULL, 0 },
};

static uint64_t fake_find(void *arg, const char *module, uint8_t kind, const char *name)
{
	(void)arg;
	if (module && *module && strcmp(module, "vmlinux") != 0)
		return 0;
	for (uint64_t i = 1; i < NTYPES; i++)
		if (types[i].type.kind == kind && types[i].type.name && types[i].type.name[0] &&
		    !strcmp(types[i].type.name, name))
			return i;
	return 0;
}

static const char *fake_near(void *arg, const char *module, uint8_t kind, const char *name)
{
	const char *names[NTYPES];
	size_t n = 0;

	(void)arg;
	if (module && *module && strcmp(module, "vmlinux") != 0)
		return NULL;
	for (uint64_t i = 1; i < NTYPES; i++)
		if (types[i].type.kind == kind && types[i].type.name && types[i].type.name[0])
			names[n++] = types[i].type.name;
	return text_nearest(name, TEXT_NAMES(names, n));
}

static bool fake_get(void *arg, uint64_t type, struct d_ktype *ret)
{
	(void)arg;
	if (type < VOID || type >= NTYPES)
		return false;
	*ret = types[type].type;
	return true;
}

static bool fake_member(void *arg, uint64_t type, uint32_t i, struct d_kmember *ret)
{
	(void)arg;
	if (type >= NTYPES || i >= types[type].members)
		return false;
	*ret = types[type].member[i];
	return true;
}

static bool fake_constant(void *arg, const char *name, int64_t *ret)
{
	(void)arg;
	*ret = -1;
	return !strcmp(name, "STATE_DEAD");
}

static int fake_symbol(void *arg, const char *module, const char *name, struct d_ksymbol *ret, struct err *why)
{
	static const struct {
		const char *name;
		struct d_ksymbol is;
	} symbols[] = {
		{ "jiffies", { 0xffffffff82001000, ULONG, false } },
		{ "init_task", { 0xffffffff82002000, TASK, false } },
		{ "max_pfn", { 0xffffffff82003000, 0, false } },
		{ "banner", { 0xffffffff82004000, CHAR_16, false } },
		{ "panic", { 0xffffffff81000000, CALLBACK, true } },
	};

	(void)arg;
	for (size_t i = 0; i < COUNT(symbols); i++)
		if (!strcmp(name, symbols[i].name) && (!module || !strcmp(module, "vmlinux"))) {
			*ret = symbols[i].is;
			return 0;
		}
	return err_set(why, TALLY_ENOPROBE, "the kernel has no symbol %s", name);
}

const struct d_ktypes fake_kernel = { .find = fake_find,
				      .near = fake_near,
				      .get = fake_get,
				      .member = fake_member,
				      .constant = fake_constant,
				      .symbol = fake_symbol };
