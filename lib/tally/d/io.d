/*
 * io.d: open files, devices and their requests, as the provider io of Solaris has them.  doc/translators.md says what each member is.
 */
typedef longlong_t offset_t;

typedef struct fileinfo {
	string fi_name;
	string fi_dirname;
	string fi_pathname;
	offset_t fi_offset;
	string fi_fs;
	string fi_mount;
	int fi_oflags;
} fileinfo_t;

/* Those that differ between processors are in this-machine.d: O_DIRECT, O_DIRECTORY, O_LARGEFILE, O_NOFOLLOW. */
inline int O_ACCMODE = 0x0003;
inline int O_RDONLY = 0x0000;
inline int O_WRONLY = 0x0001;
inline int O_RDWR = 0x0002;
inline int O_CREAT = 0x0040;
inline int O_EXCL = 0x0080;
inline int O_NOCTTY = 0x0100;
inline int O_TRUNC = 0x0200;
inline int O_APPEND = 0x0400;
inline int O_NONBLOCK = 0x0800;
inline int O_NDELAY = 0x0800;
inline int O_DSYNC = 0x1000;
inline int O_ASYNC = 0x2000;
inline int O_NOATIME = 0x40000;
inline int O_CLOEXEC = 0x80000;
inline int O_SYNC = 0x101000;
inline int O_FSYNC = 0x101000;
inline int O_RSYNC = 0x101000;
inline int O_PATH = 0x200000;

translator fileinfo_t < struct file *F > {
	fi_name = F == NULL ? "<none>" : stringof(F->f_path.dentry->d_name.name);
	fi_dirname = F == NULL ? "<none>" : dirname(d_path(&F->f_path));
	fi_pathname = F == NULL ? "<none>" : d_path(&F->f_path);
	fi_offset = F == NULL ? 0 : F->f_pos;
	/* file systems that nobody mounts, as those of pipes and sockets, have SB_NOUSER */
	fi_mount = F == NULL || F->f_path.mnt->mnt_sb->s_flags & 0x80000000 ? "<none>" : d_path(F->f_path.mnt);
	fi_fs = F == NULL ? "<none>" : stringof(F->f_path.mnt->mnt_sb->s_type->name);
	fi_oflags = F == NULL ? 0 : F->f_flags;
};

inline fileinfo_t fds[int fd] = xlate < fileinfo_t > (
    fd >= 0 && fd < curthread->files->fdt->max_fds ? curthread->files->fdt->fd[fd] : (struct file *)NULL);

inline string cwd = d_path(&curthread->fs->pwd);
inline string root = d_path(&curthread->fs->root);

typedef struct devinfo {
	int dev_major;
	int dev_minor;
	int dev_instance;
	string dev_name;
	string dev_statname;
	string dev_pathname;
} devinfo_t;

translator devinfo_t < struct block_device *B > {
	dev_major = B->bd_dev >> 20;
	dev_minor = B->bd_dev & 0xfffff;
	dev_instance = B->bd_disk->first_minor;
	dev_name = stringof(B->bd_disk->disk_name);
	dev_statname = stringof(B->bd_disk->disk_name);
	dev_pathname = strjoin("/dev/", stringof(B->bd_device.kobj.name));
};

inline int B_BUSY = 0x000001;
inline int B_DONE = 0x000002;
inline int B_ERROR = 0x000004;
inline int B_PAGEIO = 0x000010;
inline int B_PHYS = 0x000020;
inline int B_READ = 0x000040;
inline int B_WRITE = 0x000100;
inline int B_ASYNC = 0x000400;

/*
 * Every transfer of Linux is one of pages, which have no address: B_PAGEIO says so, and b_addr is NULL. Nobody waits for what is
 * written and is not marked, nor for what is read ahead.
 */
inline int __flags_of[int op] = B_PAGEIO | (op & 1 ? B_WRITE | (op & (1 << __REQ_SYNC) ? 0 : B_ASYNC) :
    B_READ | (op & (1 << __REQ_RAHEAD) ? B_ASYNC : 0));
/* The number of a block layer's status (BLK_STS_*) as that of an error. */
inline int __error_of[int status] = status == 0 ? 0 : status == 1 ? EOPNOTSUPP : status == 2 ? ETIMEDOUT : status == 3 ? ENOSPC :
    status == 4 ? ENOLINK : status == 5 ? EREMOTEIO : status == 7 ? ENODATA : status == 8 ? EILSEQ : status == 9 ? ENOMEM :
    status == 12 ? EAGAIN : EIO;

typedef struct bufinfo {
	int b_flags;
	size_t b_bcount;
	caddr_t b_addr;
	uint64_t b_blkno;
	uint64_t b_lblkno;
	size_t b_resid;
	size_t b_bufsize;
	caddr_t b_iodone;
	int b_error;
	dev_t b_edev;
	uint64_t b_iosize;
} bufinfo_t;

translator bufinfo_t < struct bio *B > {
	b_flags = __flags_of[B->bi_opf] | (B->bi_status != 0 ? B_ERROR : 0);
	b_bcount = B->bi_iter.bi_size;
	b_bufsize = B->bi_iter.bi_size;
	b_addr = 0;
	b_blkno = B->bi_iter.bi_sector;
	b_lblkno = B->bi_iter.bi_sector;
	b_resid = B->bi_status != 0 ? B->bi_iter.bi_size : 0;
	b_iodone = (caddr_t)B->bi_end_io;
	b_error = __error_of[B->bi_status];
	b_edev = B->bi_bdev->bd_dev;
	b_iosize = B->bi_iter.bi_size;
};

/* A request of a block device: its bytes and place are those of all that was merged into it. */
inline struct block_device *__device_of[struct request *R] = R->part != NULL ? R->part : R->q->disk->part0;

translator bufinfo_t < struct request *R > {
	b_flags = __flags_of[R->cmd_flags];
	b_bcount = R->__data_len;
	b_bufsize = R->__data_len;
	b_addr = 0;
	b_blkno = R->__sector == -1 ? 0 : R->__sector;
	b_lblkno = R->__sector == -1 ? 0 : R->__sector;
	b_resid = 0;
	b_iodone = (caddr_t)(R->bio != NULL ? R->bio->bi_end_io : NULL);
	b_error = 0;
	b_edev = __device_of[R]->bd_dev;
	b_iosize = R->__data_len;
};

/* A request as the probes of io have it. If it ends, word 3 is 1, word 1 its status and word 2 the bytes that it is about; else they are 0. */
struct __io_request;
inline struct request *__request_of[struct __io_request *R] = (struct request *)R;

translator bufinfo_t < struct __io_request *R > {
	b_flags = __flags_of[__request_of[R]->cmd_flags] | (__word3 ? B_DONE : 0) | ((uint8_t)__word1 != 0 ? B_ERROR : 0);
	b_bcount = __request_of[R]->__data_len;
	b_bufsize = __request_of[R]->__data_len;
	b_addr = 0;
	b_blkno = xlate < bufinfo_t > (__request_of[R]).b_blkno;
	b_lblkno = xlate < bufinfo_t > (__request_of[R]).b_blkno;
	b_resid = (uint8_t)__word1 != 0 ? (uint32_t)__word2 : 0;
	b_iodone = xlate < bufinfo_t > (__request_of[R]).b_iodone;
	b_error = __error_of[(uint8_t)__word1];
	b_edev = __device_of[__request_of[R]]->bd_dev;
	b_iosize = __request_of[R]->__data_len;
};

translator devinfo_t < struct request *R > {
	dev_major = __device_of[R]->bd_dev >> 20;
	dev_minor = __device_of[R]->bd_dev & 0xfffff;
	dev_instance = R->q->disk->first_minor;
	dev_name = stringof(R->q->disk->disk_name);
	dev_statname = stringof(R->q->disk->disk_name);
	dev_pathname = strjoin("/dev/", stringof(__device_of[R]->bd_device.kobj.name));
};

/*
 * The file whose cached page comes first, by its name in the directory where it was opened last. A page that is no folio's first
 * leads to that one, which has the file and its place there.
 */
inline struct page *__first_page[struct bio *B] = B == NULL || B->bi_io_vec == NULL ? (struct page *)NULL : B->bi_io_vec->bv_page;
inline struct folio *__folio_of[struct page *P] = (struct folio *)(P->compound_head & 1 ? P->compound_head - 1 : (uintptr_t)P);
inline struct address_space *__mapping_of[struct bio *B] = __first_page[B] == NULL ? (struct address_space *)NULL :
    (uintptr_t)__folio_of[__first_page[B]]->mapping & 3 ? (struct address_space *)NULL : __folio_of[__first_page[B]]->mapping;
inline struct dentry *__dentry_of[struct address_space *M] = M == NULL || M->host == NULL ||
    M->host->i_dentry.first == NULL ? (struct dentry *)NULL :
    (struct dentry *)((uintptr_t)M->host->i_dentry.first - offsetof(struct dentry, d_u));
inline int64_t __offset_in_file[struct bio *B] = B->bi_io_vec->bv_offset + __page_bytes * (__folio_of[__first_page[B]]->index +
    ((uintptr_t)__first_page[B] - (uintptr_t)__folio_of[__first_page[B]]) / sizeof(struct page));

translator fileinfo_t < struct bio *B > {
	fi_name = __dentry_of[__mapping_of[B]] == NULL ? "<none>" : stringof(__dentry_of[__mapping_of[B]]->d_name.name);
	fi_dirname = __dentry_of[__mapping_of[B]] == NULL ? "<none>" :
	    stringof(__dentry_of[__mapping_of[B]]->d_parent->d_name.name);
	fi_pathname = __dentry_of[__mapping_of[B]] == NULL ? "<none>" :
	    stringof(__dentry_of[__mapping_of[B]]->d_name.name);
	fi_offset = __mapping_of[B] == NULL ? -1 : __offset_in_file[B];
	fi_fs = __mapping_of[B] == NULL ? "<none>" : stringof(__mapping_of[B]->host->i_sb->s_type->name);
	fi_oflags = 0;
};
translator fileinfo_t < struct request *R > {
	fi_name = xlate < fileinfo_t > (R->bio).fi_name;
	fi_dirname = xlate < fileinfo_t > (R->bio).fi_dirname;
	fi_pathname = xlate < fileinfo_t > (R->bio).fi_pathname;
	fi_offset = xlate < fileinfo_t > (R->bio).fi_offset;
	fi_fs = xlate < fileinfo_t > (R->bio).fi_fs;
	fi_oflags = 0;
};

inline string __without_fi_mount = "a file of the page cache is one of a file system, wherever that is mounted";
