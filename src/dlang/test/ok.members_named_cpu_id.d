struct place { int cpu_id; int other; };
this struct place *curcpu;
self struct place *mine;
struct place *ours;

BEGIN
{
	this->curcpu = (struct place *)arg0;
	self->mine = this->curcpu;
	ours = self->mine;
	trace(curcpu->cpu_id);
	trace(this->curcpu->cpu_id);
	trace(self->mine->cpu_id);
	trace(ours->cpu_id);
}
/* expect-type (args (builtin cpu:processorid_t)) */
/* expect-type (member +0:int (deref:struct place (var this->curcpu:struct place*))) */
/* expect-type (member +0:int (deref:struct place (var self->mine:struct place*))) */
/* expect-type (member +0:int (deref:struct place (var ours:struct place*))) */
