/* with kernel */
BEGIN
{
	trace(curthread->cred->gid.val);
	trace(curthread->files->span.last);
	trace(curthread->cred->egid.val);
}
/* expect-type 4: (action trace (args (member +4:unsigned int */
/* expect-type 5: (action trace (args (member +12:int */
