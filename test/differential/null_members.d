/* A member or an element that was assigned NULL is NULL, and printing it faults; one that was never assigned is "". */
struct named { string name; int n; } gone, other;
string strings[3];
BEGIN
{
	gone.name = strchr("abc", 'x');
	strings[1] = strstr("abc", "x");
	other = gone;
	i = 1;
	printf("%d %d %d %d\n", gone.name == NULL, strings[i] == NULL, strings[0] == NULL, other.name == "");
}
BEGIN { printf("not here: %s\n", gone.name); }
BEGIN { printf("not here: %s\n", strings[i]); }
BEGIN { kept[1] = other; self->kept = kept[1]; printf("%d\n", self->kept.name == NULL); }
BEGIN { printf("not here: %s\n", self->kept.name); }
BEGIN { printf("not here: %d\n", strlen(other.name)); }
BEGIN { printf("[%s]\n", strings[2]); @[strings[1], gone.name] = count(); printa("[%s] [%s] %@d\n", @); }
BEGIN { exit(0); }
