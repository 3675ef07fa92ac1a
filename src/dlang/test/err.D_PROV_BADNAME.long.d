provider pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp { probe go(); };
/* expect-error 1: D_PROV_BADNAME a provider's name may not exceed 63 characters, and has 64: ppp */
