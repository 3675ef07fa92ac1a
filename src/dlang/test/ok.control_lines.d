#!/usr/sbin/dtrace -s
#ident "x"
#
#pragma ident "y"
#pragma once
#pragma D attributes Stable/Stable/Common curthread
#pragma D binding "1.0" trace
#pragma D depends_on provider cpc
#pragma D depends_on module vmlinux
#pragma attributes Private/Private/Unknown provider cpc args
# 3 "file"
BEGIN { trace(1); }
/* expect-type clause line 3 */
