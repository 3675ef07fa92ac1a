# page-examples.awk - takes the examples of a page (doc/d.md) apart, for the tests that run them.
#
# awk -v dir=DIR -f page-examples.awk PAGE: a block ```d [kernel|guest] [OPTION...] is the script N.d, N = 1, 2 ...; N.options are the
# options that it is run with, and the next block ```text, which is N.want, is what it prints.  `kernel` needs the kernel, `guest` one
# that names its variables and is not locked down (test/vm/kernel.sh); all others run in the vm.  A block ```LANGUAGE file NAME is the
# file NAME, which examples need.  Prints a line for each script: N, and where it runs.
/^```[a-z]+ file / { to = dir "/" $3; next }
/^```d( |$)/ {
	where = $2 == "kernel" || $2 == "guest" ? $2 : "vm"
	sub(/^```d( kernel| guest)? ?/, "")
	to = dir "/" ++n ".d"
	print >(dir "/" n ".options")
	print n, where
	next
}
/^```text$/ { to = dir "/" n ".want"; next }
/^```/ { to = ""; next }
to != "" { print >to }
