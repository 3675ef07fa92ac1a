/*
 * cgroup.d: zonename, the nearest that Linux has to a zone: the path of the thread's cgroup of version 2, from the root of the
 * hierarchy on; "/" for the root, and where there is none. Of paths with more than six parts the first six.
 */
inline struct cgroup *__cgroup = curthread->cgroups->dfl_cgrp;
inline string __cgroup_part[int i] = strjoin("/", stringof(__cgroup->ancestors[i]->kn->name));

inline string zonename = __cgroup->level == 0 ? "/" : strjoin(__cgroup_part[1],
    __cgroup->level < 2 ? "" : strjoin(__cgroup_part[2],
    __cgroup->level < 3 ? "" : strjoin(__cgroup_part[3],
    __cgroup->level < 4 ? "" : strjoin(__cgroup_part[4],
    __cgroup->level < 5 ? "" : strjoin(__cgroup_part[5],
    __cgroup->level < 6 ? "" : __cgroup_part[6])))));
