BEGIN { self->ts = timestamp; }
END
/self->ts/
{
	@ = sum(timestamp - self->ts);
	self->ts = 0;
}
