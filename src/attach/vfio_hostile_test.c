/* vfio_hostile_test.c: what no client should do, and what none can gain by it. */
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include "base/range.h"
#include "attach/vfio_test_int.h"

/* ---- hostile clients ------------------------------------------------------------------------------------ */
static void a_size_that_no_message_has_ends_the_connection(void **state)
{
	static const uint32_t bad[] = { 0, 1, 15, VFIO_MESSAGE_MOST + 1, UINT32_MAX };
	struct bench b;

	(void)state;
	bench_open(&b);
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct vu_header h = { .command = VU_DEVICE_GET_INFO, .size = bad[i] };

		send_all(b.client, &h, sizeof(h), &b.memory, 1);
		serve(&b);
		assert_int_equal(next_reply(&b, 0), -1);
		close(b.client);
		b.client = knock(&b);
		assert_int_equal(greet(&b), 0);
	}
	bench_close(&b);
}

static void payloads_that_are_too_short_are_refused(void **state)
{
	static const struct {
		uint16_t command;
		size_t n;
	} least[] = {
		{ VU_DMA_MAP, 32 },
		{ VU_DMA_UNMAP, 24 },
		{ VU_DEVICE_GET_INFO, 16 },
		{ VU_DEVICE_GET_REGION_INFO, 32 },
		{ VU_DEVICE_GET_REGION_IO_FDS, 16 },
		{ VU_DEVICE_GET_IRQ_INFO, 16 },
		{ VU_DEVICE_SET_IRQS, 20 },
		{ VU_REGION_READ, 16 },
		{ VU_REGION_WRITE, 16 },
		{ VU_REGION_WRITE_MULTI, 8 },
	};
	uint8_t zero[64] = { 0 };
	struct bench b;

	(void)state;
	bench_open(&b);
	for (size_t i = 0; i < COUNT(least); i++)
		for (size_t n = 0; n < least[i].n; n++)
			assert_int_equal(ask(&b, least[i].command, zero, n), EINVAL);
	/* argsz 0: no answer fits in it */
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(ask(&b, least[i].command, zero, least[i].n), EINVAL);
	bench_close(&b);
}

static void what_is_behind_the_last_region_or_interrupt_is_refused(void **state)
{
	const struct vu_region_info region = { .argsz = sizeof(region), .index = VU_REGIONS };
	const struct vu_irq_info irq = { .argsz = sizeof(irq), .index = VU_IRQS };
	const struct vu_region_io_fds fds[] = {
		{ sizeof(fds[0]), 0, VU_REGIONS, 0 },
		{ sizeof(fds[0]), 1, 0, 0 },
		{ sizeof(fds[0]), 0, 0, 1 },
		{ sizeof(fds[0]) - 1, 0, 0, 0 }, /* no room for the answer */
	};
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(ask(&b, VU_DEVICE_GET_REGION_INFO, &region, sizeof(region)), EINVAL);
	assert_int_equal(ask(&b, VU_DEVICE_GET_IRQ_INFO, &irq, sizeof(irq)), EINVAL);
	for (size_t i = 0; i < COUNT(fds); i++)
		assert_int_equal(ask(&b, VU_DEVICE_GET_REGION_IO_FDS, &fds[i], sizeof(fds[i])), EINVAL);
	bench_close(&b);
}

static void descriptors_that_nobody_wants_are_closed(void **state)
{
	struct vu_map m = { sizeof(m), VU_MAP_WRITE, 0, RAM, RAM_SIZE };
	struct vu_device_info i = { .argsz = sizeof(i) };
	struct bench b;
	int before, many[32];

	(void)state;
	bench_open(&b);
	for (size_t n = 0; n < COUNT(many); n++)
		many[n] = b.memory;
	before = descriptors();
	assert_int_equal(ask_with(&b, VU_DEVICE_GET_INFO, &i, sizeof(i), many, 1), 0);
	for (size_t n = 2; n <= COUNT(many); n++)
		assert_int_equal(ask_with(&b, VU_DMA_MAP, &m, sizeof(m), many, n), EINVAL);
	assert_int_equal(descriptors(), before);
	bench_close(&b);
}

/* Each message keeps its own descriptor, however the bytes come together. */
static void descriptors_belong_to_the_message_they_came_with(void **state)
{
	struct vu_map m = { sizeof(m), VU_MAP_WRITE, 0, RAM, 4096 };
	struct vu_device_info i = { .argsz = sizeof(i) };
	uint8_t raw[256];
	struct bench b;
	int before;

	(void)state;
	bench_open(&b);
	before = descriptors();
	for (uint32_t n = 0; n < 8; n++) {
		m.address = RAM + n * 4096;
		m.offset = (7 - n) * 4096;
		send_all(b.client, raw, message(&b, raw, VU_DEVICE_GET_INFO, &i, sizeof(i)), NULL, 0);
		send_all(b.client, raw, message(&b, raw, VU_DMA_MAP, &m, sizeof(m)), &b.memory, 1);
	}
	serve(&b);
	for (uint32_t n = 0; n < 8; n++) {
		assert_int_equal(next_reply(&b, VU_DEVICE_GET_INFO), 0);
		assert_int_equal(next_reply(&b, VU_DMA_MAP), 0);
	}
	assert_int_equal(descriptors(), before + 8);
	trace_start(&b);
	packets(&b, BUFFER / 32);
	assert_int_equal(word(&b, 7 * 4096), 0xffffffff);
	bench_close(&b);
}

static void maps_that_overlap_wrap_or_are_crooked_are_refused(void **state)
{
	struct vu_map m = { sizeof(m), ~0u, 0, 2 * RAM, 4096 };
	struct bench b;
	int before;

	(void)state;
	bench_open(&b);
	assert_int_equal(map_fd(&b, RAM, 0x4000, 0, b.memory), 0);
	before = descriptors();
	assert_int_equal(map_fd(&b, RAM, 0x4000, 0, b.memory), EEXIST);
	assert_int_equal(map_fd(&b, RAM + 0x3000, 0x1000, 0, b.memory), EEXIST);
	assert_int_equal(map_fd(&b, RAM - 0x1000, 0x2000, 0, b.memory), EEXIST);
	assert_int_equal(map_fd(&b, 0, RAM_SIZE * 4096ull, 0, -1), EEXIST);
	assert_int_equal(map_fd(&b, 2 * RAM, 0, 0, b.memory), EINVAL);
	assert_int_equal(map_fd(&b, 2 * RAM + 1, 4096, 0, b.memory), EINVAL);
	assert_int_equal(map_fd(&b, 2 * RAM, 4097, 0, b.memory), EINVAL);
	assert_int_equal(map_fd(&b, 2 * RAM, 4096, 1, b.memory), EINVAL);
	assert_int_equal(map_fd(&b, 0ull - 4096, 8192, 0, b.memory), EINVAL);
	assert_int_equal(map_fd(&b, 2 * RAM, RAM_SIZE + 4096, 0, b.memory), EINVAL);
	assert_int_equal(map_fd(&b, 2 * RAM, RAM_SIZE, 4096, b.memory), EINVAL);
	assert_int_equal(map_fd(&b, 2 * RAM, 4096, 0ull - 4096, b.memory), EINVAL);
	assert_int_equal(map_fd(&b, 4096, 0ull - 8192, 0, b.memory), EINVAL);
	assert_int_equal(ask_with(&b, VU_DMA_MAP, &m, sizeof(m), &b.memory, 1), EINVAL);
	assert_int_equal(descriptors(), before);
	assert_int_equal(map_fd(&b, 0ull - 4096, 4096, 0, b.memory), 0); /* the last page is one like others */
	assert_int_equal(unmap(&b, 0, 0ull - 4096, 4096), 0);
	bench_close(&b);
}

static void more_maps_than_the_limit_are_refused(void **state)
{
	struct bench b;
	int before;

	(void)state;
	bench_open(&b);
	before = descriptors();
	for (uint32_t i = 0; i < VFIO_MAPS_MOST; i++)
		assert_int_equal(map_fd(&b, RAM + i * 8192ull, 4096, 0, b.memory), 0);
	assert_int_equal(map_fd(&b, 0, 4096, 0, b.memory), ENOSPC);
	assert_int_equal(unmap(&b, 0, RAM + 8192, 4096), 0);
	assert_int_equal(map_fd(&b, 0, 4096, 0, b.memory), 0);
	assert_int_equal(unmap(&b, VU_UNMAP_ALL, 0, 0), 0);
	assert_int_equal(descriptors(), before);
	bench_close(&b);
}

static void memory_that_is_no_memory_is_refused(void **state)
{
	struct bench b;
	int before, fd[7], pair[2];

	(void)state;
	bench_open(&b);
	before = descriptors();
	assert_int_equal(pipe(pair), 0);
	fd[0] = pair[1];
	fd[1] = open("/dev/zero", O_RDWR);
	fd[2] = open(b.dir, O_RDONLY);
	fd[3] = socket(AF_UNIX, SOCK_STREAM, 0);
	fd[4] = open("/", O_PATH);
	fd[5] = memfd_create("append", 0);
	fd[6] = eventfd(0, 0);
	assert_int_equal(ftruncate(fd[5], RAM_SIZE), 0);
	assert_int_equal(fcntl(fd[5], F_SETFL, O_APPEND), 0);
	for (size_t i = 0; i < COUNT(fd); i++) {
		assert_true(fd[i] >= 0);
		assert_int_equal(map_fd(&b, RAM, 4096, 0, fd[i]), EINVAL);
		close(fd[i]);
	}
	close(pair[0]);
	assert_int_equal(descriptors(), before);
	bench_close(&b);
}

/* A write to a disk, or to another machine, can take as long as it likes. */
static void memory_on_a_disk_is_refused(void **state)
{
	char name[128];
	struct statfs fs;
	struct bench b;
	int fd;

	(void)state;
	bench_open(&b);
	snprintf(name, sizeof(name), "%s/file", b.dir);
	fd = open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fstatfs(fd, &fs), 0);
	assert_int_equal(map_fd(&b, RAM, 4096, 0, fd), fs.f_type == TMPFS_MAGIC ? 0 : EINVAL);
	assert_int_equal(unlink(name), 0);
	close(fd);
	bench_close(&b);
}

static void a_file_that_is_truncated_is_an_error_and_no_signal(void **state)
{
	struct stat st;
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, b.memory), 0);
	trace_start(&b);
	assert_int_equal(ftruncate(b.memory, 0), 0);
	packets(&b, BUFFER / 32);
	assert_int_equal(ptt_dev_counts(b.dev)->dma_errors, BUFFER / 32);
	assert_int_equal(fstat(b.memory, &st), 0);
	assert_int_equal(st.st_size, 0); /* nor does it grow again */
	/* the bus address that wraps */
	set(&b, PTT_REG_TRACE_CTRL, 2);
	assert_int_equal(vfio_dma_write(&(struct vfio_maps){ 0 }, UINT64_MAX, "ab", 2), -TALLY_EINVAL);
	bench_close(&b);
}

static void a_sealed_file_is_an_error(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	close(b.memory);
	b.memory = memfd_create("sealed", MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(b.memory, RAM_SIZE), 0);
	assert_int_equal(map_fd(&b, RAM, RAM_SIZE, 0, b.memory), 0);
	assert_int_equal(fcntl(b.memory, F_ADD_SEALS, F_SEAL_WRITE), 0);
	trace_start(&b);
	packets(&b, BUFFER / 32);
	assert_int_equal(ptt_dev_counts(b.dev)->dma_errors, BUFFER / 32);
	bench_close(&b);
}

static void an_interrupt_that_cannot_be_taken_does_not_wait(void **state)
{
	uint64_t full = UINT64_MAX - 1;
	struct bench b;
	int pair[2], blocking = eventfd(0, EFD_CLOEXEC);

	(void)state;
	bench_open(&b);
	assert_int_equal(pipe(pair), 0);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, pair[1]), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, b.client), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, b.memory), EINVAL);
	assert_int_equal(set_irq(&b, VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 1, blocking), 0);
	assert_int_equal(write(blocking, &full, sizeof(full)), sizeof(full));
	assert_int_equal(fcntl(blocking, F_SETFL, 0), 0);
	assert_int_equal(set_irq(&b, VU_SET_NONE | VU_SET_TRIGGER, VU_IRQ_MSI, 1, -1), 0);
	close(pair[0]);
	close(pair[1]);
	close(blocking);
	bench_close(&b);
}

static void bytes_may_come_one_by_one(void **state)
{
	struct vu_map m = { sizeof(m), VU_MAP_WRITE, 0, RAM, RAM_SIZE };
	struct bench b;
	uint8_t raw[64];
	size_t n;

	(void)state;
	bench_open(&b);
	n = message(&b, raw, VU_DMA_MAP, &m, sizeof(m));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(next_reply(&b, VU_DMA_MAP), -2);
		send_all(b.client, raw + i, 1, &b.memory, i == 3);
		serve(&b);
	}
	assert_int_equal(next_reply(&b, VU_DMA_MAP), 0);
	trace_start(&b);
	packets(&b, BUFFER / 32);
	assert_int_equal(word(&b, 0), 0xffffffff);
	bench_close(&b);
}

/* What isn't read piles up in the sockets, not in the server; and then goes on where it stopped. */
static void who_does_not_read_is_not_written_to(void **state)
{
	struct vu_access a = { 0, VU_REGION_CONFIG, 4096 };
	struct vu_header h;
	struct bench b;
	uint8_t raw[64];
	uint32_t sent = 0, got = 0;
	ssize_t n;

	(void)state;
	bench_open(&b);
	for (size_t len = message(&b, raw, VU_REGION_READ, &a, sizeof(a)); sent < 100000; sent++, serve(&b)) {
		n = send(b.client, raw, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			break;
		assert_int_equal(n, len);
	}
	assert_true(sent < 100000);
	/* one by one, in whatever pieces they come */
	for (size_t have = 0; got < sent;) {
		n = recv(b.client, b.reply + have, sizeof(h) + sizeof(a) + 4096 - have, MSG_DONTWAIT);
		assert_true(n > 0 || errno == EAGAIN);
		have += n > 0 ? (size_t)n : 0;
		if (have == sizeof(h) + sizeof(a) + 4096) {
			memcpy(&h, b.reply, sizeof(h));
			assert_int_equal(h.size, have);
			assert_int_equal(b.reply[sizeof(h) + sizeof(a)], 0xe5);
			have = 0;
			got++;
		}
		serve(&b);
	}
	assert_int_equal(ask(&b, VU_DEVICE_RESET, NULL, 0), 0);
	bench_close(&b);
}

/* Asks for all of the configuration space as often as a client that reads nothing is answered in full, and how often
 * that was. */
static uint32_t ask_until_full(struct bench *b, uint32_t most)
{
	struct vu_access a = { 0, VU_REGION_CONFIG, 4096 };
	const int reply = sizeof(struct vu_header) + sizeof(a) + 4096;
	uint8_t raw[64];
	size_t len = message(b, raw, VU_REGION_READ, &a, sizeof(a));
	uint32_t n;
	int waits;

	for (n = 0; n < most; n++) {
		send_all(b->client, raw, len, NULL, 0);
		serve(b);
		assert_int_equal(ioctl(b->client, FIONREAD, &waits), 0);
		if (waits < (int)(n + 1) * reply)
			break;
	}
	return n;
}

/* The server answers so many messages in a turn, and the last of them finds no room. */
static void the_last_reply_of_a_turn_waits_for_room_like_the_others(void **state)
{
	enum { OF_A_TURN = 64 };
	struct vu_access a = { 0, VU_REGION_CONFIG, 4096 };
	struct vu_header h = { .command = VU_DEVICE_RESET, .size = sizeof(h), .flags = VU_NO_REPLY };
	uint8_t raw[(OF_A_TURN - 1) * sizeof(h) + 64];
	struct bench b;
	uint32_t full;
	size_t n = 0;

	(void)state;
	bench_open(&b);
	full = ask_until_full(&b, 100000);
	assert_uint_in_range(full, 1, 99999);
	bench_close(&b);
	bench_open(&b);
	assert_int_equal(ask_until_full(&b, full), full);
	for (uint32_t i = 1; i < OF_A_TURN; i++, n += sizeof(h))
		memcpy(raw + n, &h, sizeof(h));
	n += message(&b, raw + n, VU_REGION_READ, &a, sizeof(a));
	send_all(b.client, raw, n, NULL, 0);
	serve(&b);
	for (uint32_t i = 0; i <= full; i++) {
		size_t have = 0;

		for (ssize_t got; have < sizeof(h) + sizeof(a) + 4096; have += (size_t)got) {
			got = recv(b.client, b.reply + have, sizeof(h) + sizeof(a) + 4096 - have, MSG_DONTWAIT);
			if (got < 0 && errno == EAGAIN) {
				serve(&b);
				got = recv(b.client, b.reply + have, sizeof(h) + sizeof(a) + 4096 - have, MSG_DONTWAIT);
			}
			assert_true(got > 0);
		}
		memcpy(&h, b.reply, sizeof(h));
		assert_int_equal(h.size, have);
	}
	assert_int_equal(ask(&b, VU_DEVICE_RESET, NULL, 0), 0);
	bench_close(&b);
}

static void who_went_before_its_reply_was_sent_makes_room_for_the_next(void **state)
{
	struct bench b;
	uint8_t raw[64];
	size_t n;

	(void)state;
	bench_open(&b);
	n = message(&b, raw, VU_DEVICE_RESET, NULL, 0);
	send_all(b.client, raw, n, NULL, 0);
	close(b.client);
	serve(&b);
	b.client = knock(&b);
	assert_int_equal(greet(&b), 0);
	bench_close(&b);
}

static void replies_that_we_never_asked_for_are_dropped(void **state)
{
	struct vu_header h = { .command = VU_DMA_WRITE, .size = sizeof(h), .flags = VU_TYPE_REPLY };
	struct bench b;

	(void)state;
	bench_open(&b);
	send_all(b.client, &h, sizeof(h), NULL, 0);
	serve(&b);
	assert_int_equal(next_reply(&b, 0), -2);
	h.flags = 2;
	send_all(b.client, &h, sizeof(h), NULL, 0);
	serve(&b);
	assert_int_equal(next_reply(&b, VU_DMA_WRITE), EINVAL);
	assert_int_equal(ask(&b, VU_DEVICE_RESET, NULL, 0), 0);
	bench_close(&b);
}

static void a_server_without_descriptors_does_not_spin_and_takes_the_client_later(void **state)
{
	struct rlimit was, low;
	struct pollfd p = { .events = POLLIN };
	struct bench b;

	(void)state;
	bench_bare(&b);
	b.client = knock(&b);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	low = was;
	low.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_int_equal(b.server->op->serve(b.server, &b.e), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	p.fd = b.server->op->fd(b.server);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(b.server->op->passed(b.server, &b.e), 0);
	assert_int_equal(greet(&b), 0);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_size_that_no_message_has_ends_the_connection),
		cmocka_unit_test(payloads_that_are_too_short_are_refused),
		cmocka_unit_test(what_is_behind_the_last_region_or_interrupt_is_refused),
		cmocka_unit_test(descriptors_that_nobody_wants_are_closed),
		cmocka_unit_test(descriptors_belong_to_the_message_they_came_with),
		cmocka_unit_test(maps_that_overlap_wrap_or_are_crooked_are_refused),
		cmocka_unit_test(more_maps_than_the_limit_are_refused),
		cmocka_unit_test(memory_that_is_no_memory_is_refused),
		cmocka_unit_test(memory_on_a_disk_is_refused),
		cmocka_unit_test(a_file_that_is_truncated_is_an_error_and_no_signal),
		cmocka_unit_test(a_sealed_file_is_an_error),
		cmocka_unit_test(an_interrupt_that_cannot_be_taken_does_not_wait),
		cmocka_unit_test(bytes_may_come_one_by_one),
		cmocka_unit_test(who_does_not_read_is_not_written_to),
		cmocka_unit_test(the_last_reply_of_a_turn_waits_for_room_like_the_others),
		cmocka_unit_test(who_went_before_its_reply_was_sent_makes_room_for_the_next),
		cmocka_unit_test(replies_that_we_never_asked_for_are_dropped),
		cmocka_unit_test(a_server_without_descriptors_does_not_spin_and_takes_the_client_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
