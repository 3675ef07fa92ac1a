// Functions of Go that touch known numbers of fresh pages: one page fault each.
package main

import "syscall"

func fresh(pages int) []byte {
	b, err := syscall.Mmap(-1, 0, pages*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	return b
}

type till struct{ n byte }

//go:noinline
func (t *till) ring(pages int) {
	b := fresh(pages)
	for i := 0; i < pages; i++ {
		b[i*4096] = t.n
	}
}

//go:noinline
func fill(pages int) {
	b := fresh(pages)
	for i := 0; i < pages; i++ {
		b[i*4096] = 2
	}
}

func main() {
	t := till{1}
	t.ring(2000)
	fill(1000)
}
