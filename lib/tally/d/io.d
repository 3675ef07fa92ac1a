/*
 * io.d: open files, devices and their requests, as the provider io of Solaris has them.
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

inline int O_ACCMODE = 0x0003;
inline int O_RDONLY = 0x0000;
inline int O_WRONLY = 0x0001;
inline int O_RDWR = 0x0002;
inline int O_CREAT = 0x0040;
inline int O_APPEND = 0x0400;
inline int O_NONBLOCK = 0x0800;
inline int O_SYNC = 0x101000;

translator fileinfo_t < struct file *F > {
	fi_name = F == NULL ? "<none>" : stringof(F->f_path.dentry->d_name.name);
	fi_dirname = F == NULL ? "<none>" : stringof(F->f_path.dentry->d_parent->d_name.name);
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
	dev_statname = stringof(B->bd_disk->disk_name);
};

inline int B_READ = 0x000040;
inline int B_WRITE = 0x000100;

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
	b_flags = B->bi_opf & 1 ? B_WRITE : B_READ;
	b_bcount = B->bi_iter.bi_size;
	b_bufsize = B->bi_iter.bi_size;
	b_addr = 0;
	b_blkno = B->bi_iter.bi_sector;
	b_lblkno = B->bi_iter.bi_sector;
	b_iodone = (caddr_t)B->bi_end_io;
	b_error = B->bi_status;
	b_edev = B->bi_bdev->bd_dev;
};

/* A request of a block device: its bytes and place are those of all that was merged into it. */
inline struct block_device *__device_of[struct request *R] = R->part != NULL ? R->part : R->q->disk->part0;

translator bufinfo_t < struct request *R > {
	b_flags = R->cmd_flags & 1 ? B_WRITE : B_READ;
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

translator devinfo_t < struct request *R > {
	dev_major = __device_of[R]->bd_dev >> 20;
	dev_minor = __device_of[R]->bd_dev & 0xfffff;
	dev_instance = R->q->disk->first_minor;
	dev_name = stringof(R->q->disk->disk_name);
	dev_statname = stringof(R->q->disk->disk_name);
	dev_pathname = strjoin("/dev/", stringof(R->q->disk->disk_name));
};

/* The file whose cached page comes first in the request, by its name in the directory where it was opened last. */
inline struct address_space *__mapping_of[struct request *R] =
    R->bio == NULL || R->bio->bi_io_vec == NULL || R->bio->bi_io_vec->bv_page == NULL ? (struct address_space *)NULL :
    (uintptr_t)R->bio->bi_io_vec->bv_page->mapping & 3 ? (struct address_space *)NULL : R->bio->bi_io_vec->bv_page->mapping;
inline struct address_space *__mapping_of_bio[struct bio *B] = B == NULL || B->bi_io_vec == NULL ||
    B->bi_io_vec->bv_page == NULL || (uintptr_t)B->bi_io_vec->bv_page->mapping & 3 ? (struct address_space *)NULL :
    B->bi_io_vec->bv_page->mapping;
inline struct dentry *__dentry_of[struct address_space *M] = M == NULL || M->host == NULL ||
    M->host->i_dentry.first == NULL ? (struct dentry *)NULL :
    (struct dentry *)((uintptr_t)M->host->i_dentry.first - offsetof(struct dentry, d_u));

translator fileinfo_t < struct request *R > {
	fi_name = __dentry_of[__mapping_of[R]] == NULL ? "<none>" :
	    stringof(__dentry_of[__mapping_of[R]]->d_name.name);
	fi_dirname = __dentry_of[__mapping_of[R]] == NULL ? "<none>" :
	    stringof(__dentry_of[__mapping_of[R]]->d_parent->d_name.name);
	fi_pathname = __dentry_of[__mapping_of[R]] == NULL ? "<none>" :
	    stringof(__dentry_of[__mapping_of[R]]->d_name.name);
	fi_offset = 0;
	fi_fs = __mapping_of[R] == NULL ? "<none>" : stringof(__mapping_of[R]->host->i_sb->s_type->name);
	fi_oflags = 0;
};

translator fileinfo_t < struct bio *B > {
	fi_name = __dentry_of[__mapping_of_bio[B]] == NULL ? "<none>" :
	    stringof(__dentry_of[__mapping_of_bio[B]]->d_name.name);
	fi_dirname = __dentry_of[__mapping_of_bio[B]] == NULL ? "<none>" :
	    stringof(__dentry_of[__mapping_of_bio[B]]->d_parent->d_name.name);
	fi_pathname = __dentry_of[__mapping_of_bio[B]] == NULL ? "<none>" :
	    stringof(__dentry_of[__mapping_of_bio[B]]->d_name.name);
	fi_offset = 0;
	fi_fs = __mapping_of_bio[B] == NULL ? "<none>" : stringof(__mapping_of_bio[B]->host->i_sb->s_type->name);
	fi_oflags = 0;
};
