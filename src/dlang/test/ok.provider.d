provider app { probe go(int, char *) : (struct foo *f); probe stop(); };
BEGIN { trace(1); }
