/*
 * duck_int.h: the part of DuckDB's C interface that is used, declared by hand:
 * the package that carries the library has no header.
 *
 * Source: duckdb.org, "C API". Only functions and values of its stable part;
 * handles are pointers to nothing that is ours.  All functions are one table,
 * filled when the library is loaded; duck_int.h's list is the only place that
 * names them.
 */
#ifndef TALLY_CAPTURE_DUCK_INT_H
#define TALLY_CAPTURE_DUCK_INT_H

#include "base/base.h"

typedef uint64_t duck_idx;
typedef void *duck_handle; /* database, connection, statement, chunk, vector, type ... */
typedef void duck_callback(duck_handle info);
enum { DUCK_OK = 0, DUCK_STATEMENT_SELECT = 1 };

/* enum duckdb_type, as far as we make or tell them. */
enum duck_type {
	DUCK_BOOLEAN = 1,
	DUCK_TINYINT,
	DUCK_SMALLINT,
	DUCK_INTEGER,
	DUCK_BIGINT,
	DUCK_UTINYINT,
	DUCK_USMALLINT,
	DUCK_UINTEGER,
	DUCK_UBIGINT,
	DUCK_FLOAT,
	DUCK_DOUBLE,
	DUCK_HUGEINT = 16,
	DUCK_VARCHAR = 17,
	DUCK_DECIMAL = 19,
	DUCK_UHUGEINT = 32,
};
/* duckdb_result: passed by value to fetch_chunk */
struct duck_result {
	duck_idx ncolumns, nrows, nchanged;
	void *columns;
	char *error;
	void *internal;
};
static_assert(sizeof(struct duck_result) == 48, "duckdb_result of the C API");
union duck_string { /* duckdb_string_t: short ones inside */
	struct {
		uint32_t n;
		char prefix[4];
		const char *p;
	} pointer;
	struct {
		uint32_t n;
		char s[12];
	} inlined;
};
static_assert(sizeof(union duck_string) == 16, "duckdb_string_t of the C API");

/* X(name, return type, parameters) */
/* clang-format off */
#define DUCK_FUNCTIONS(X)                                                                                       \
	X(open_ext, int, (const char *path, duck_handle *db, duck_handle config, char **error))                \
	X(close, void, (duck_handle *db))                                                                       \
	X(free, void, (void *p))                                                                                \
	X(connect, int, (duck_handle db, duck_handle *con))                                                     \
	X(disconnect, void, (duck_handle *con))                                                                 \
	X(create_config, int, (duck_handle *config))                                                            \
	X(set_config, int, (duck_handle config, const char *name, const char *value))                           \
	X(destroy_config, void, (duck_handle *config))                                                          \
	X(query, int, (duck_handle con, const char *sql, struct duck_result *r))                                \
	X(destroy_result, void, (struct duck_result *r))                                                        \
	X(result_error, const char *, (struct duck_result *r))                                                  \
	X(prepare, int, (duck_handle con, const char *sql, duck_handle *stmt))                                  \
	X(prepare_error, const char *, (duck_handle stmt))                                                      \
	X(destroy_prepare, void, (duck_handle *stmt))                                                           \
	X(prepared_statement_type, int, (duck_handle stmt))                                                     \
	X(prepared_statement_column_count, duck_idx, (duck_handle stmt))                                        \
	X(prepared_statement_column_name, const char *, (duck_handle stmt, duck_idx column))                    \
	X(prepared_statement_column_type, int, (duck_handle stmt, duck_idx column))                             \
	X(execute_prepared_streaming, int, (duck_handle stmt, struct duck_result *r))                           \
	X(fetch_chunk, duck_handle, (struct duck_result r))                                                     \
	X(destroy_data_chunk, void, (duck_handle *chunk))                                                       \
	X(data_chunk_get_size, duck_idx, (duck_handle chunk))                                                   \
	X(data_chunk_set_size, void, (duck_handle chunk, duck_idx n))                                           \
	X(data_chunk_get_vector, duck_handle, (duck_handle chunk, duck_idx column))                             \
	X(vector_size, duck_idx, (void))                                                                        \
	X(vector_get_data, void *, (duck_handle vector))                                                        \
	X(vector_get_validity, uint64_t *, (duck_handle vector))                                                \
	X(vector_assign_string_element_len, void, (duck_handle vector, duck_idx row, const char *s, duck_idx n)) \
	X(create_logical_type, duck_handle, (int type))                                                         \
	X(destroy_logical_type, void, (duck_handle *type))                                                      \
	X(create_table_function, duck_handle, (void))                                                           \
	X(destroy_table_function, void, (duck_handle *f))                                                       \
	X(table_function_set_name, void, (duck_handle f, const char *name))                                     \
	X(table_function_set_extra_info, void, (duck_handle f, void *extra, void (*destroy)(void *)))           \
	X(table_function_set_bind, void, (duck_handle f, duck_callback *bind))                                  \
	X(table_function_set_init, void, (duck_handle f, duck_callback *init))                                  \
	X(table_function_set_function, void, (duck_handle f, void (*fill)(duck_handle info, duck_handle chunk))) \
	X(table_function_supports_projection_pushdown, void, (duck_handle f, bool yes))                         \
	X(register_table_function, int, (duck_handle con, duck_handle f))                                       \
	X(bind_get_extra_info, void *, (duck_handle info))                                                      \
	X(bind_add_result_column, void, (duck_handle info, const char *name, duck_handle type))                 \
	X(init_get_extra_info, void *, (duck_handle info))                                                      \
	X(init_get_column_count, duck_idx, (duck_handle info))                                                  \
	X(init_get_column_index, duck_idx, (duck_handle info, duck_idx i))                                      \
	X(init_set_max_threads, void, (duck_handle info, duck_idx n))                                           \
	X(init_set_init_data, void, (duck_handle info, void *data, void (*destroy)(void *)))                    \
	X(init_set_error, void, (duck_handle info, const char *error))                                          \
	X(function_get_init_data, void *, (duck_handle info))                                                   \
	X(function_set_error, void, (duck_handle info, const char *error))
/* clang-format on */

struct duck {
#define X(name, type, parameters) type(*name) parameters;
	DUCK_FUNCTIONS(X)
#undef X
};
/* path NULL: as the run-time linker finds it. -TALLY_ENOTSUP with words when it isn't there or too old. */
int duck_load(const char *path, struct err *e);
const struct duck *duck(void); /* good after duck_load() */

#endif
