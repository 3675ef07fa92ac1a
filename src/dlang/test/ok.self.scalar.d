BEGIN { self->ts = timestamp; }
END
/self->ts/
{
	@ = sum(timestamp - self->ts);
	self->ts = 0;
}
/* expect-type predicate (var self->ts:uint64_t) */
/* expect-type (assign =:uint64_t (var self->ts:uint64_t) (int 0:uint64_t)) */
