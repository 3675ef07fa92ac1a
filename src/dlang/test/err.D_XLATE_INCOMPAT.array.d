struct out { int m[2]; };
translator struct out < int I > { m = I; };
/* expect-error 2: D_XLATE_INCOMPAT translator member m definition uses incompatible types: "int [2]" = "int" */
