#!/usr/sbin/dtrace -s
#ident "x"
#
#pragma ident "y"
#pragma once
#pragma D attributes Stable/Stable/Common x
#pragma D binding "1.0" x
#pragma D depends_on provider cpc
#pragma D depends_on library x.d
# 3 "file"
BEGIN { trace(1); }
