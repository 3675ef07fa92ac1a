#pragma D depends_on library first.d
struct in { int a; string s; int v[4]; };
typedef struct out { long total; string name; char kind; } out_t;
inline int PAGE = 4096;
inline int pages[int n] = (n + PAGE - 1) / PAGE;
inline string word[int i, string s] = i ? strjoin(s, "x") : "none";
#pragma D attributes Evolving/Evolving/Common pages
#pragma D binding "1.0" word
translator out_t < struct in *T > {
	total = T->a + T->v[2];
	name = word[T->a, T->s];
	kind = T->a ? 'y' : 'n';
};
translator out_t < struct task_struct *T > {
	total = T->pid;
	name = T->comm;
};
inline out_t *me = xlate < out_t * > (curthread);
provider mine {
	probe start(int a, struct in *b) : (out_t *o, string s);
	probe end(void);
};
#pragma D attributes Stable/Stable/Common provider mine provider
%%
struct in one;
BEGIN
{
	trace(me->total);
	trace(xlate < out_t > (curthread).name);
	trace(pages[5000]);
	trace(word[pid, "y"]);
}
