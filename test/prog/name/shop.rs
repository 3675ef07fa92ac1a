// Functions of Rust that touch known numbers of fresh pages: one page fault each.
mod till {
    extern "C" {
        fn mmap(addr: *mut u8, len: usize, prot: i32, flags: i32, fd: i32, off: i64) -> *mut u8;
    }
    pub fn fresh(pages: usize) -> *mut u8 {
        unsafe { mmap(std::ptr::null_mut(), pages * 4096, 3, 0x22, -1, 0) }
    }
    pub struct Drawer;
    pub trait Ring {
        fn ring(&self, pages: usize);
    }
    impl Ring for Drawer {
        #[inline(never)]
        fn ring(&self, pages: usize) {
            let p = fresh(pages);
            for i in 0..pages {
                unsafe { p.add(i * 4096).write_volatile(1) }
            }
        }
    }
    #[inline(never)]
    pub fn fill(pages: usize) {
        let p = fresh(pages);
        for i in 0..pages {
            unsafe { p.add(i * 4096).write_volatile(2) }
        }
    }
}

fn main() {
    use till::Ring;
    till::Drawer.ring(2000);
    till::fill(1000);
}
