rec:::one, rec:::two
/args[0]->size > 5 && args[1 - 1]->name == "x"/
{
	trace(args[0]->size);
	trace(args[0]->name);
	trace(strjoin(args[0]->name, "y"));
	trace(sizeof (args[0]->flags));
	@[args[0]->name] = sum(args[0]->change);
	trace(*args[0]);
	this->p = args[0];
	trace(this->p->change);
	trace(&args[0]->size == &this->p->size);
	trace((args[0] + 1)->size);
}
rec:::two
{
	trace(args[1]->count);
	trace(args[0] == this->p);
}
/* expect-type (bin >:int (member +8:uint32_t (deref:struct rec (args +0:struct rec*))) (int 5:uint32_t)) */
/* expect-type (member +32:string16 (deref:struct rec (args +0:struct rec*))) */
/* expect-type (member +0:uint64_t (deref:struct more (args +48:struct more*))) */
