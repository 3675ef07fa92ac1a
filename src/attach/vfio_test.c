/* vfio_test.c: what a client does that means well: negotiation, registers, traces, goodbyes; and the socket. */
#include <linux/vfio.h>

#include "attach/server_race_test_int.h"
#include "attach/vfio_test_int.h"

/* What the protocol takes over from the kernel's VFIO. */
static_assert(sizeof(struct vu_map) == sizeof(struct vfio_iommu_type1_dma_map), "");
static_assert(sizeof(struct vu_unmap) == sizeof(struct vfio_iommu_type1_dma_unmap), "");
static_assert(sizeof(struct vu_device_info) <= sizeof(struct vfio_device_info), "");
static_assert(sizeof(struct vu_region_info) == sizeof(struct vfio_region_info), "");
static_assert(sizeof(struct vu_irq_info) == sizeof(struct vfio_irq_info), "");
static_assert(sizeof(struct vu_irq_set) == sizeof(struct vfio_irq_set), "");
static_assert(VU_MAP_READ == VFIO_DMA_MAP_FLAG_READ && VU_MAP_WRITE == VFIO_DMA_MAP_FLAG_WRITE, "");
static_assert(VU_UNMAP_ALL == VFIO_DMA_UNMAP_FLAG_ALL, "");
static_assert(VU_DEVICE_RESETS == VFIO_DEVICE_FLAGS_RESET && VU_DEVICE_PCI == VFIO_DEVICE_FLAGS_PCI, "");
static_assert((int)VU_REGION_BAR2 == VFIO_PCI_BAR2_REGION_INDEX, "");
static_assert((int)VU_REGION_CONFIG == VFIO_PCI_CONFIG_REGION_INDEX, "");
static_assert((int)VU_REGIONS == VFIO_PCI_NUM_REGIONS && (int)VU_IRQS == VFIO_PCI_NUM_IRQS, "");
static_assert(VU_REGION_READABLE == VFIO_REGION_INFO_FLAG_READ, "");
static_assert(VU_REGION_WRITABLE == VFIO_REGION_INFO_FLAG_WRITE, "");
static_assert((int)VU_IRQ_MSI == VFIO_PCI_MSI_IRQ_INDEX && VU_IRQ_EVENTFD == VFIO_IRQ_INFO_EVENTFD, "");
static_assert(VU_IRQ_NORESIZE == VFIO_IRQ_INFO_NORESIZE, "");
static_assert(VU_SET_NONE == VFIO_IRQ_SET_DATA_NONE && VU_SET_BOOL == VFIO_IRQ_SET_DATA_BOOL, "");
static_assert(VU_SET_EVENTFD == VFIO_IRQ_SET_DATA_EVENTFD && VU_SET_TRIGGER == VFIO_IRQ_SET_ACTION_TRIGGER, "");
static_assert(VU_SET_MASK == VFIO_IRQ_SET_ACTION_MASK && VU_SET_UNMASK == VFIO_IRQ_SET_ACTION_UNMASK, "");

/* ---- negotiation ------------------------------------------------------------------------------- */
static void negotiation_offers_only_what_was_proposed(void **state)
{
	struct bench b;
	struct vu_version v;

	(void)state;
	bench_bare(&b);
	b.client = knock(&b);
	assert_int_equal(greet(&b), 0);
	assert_int_equal(b.replied, sizeof(v) + sizeof(OURS));
	assert_string_equal((const char *)payload(&b) + sizeof(v), OURS);
	close(b.client);
	b.client = knock(&b);
	assert_int_equal(greet_as(&b, 0, 0, "{\"capabilities\":{\"pgsizes\":4096}}", 34), 0);
	assert_string_equal((const char *)payload(&b) + sizeof(v), "{\"capabilities\":{\"pgsizes\":4096}}");
	close(b.client);
	b.client = knock(&b);
	assert_int_equal(greet_as(&b, 0, 7, "", 0), 0);
	memcpy(&v, payload(&b), sizeof(v));
	assert_int_equal(v.minor, VU_MINOR);
	assert_string_equal((const char *)payload(&b) + sizeof(v), "{\"capabilities\":{}}");
	bench_close(&b);
}

static void negotiation_comes_first_and_once(void **state)
{
	struct vu_device_info i = { .argsz = sizeof(i) };
	struct bench b;

	(void)state;
	bench_bare(&b);
	b.client = knock(&b);
	assert_int_equal(ask(&b, VU_DEVICE_GET_INFO, &i, sizeof(i)), EINVAL);
	assert_int_equal(greet(&b), 0);
	assert_int_equal(greet(&b), EINVAL);
	assert_int_equal(ask(&b, VU_DEVICE_GET_INFO, &i, sizeof(i)), 0);
	bench_close(&b);
}

static void another_major_version_ends_the_connection(void **state)
{
	struct bench b;

	(void)state;
	bench_bare(&b);
	b.client = knock(&b);
	assert_int_equal(greet_as(&b, 1, 0, CAPS, sizeof(CAPS)), EINVAL);
	serve(&b);
	assert_int_equal(next_reply(&b, 0), -1);
	bench_close(&b);
}

static void capabilities_that_are_no_json_are_refused(void **state)
{
	static const char *const bad[] = { "",
					   "{",
					   "[]",
					   "{}x",
					   "{\"a\"}",
					   "{\"a\":}",
					   "{\"a\":1,}",
					   "{\"a\\",
					   "{\"a\":\"\n\"}",
					   "{\"a\":[1,}",
					   "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":{\"g\":{\"h\":1}}}}}}}}" };
	static const char *const good[] = { "{}", " { } ", "{\"a\":[1,{\"b\":null},\"\\\"\"],\"capabilities\":{}}",
					    "{\"capabilities\":7}", "{\"a\":[]}" };
	struct bench b;

	(void)state;
	bench_bare(&b);
	for (size_t i = 0; i < COUNT(bad) + COUNT(good); i++) {
		const char *json = i < COUNT(bad) ? bad[i] : good[i - COUNT(bad)];

		b.client = knock(&b);
		assert_int_equal(greet_as(&b, 0, 0, json, strlen(json) + 1), i < COUNT(bad) ? EINVAL : 0);
		close(b.client);
		b.client = knock(&b);
		assert_int_equal(greet_as(&b, 0, 0, "{}x", 3), EINVAL); /* no NUL */
		close(b.client);
	}
	b.client = -1;
	serve(&b);
	bench_close(&b);
}

/* ---- what the device is ------------------------------------------------------------------------ */
static void the_device_has_nine_regions_and_one_msi(void **state)
{
	struct vu_device_info d = { .argsz = sizeof(d) };
	struct vu_region_io_fds f = { .argsz = sizeof(f), .index = 2 };
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(ask(&b, VU_DEVICE_GET_INFO, &d, sizeof(d)), 0);
	d = (struct vu_device_info){ 16, VU_DEVICE_RESETS | VU_DEVICE_PCI, 9, 5 };
	assert_memory_equal(payload(&b), &d, sizeof(d));
	for (uint32_t i = 0; i < VU_REGIONS; i++) {
		struct vu_region_info r = { .argsz = i % 2 ? 256 : sizeof(r), .index = i };

		assert_int_equal(ask(&b, VU_DEVICE_GET_REGION_INFO, &r, sizeof(r)), 0);
		memcpy(&r, payload(&b), sizeof(r));
		assert_int_equal(r.size, i == 2 ? 0x10000 : i == 7 ? 4096 : 0);
		assert_int_equal(r.flags, r.size ? 3 : 0);
		assert_int_equal(r.argsz, 32);
	}
	for (uint32_t i = 0; i < VU_IRQS; i++) {
		struct vu_irq_info r = { .argsz = sizeof(r), .index = i };

		assert_int_equal(ask(&b, VU_DEVICE_GET_IRQ_INFO, &r, sizeof(r)), 0);
		memcpy(&r, payload(&b), sizeof(r));
		assert_int_equal(r.argsz, 16);
		assert_int_equal(r.index, i);
		assert_int_equal(r.count, i == VU_IRQ_MSI);
		assert_int_equal(r.flags, i == VU_IRQ_MSI ? VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE : 0);
	}
	for (uint32_t room = sizeof(f); room <= 256; room += 240) {
		f.argsz = room;
		assert_int_equal(ask(&b, VU_DEVICE_GET_REGION_IO_FDS, &f, sizeof(f)), 0);
		f.argsz = sizeof(f);
		assert_memory_equal(payload(&b), &f, sizeof(f)); /* a list of none */
	}
	bench_close(&b);
}

static void what_is_not_served_says_so(void **state)
{
	static const uint16_t no[] = { 0,
				       VU_DMA_READ,
				       VU_DMA_WRITE,
				       VU_DIRTY_PAGES,
				       VU_DEVICE_FEATURE,
				       VU_MIG_DATA_READ,
				       VU_MIG_DATA_WRITE,
				       VU_COMMANDS,
				       0xffff };
	uint8_t some[64] = { 0 };
	struct bench b;

	(void)state;
	bench_open(&b);
	for (size_t i = 0; i < COUNT(no); i++)
		assert_int_equal(ask(&b, no[i], some, sizeof(some)), ENOTSUP);
	bench_close(&b);
}

static void the_function_is_19e5_a12e_of_the_root_complex(void **state)
{
	struct bench b;
	uint32_t cap;

	(void)state;
	bench_open(&b);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, 0, 4), 0xa12e19e5);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, 8, 4) >> 8, 0x118000);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, 0x0e, 1), 0);
	assert_true(rd(&b, VU_REGION_CONFIG, 0x06, 2) & 0x10);
	cap = (uint32_t)rd(&b, VU_REGION_CONFIG, 0x34, 1);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, cap, 1), 0x10);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, cap + 2, 2) >> 4 & 0xf, 9);
	cap = (uint32_t)rd(&b, VU_REGION_CONFIG, cap + 1, 1);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, cap, 1), 0x05);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, cap + 1, 1), 0);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, cap + 2, 2), 0x80);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, 0x100, 4), 0);
	assert_int_equal(rd_region(&b, VU_REGION_CONFIG, 0, 4096), 0);
	bench_close(&b);
}

static void configuration_space_that_crosses_its_end_is_zeros_and_keeps_nothing(void **state)
{
	const uint8_t ones[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	struct vfio_config c, before;
	uint8_t got[8];

	(void)state;
	vfio_config_reset(&c);
	before = c;
	assert_false(vfio_config_write(&c, VFIO_CONFIG_KEPT - 4, ones, sizeof(ones)));
	assert_false(vfio_config_write(&c, VFIO_CONFIG_KEPT, ones, sizeof(ones)));
	assert_memory_equal(&c, &before, sizeof(c));
	c.writable[0] = 0xff; /* what lies behind */
	memset(got, 1, sizeof(got));
	vfio_config_read(&c, VFIO_CONFIG_KEPT - 4, got, sizeof(got));
	for (size_t i = 0; i < sizeof(got); i++)
		assert_int_equal(got[i], 0);
}

static void writing_ones_gives_the_size_of_bar_2_only(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	for (uint32_t off = 0x10; off < 0x28; off += 4) {
		config(&b, off, 0xffffffff, 4);
		assert_int_equal(rd(&b, VU_REGION_CONFIG, off, 4), off == 0x18 ? 0xffff0000 : 0);
	}
	config(&b, 0x18, 0x10040000, 4);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, 0x18, 4), 0x10040000);
	config(&b, 0, 0, 4);
	config(&b, 0x34, 0, 1);
	config(&b, 0xffc, 0xffffffff, 4);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, 0, 4), 0xa12e19e5);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, 0x34, 1), 0x40);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, 0xffc, 4), 0);
	config(&b, 0x84, 0x0000ffffffffffff, 8);
	assert_int_equal(rd(&b, VU_REGION_CONFIG, 0x84, 8), 0x0000fffffffffffc);
	bench_close(&b);
}

/* ---- registers ----------------------------------------------------------------------------------- */
/* The first lines of a recorded run of the genuine driver. */
static void registers_answer_as_the_driver_knows_them(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(reg(&b, 0xfe0), 0x00a00080);
	assert_int_equal(reg(&b, 0xfe8), 2);
	assert_int_equal(reg(&b, 0x000), 0);
	set(&b, 0x000, 0x00050004);
	set(&b, 0x004, 2);
	assert_int_equal(reg(&b, 0x898), 0);
	set(&b, 0x000, 0x00050004);
	set(&b, 0x004, 0xffffffff);
	assert_int_equal(reg(&b, 0x898), 0);
	assert_int_equal(reg(&b, 0x004), 2);
	assert_int_equal(reg(&b, 0x8b0), 1);
	bench_close(&b);
}

static void reads_of_any_lanes_are_answered_and_writes_of_parts_are_not(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	set(&b, 0x810, 0x11223344);
	set(&b, 0x814, 0x55667788);
	assert_int_equal(rd(&b, 2, 0x810, 8), 0x5566778811223344);
	assert_int_equal(rd(&b, 2, 0x811, 1), 0x33);
	assert_int_equal(rd(&b, 2, 0x813, 2), 0x8811);
	assert_int_equal(wr_region(&b, 2, 0x810, 0x0102030405060708, 8), 0);
	assert_int_equal(rd(&b, 2, 0x810, 8), 0x0102030405060708);
	assert_int_equal(wr_region(&b, 2, 0x810, 0, 2), EINVAL);
	assert_int_equal(wr_region(&b, 2, 0x811, 0, 4), EINVAL);
	assert_int_equal(wr_region(&b, 2, 0x810, 0, 1), EINVAL);
	assert_int_equal(rd(&b, 2, 0x810, 8), 0x0102030405060708);
	assert_int_equal(rd(&b, 2, 0xfffc, 4), 0);
	bench_close(&b);
}

static void accesses_outside_a_region_are_refused(void **state)
{
	static const struct vu_access bad[] = {
		{ 0x10000, 2, 4 },
		{ 0xfffd, 2, 4 },
		{ 0, 2, 0 },
		{ 0, 2, 4097 },
		{ 0, 2, UINT32_MAX },
		{ UINT64_MAX, 2, 4 },
		{ UINT64_MAX - 3, 2, 4 },
		{ 4096, 7, 1 },
		{ 4093, 7, 4 },
		{ 0, 0, 4 },
		{ 0, 8, 4 },
		{ 0, 9, 4 },
		{ 0, UINT32_MAX, 4 },
	};
	uint8_t w[sizeof(struct vu_access) + 4096] = { 0 };
	struct bench b;
	size_t n;

	(void)state;
	bench_open(&b);
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(ask(&b, VU_REGION_READ, &bad[i], sizeof(bad[i])), EINVAL);
		memcpy(w, &bad[i], sizeof(bad[i]));
		n = sizeof(bad[i]) + (bad[i].count < 4096 ? bad[i].count : 0);
		assert_int_equal(ask(&b, VU_REGION_WRITE, w, n), EINVAL);
	}
	/* a count that isn't what came */
	memcpy(w, &(struct vu_access){ 0x810, 2, 8 }, sizeof(struct vu_access));
	assert_int_equal(ask(&b, VU_REGION_WRITE, w, sizeof(struct vu_access) + 4), EINVAL);
	assert_int_equal(ask(&b, VU_REGION_WRITE, w, sizeof(struct vu_access) + 12), EINVAL);
	assert_int_equal(ask(&b, VU_REGION_WRITE, w, sizeof(struct vu_access)), EINVAL);
	bench_close(&b);
}

static void many_writes_come_in_one_message(void **state)
{
	struct {
		struct vu_multi m;
		struct vu_write w[3];
	} m = { { 3 },
		{ { { 0x810, 2, 4 }, { 1 } }, { { 0x818, 2, 8 }, { 2, 0, 0, 0, 3 } }, { { 0x3c, 7, 1 }, { 9 } } } };
	struct vu_header h;
	uint8_t raw[256];
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(ask(&b, VU_REGION_WRITE_MULTI, &m, sizeof(m)), 0);
	assert_int_equal(b.replied, 8);
	assert_int_equal(reg(&b, 0x810), 1);
	assert_int_equal(reg(&b, 0x818), 2);
	assert_int_equal(reg(&b, 0x81c), 3);
	assert_int_equal(rd(&b, 7, 0x3c, 1), 9);
	/* no reply is wanted: none comes, and what is asked next is answered */
	m.w[0].data[0] = 5;
	message(&b, raw, VU_REGION_WRITE_MULTI, &m, sizeof(m));
	memcpy(&h, raw, sizeof(h));
	h.flags = VU_NO_REPLY;
	memcpy(raw, &h, sizeof(h));
	send_all(b.client, raw, h.size, NULL, 0);
	assert_int_equal(reg(&b, 0x810), 5);
	/* lies */
	m.m.count = 2;
	assert_int_equal(ask(&b, VU_REGION_WRITE_MULTI, &m, sizeof(m)), EINVAL);
	m.m.count = UINT64_MAX / 8;
	assert_int_equal(ask(&b, VU_REGION_WRITE_MULTI, &m, sizeof(m)), EINVAL);
	m.m.count = 3;
	m.w[1].at.count = 12;
	assert_int_equal(ask(&b, VU_REGION_WRITE_MULTI, &m, sizeof(m)), EINVAL);
	assert_int_equal(ask(&b, VU_REGION_WRITE_MULTI, &m, sizeof(m) - 1), EINVAL);
	bench_close(&b);
}

/* ---- a trace ----------------------------------------------------------------------------------------- */
static void a_trace_arrives_in_memory_and_its_interrupt_at_the_eventfd(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, b.memory), 0);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, b.event), 0);
	trace_start(&b);
	packets(&b, BUFFER / 32 - 1);
	assert_int_equal(events(&b), 0);
	packets(&b, 1);
	assert_int_equal(events(&b), 1);
	for (uint32_t i = 0; i < BUFFER / 32 - 1; i++) {
		assert_int_equal(word(&b, 32 * i), 0xffffffff);
		assert_int_equal(word(&b, 32 * i + 16), 0xfee00000 + 4 * i);
	}
	assert_int_equal(reg(&b, PTT_REG_TRACE_INT_STAT), 1);
	set(&b, PTT_REG_TRACE_INT_STAT, 1);
	packets(&b, 3);
	assert_int_equal(reg(&b, PTT_REG_TRACE_WR_STS), 1u << 28 | 96);
	assert_int_equal(word(&b, BUFFER + 64 + 16), 0xfee00008);
	assert_int_equal(ptt_dev_counts(b.dev)->dma_errors, 0);
	bench_close(&b);
}

static void a_map_begins_anywhere_in_its_file_and_a_buffer_spans_two(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	/* the second half of the buffer lies before the first in the file */
	assert_int_equal(ftruncate(b.memory, 4 << 20), 0);
	assert_int_equal(map_fd(&b, RAM, 4096, 0x5000, b.memory), 0);
	assert_int_equal(map_fd(&b, RAM + 4096, 4096, 0x1000, b.memory), 0);
	config(&b, 4, 4, 2);
	trace_start(&b);
	set(&b, PTT_REG_TRACE_CTRL, 0);
	set(&b, PTT_REG_TRACE_ADDR_SIZE, 0x2000);
	set(&b, PTT_REG_TRACE_CTRL, 0x00014011);
	packets(&b, 0x2000 / 32);
	assert_int_equal(word(&b, 0x5000 + 16), 0xfee00000);
	assert_int_equal(word(&b, 0x1000 + 16), 0xfee00000 + 4 * 128);
	assert_int_equal(word(&b, 0x1000 + 4064 + 16), 0xfee00000 + 4 * 255);
	assert_int_equal(word(&b, 0x6000), 0);
	assert_int_equal(ptt_dev_counts(b.dev)->dma_errors, 0);
	bench_close(&b);
}

static void without_bus_master_nothing_is_written(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, b.memory), 0);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, b.event), 0);
	trace_start(&b);
	packets(&b, 2);
	config(&b, 4, 2, 2); /* what was taken till now still arrives */
	assert_int_equal(word(&b, 32 + 16), 0xfee00004);
	packets(&b, BUFFER / 32);
	assert_int_equal(events(&b), 0);
	assert_int_equal(word(&b, 64), 0);
	assert_true(ptt_dev_counts(b.dev)->dma_errors > 0);
	bench_close(&b);
}

static void memory_that_is_unmapped_is_written_to_no_more(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, b.memory), 0);
	trace_start(&b);
	packets(&b, 2);
	assert_int_equal(unmap(&b, 0, RAM, RAM_SIZE / 2), ENOENT);
	assert_int_equal(unmap(&b, 0, RAM + 4096, RAM_SIZE), ENOENT);
	assert_int_equal(unmap(&b, 1, RAM, RAM_SIZE), EINVAL);
	assert_int_equal(unmap(&b, 0, RAM, RAM_SIZE), 0);
	assert_int_equal(unmap(&b, 0, RAM, RAM_SIZE), ENOENT);
	assert_int_equal(word(&b, 32 + 16), 0xfee00004);
	packets(&b, BUFFER / 32);
	assert_int_equal(word(&b, 64), 0);
	assert_true(ptt_dev_counts(b.dev)->dma_errors > 0);
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, b.memory), 0);
	assert_int_equal(map_fd(&b, 2 * RAM, RAM_SIZE, 0, b.memory), 0);
	assert_int_equal(unmap(&b, VU_UNMAP_ALL, 0, 4096), EINVAL);
	assert_int_equal(unmap(&b, VU_UNMAP_ALL, 0, 0), 0);
	assert_int_equal(unmap(&b, 0, RAM, RAM_SIZE), ENOENT);
	bench_close(&b);
}

static void memory_without_a_file_is_known_and_refused(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, -1), 0);
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, b.memory), EEXIST);
	trace_start(&b);
	packets(&b, BUFFER / 32);
	assert_int_equal(ptt_dev_counts(b.dev)->dma_errors, BUFFER / 32);
	assert_int_equal(unmap(&b, 0, RAM, RAM_SIZE), 0);
	bench_close(&b);
}

static void memory_that_may_only_be_read_is_not_written(void **state)
{
	struct vu_map m = { sizeof(m), VU_MAP_READ, 0, RAM, RAM_SIZE };
	struct bench b;
	int before;

	(void)state;
	bench_open(&b);
	before = descriptors();
	assert_int_equal(ask_with(&b, VU_DMA_MAP, &m, sizeof(m), &b.memory, 1), 0);
	assert_int_equal(descriptors(), before);
	trace_start(&b);
	packets(&b, BUFFER / 32);
	assert_int_equal(word(&b, 0), 0);
	assert_int_equal(ptt_dev_counts(b.dev)->dma_errors, BUFFER / 32);
	bench_close(&b);
}

static void the_interrupt_can_be_taken_back_and_tried(void **state)
{
	struct {
		struct vu_irq_set s;
		uint8_t on;
	} __attribute__((packed)) one = { { sizeof(one), VU_SET_BOOL | VU_SET_TRIGGER, VU_IRQ_MSI, 0, 1 }, 1 };
	struct bench b;
	int before;

	(void)state;
	bench_open(&b);
	before = descriptors();
	assert_int_equal(set_irq(&b, VU_SET_NONE | VU_SET_TRIGGER, VU_IRQ_MSI, 1, -1), 0);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, b.event), 0);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, b.event), 0);
	assert_int_equal(descriptors(), before + 1);
	assert_int_equal(set_irq(&b, VU_SET_NONE | VU_SET_TRIGGER, VU_IRQ_MSI, 1, -1), 0);
	assert_int_equal(ask(&b, VU_DEVICE_SET_IRQS, &one, sizeof(one)), 0);
	assert_int_equal(events(&b), 2);
	one.on = 0;
	assert_int_equal(ask(&b, VU_DEVICE_SET_IRQS, &one, sizeof(one)), 0);
	assert_int_equal(ask(&b, VU_DEVICE_SET_IRQS, &one, sizeof(one) - 1), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, -1), 0);
	assert_int_equal(descriptors(), before);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, b.event), 0);
	assert_int_equal(set_irq(&b, VU_SET_NONE | VU_SET_TRIGGER, VU_IRQ_MSI, 0, -1), 0);
	assert_int_equal(set_irq(&b, VU_SET_NONE | VU_SET_TRIGGER, VU_IRQ_INTX, 0, -1), 0);
	assert_int_equal(descriptors(), before);
	assert_int_equal(events(&b), 0);
	bench_close(&b);
}

static void interrupts_that_are_not_there_are_refused(void **state)
{
	struct vu_irq_set s = { sizeof(s), VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, 1 };
	struct bench b;
	int before;

	(void)state;
	bench_open(&b);
	before = descriptors();
	assert_int_equal(ask_with(&b, VU_DEVICE_SET_IRQS, &s, sizeof(s), &b.event, 1), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_INTX, 1, b.event), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 2, b.event), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQS, 1, b.event), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_MASK, VU_IRQ_MSI, 1, b.event), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_NONE | VU_SET_TRIGGER, VU_IRQ_MSI, 1, b.event), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_NONE | VU_SET_TRIGGER, VU_IRQ_MSI, 0, b.event), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_NONE | VU_SET_UNMASK, VU_IRQ_MSI, 1, -1), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_TRIGGER, VU_IRQ_MSI, 1, -1), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_NONE, VU_IRQ_MSI, 1, -1), EINVAL);
	assert_int_equal(set_irq(&b, UINT32_MAX, VU_IRQ_MSI, UINT32_MAX, -1), EINVAL);
	assert_int_equal(descriptors(), before);
	bench_close(&b);
}

/* ---- resets, goodbyes --------------------------------------------------------------------------------- */
static void a_reset_stops_the_trace_and_keeps_memory_and_interrupt(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, b.memory), 0);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, b.event), 0);
	trace_start(&b);
	assert_true(ptt_dev_tracing(b.dev));
	assert_int_equal(ask(&b, VU_DEVICE_RESET, NULL, 0), 0);
	assert_false(ptt_dev_tracing(b.dev));
	assert_int_equal(rd(&b, 7, 4, 2), 0);
	trace_start(&b);
	packets(&b, BUFFER / 32);
	assert_int_equal(events(&b), 1);
	/* the function-level reset of the PCI Express capability does the same */
	config(&b, 0x48, 0x8000, 2);
	assert_false(ptt_dev_tracing(b.dev));
	assert_int_equal(rd(&b, 7, 4, 2), 0);
	assert_int_equal(rd(&b, 7, 0x48, 2), 0x2810);
	bench_close(&b);
}

static void who_goes_leaves_nothing_and_the_next_is_served(void **state)
{
	struct bench b;
	int before, second;

	(void)state;
	bench_open(&b);
	before = descriptors();
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, b.memory), 0);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, b.event), 0);
	trace_start(&b);
	packets(&b, 1);
	second = knock(&b); /* waits */
	serve(&b);
	assert_true(ptt_dev_tracing(b.dev));
	close(b.client);
	b.client = second;
	assert_int_equal(greet(&b), 0);
	assert_false(ptt_dev_tracing(b.dev));
	assert_int_equal(descriptors(), before);
	assert_int_equal(rd(&b, 7, 4, 2), 0);
	assert_int_equal(unmap(&b, 0, RAM, RAM_SIZE), ENOENT);
	trace_start(&b);
	packets(&b, BUFFER / 32);
	assert_int_equal(events(&b), 0);
	assert_int_equal(ptt_dev_counts(b.dev)->dma_errors, BUFFER / 32);
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, b.memory), 0);
	bench_close(&b);
}

static void without_a_client_the_device_is_alone(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, b.memory), 0);
	trace_start(&b);
	close(b.client);
	b.client = -1;
	serve(&b);
	ptt_dev_write(b.dev, PTT_REG_TRACE_ADDR_BASE_LO_0, RAM);
	ptt_dev_write(b.dev, PTT_REG_TRACE_ADDR_SIZE, BUFFER);
	ptt_dev_write(b.dev, PTT_REG_TRACE_CTRL, 0x00014011);
	packets(&b, BUFFER / 32);
	assert_int_equal(word(&b, 0), 0);
	bench_close(&b);
}

static void a_closed_server_lets_go_of_the_device(void **state)
{
	struct ptt_tlp t = { .port = 1 };
	struct bench b;

	(void)state;
	bench_open(&b);
	trace_start(&b);
	b.server->op->close(b.server);
	ptt_dev_write(b.dev, PTT_REG_TRACE_ADDR_SIZE, 32);
	ptt_dev_write(b.dev, PTT_REG_TRACE_INT_MASK, 0);
	ptt_dev_write(b.dev, PTT_REG_TRACE_CTRL, 0x00014011);
	ptt_dev_packets(b.dev, &t, 1);
	assert_int_equal(ptt_dev_counts(b.dev)->dma_errors, 1);
	assert_int_equal(vfio_server_open(&b.server, b.dev, b.path, &b.e), 0);
	bench_close(&b);
}

static void ten_thousand_connections_cost_nothing(void **state)
{
	struct vu_map m = { sizeof(m), VU_MAP_WRITE, 0, RAM, RAM_SIZE };
	struct bench b;
	long live;
	int before;

	(void)state;
	bench_open(&b);
	close(b.client);
	b.client = -1;
	serve(&b);
	before = descriptors();
	live = mem_live();
	for (uint32_t i = 0; i < 10000; i++) {
		b.client = knock(&b);
		if (i % 4) {
			assert_int_equal(greet(&b), 0);
			assert_int_equal(ask_with(&b, VU_DMA_MAP, &m, sizeof(m), &b.memory, 1), 0);
		}
		if (i % 4 == 2)
			assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, b.event), 0);
		if (i % 4 == 3) /* goes in the middle of a message that brought a descriptor */
			send_all(b.client, &i, sizeof(i), &b.memory, 1);
		close(b.client);
		serve(&b);
	}
	b.client = -1;
	assert_int_equal(descriptors(), before);
	assert_int_equal(mem_live(), live);
	bench_close(&b);
}

/* ---- the socket ------------------------------------------------------------------------------------------- */
static void the_socket_is_for_its_owner_only(void **state)
{
	struct bench b;
	struct stat st;

	(void)state;
	bench_bare(&b);
	assert_int_equal(lstat(b.path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	bench_close(&b);
}

static void a_dead_socket_is_replaced_and_a_living_one_is_not(void **state)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct server *server = NULL;
	struct err e = { 0 };
	struct bench b;
	int fd;

	(void)state;
	bench_bare(&b);
	assert_int_equal(vfio_server_open(&server, b.dev, b.path, &e), -TALLY_EBUSY);
	assert_non_null(strstr(e.text, "in use"));
	assert_null(server);
	serve(&b); /* the knock of who looked */
	b.server->op->close(b.server);
	strcpy(at.sun_path, b.path);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	assert_int_equal(vfio_server_open(&b.server, b.dev, b.path, &b.e), 0);
	bench_close(&b);
}

static int open_device(struct server **ret, void *dev, const char *path, struct err *e)
{
	return vfio_server_open(ret, dev, path, e);
}

static void of_vfio_user_servers_that_start_together_one_wins(void **state)
{
	struct bench b;

	(void)state;
	bench_bare(&b);
	for (int round = 0; round < 40; round++) {
		struct server *server = NULL;
		struct err e = { 0 };
		struct race r;
		int rc;

		b.server->op->close(b.server);
		race_leave_dead(open_device, b.dev, b.path);
		assert_int_equal(access(b.path, F_OK), 0);
		r = race_begin(open_device, b.dev, b.path);
		rc = vfio_server_open(&server, b.dev, b.path, &e);
		race_end(&r);
		assert_int_equal(r.said, RACE_SERVERS);
		assert_int_equal(r.won, 1);
		assert_int_equal(rc, -TALLY_EBUSY);
		assert_non_null(strstr(e.text, "in use"));
		assert_int_equal(vfio_server_open(&b.server, b.dev, b.path, &b.e), 0);
	}
	bench_close(&b);
}

static void a_vfio_user_server_waits_while_another_one_starts_at_its_path(void **state)
{
	struct bench b;

	(void)state;
	bench_bare(&b);
	b.server->op->close(b.server);
	assert_true(race_waits_its_turn(open_device, b.dev, b.path));
	assert_int_equal(vfio_server_open(&b.server, b.dev, b.path, &b.e), 0);
	bench_close(&b);
}

static void what_is_no_socket_stays(void **state)
{
	struct server *server = NULL;
	char path[128], deep[300];
	struct err e = { 0 };
	struct bench b;
	int fd;

	(void)state;
	bench_bare(&b);
	snprintf(path, sizeof(path), "%s/file", b.dir);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	close(fd);
	assert_int_equal(vfio_server_open(&server, b.dev, path, &e), -TALLY_EIO);
	assert_int_equal(unlink(path), 0);
	memset(deep, 'x', sizeof(deep));
	deep[sizeof(deep) - 1] = 0;
	e = (struct err){ 0 };
	assert_int_equal(vfio_server_open(&server, b.dev, deep, &e), -TALLY_EINVAL);
	e = (struct err){ 0 };
	assert_int_equal(vfio_server_open(&server, b.dev, "", &e), -TALLY_EINVAL);
	e = (struct err){ 0 };
	snprintf(path, sizeof(path), "%s/no/s", b.dir);
	assert_int_equal(vfio_server_open(&server, b.dev, path, &e), -TALLY_EIO);
	assert_null(server);
	bench_close(&b);
}

static void closing_removes_only_the_own_socket(void **state)
{
	struct stat st;
	struct bench b;
	int fd;

	(void)state;
	bench_bare(&b);
	assert_int_equal(unlink(b.path), 0);
	fd = open(b.path, O_CREAT | O_EXCL | O_RDWR, 0600);
	close(fd);
	b.server->op->close(b.server);
	assert_int_equal(lstat(b.path, &st), 0);
	assert_int_equal(unlink(b.path), 0);
	assert_int_equal(vfio_server_open(&b.server, b.dev, b.path, &b.e), 0);
	bench_close(&b);
}

static void out_of_memory_opens_no_server(void **state)
{
	struct ptt_dev *dev = NULL;
	struct server *server = NULL;
	char path[] = "/tmp/tally-vfio-oom-XXXXXX";
	struct stat st;

	(void)state;
	close(mkstemp(path));
	unlink(path);
	assert_int_equal(ptt_dev_open(&dev, &(struct ptt_dev_opts){ 0 }), 0);
	for (long n = 1;; n++) {
		struct err e = { 0 };
		int rc;

		mem_fail_at(n);
		rc = vfio_server_open(&server, dev, path, &e);
		if (!mem_failed()) {
			mem_fail_at(0);
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(lstat(path, &st), -1);
		assert_int_equal(mem_live(), 1);
	}
	server->op->close(server);
	ptt_dev_close(dev);
	assert_int_equal(mem_live(), 0);
}

static void a_machine_has_its_devices_behind_servers(void **state)
{
	char path[] = "/tmp/tally-vfio-machine-XXXXXX";
	struct kunpeng *k = NULL;
	struct server *server = NULL;
	struct err e = { 0 };

	(void)state;
	close(mkstemp(path));
	unlink(path);
	assert_int_equal(kunpeng_open(&k, &(struct kunpeng_opts){ 0 }, &e), 0);
	assert_int_equal(server_open_vfio(&server, k, kunpeng_ndevices(k), path, &e), -TALLY_EINVAL);
	e = (struct err){ 0 };
	assert_int_equal(server_open_vfio(&server, k, 0, path, &e), 0);
	server->op->close(server);
	kunpeng_close(k);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(negotiation_offers_only_what_was_proposed),
		cmocka_unit_test(negotiation_comes_first_and_once),
		cmocka_unit_test(another_major_version_ends_the_connection),
		cmocka_unit_test(capabilities_that_are_no_json_are_refused),
		cmocka_unit_test(the_device_has_nine_regions_and_one_msi),
		cmocka_unit_test(what_is_not_served_says_so),
		cmocka_unit_test(the_function_is_19e5_a12e_of_the_root_complex),
		cmocka_unit_test(configuration_space_that_crosses_its_end_is_zeros_and_keeps_nothing),
		cmocka_unit_test(writing_ones_gives_the_size_of_bar_2_only),
		cmocka_unit_test(registers_answer_as_the_driver_knows_them),
		cmocka_unit_test(reads_of_any_lanes_are_answered_and_writes_of_parts_are_not),
		cmocka_unit_test(accesses_outside_a_region_are_refused),
		cmocka_unit_test(many_writes_come_in_one_message),
		cmocka_unit_test(a_trace_arrives_in_memory_and_its_interrupt_at_the_eventfd),
		cmocka_unit_test(a_map_begins_anywhere_in_its_file_and_a_buffer_spans_two),
		cmocka_unit_test(without_bus_master_nothing_is_written),
		cmocka_unit_test(memory_that_is_unmapped_is_written_to_no_more),
		cmocka_unit_test(memory_without_a_file_is_known_and_refused),
		cmocka_unit_test(memory_that_may_only_be_read_is_not_written),
		cmocka_unit_test(the_interrupt_can_be_taken_back_and_tried),
		cmocka_unit_test(interrupts_that_are_not_there_are_refused),
		cmocka_unit_test(a_reset_stops_the_trace_and_keeps_memory_and_interrupt),
		cmocka_unit_test(who_goes_leaves_nothing_and_the_next_is_served),
		cmocka_unit_test(without_a_client_the_device_is_alone),
		cmocka_unit_test(a_closed_server_lets_go_of_the_device),
		cmocka_unit_test(ten_thousand_connections_cost_nothing),
		cmocka_unit_test(the_socket_is_for_its_owner_only),
		cmocka_unit_test(a_dead_socket_is_replaced_and_a_living_one_is_not),
		cmocka_unit_test(of_vfio_user_servers_that_start_together_one_wins),
		cmocka_unit_test(a_vfio_user_server_waits_while_another_one_starts_at_its_path),
		cmocka_unit_test(what_is_no_socket_stays),
		cmocka_unit_test(closing_removes_only_the_own_socket),
		cmocka_unit_test(out_of_memory_opens_no_server),
		cmocka_unit_test(a_machine_has_its_devices_behind_servers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
