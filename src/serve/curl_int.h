/*
 * curl_int.h: what push.c calls of libcurl, with its numbers, so that building tally needs no headers of a library that
 * few runs load. They are part of libcurl's ABI (https://curl.se/libcurl/c/libcurl-multi.html); push_test.c holds them
 * against curl/curl.h where that is installed.
 */
#ifndef TALLY_SERVE_CURL_INT_H
#define TALLY_SERVE_CURL_INT_H

#include <stddef.h>

/* X(result, name, parameters) */
/* clang-format off */
#define CURL_FUNCTIONS(X)                                                      \
	X(int, global_init, (long flags))                                      \
	X(void *, easy_init, (void))                                           \
	X(void, easy_cleanup, (void *easy))                                    \
	X(int, easy_setopt, (void *easy, int option, ...))                     \
	X(int, easy_getinfo, (void *easy, int info, ...))                      \
	X(const char *, easy_strerror, (int code))                             \
	X(char *, easy_escape, (void *easy, const char *text, int n))          \
	X(void, free, (void *p))                                               \
	X(void *, slist_append, (void *list, const char *text))                \
	X(void, slist_free_all, (void *list))                                  \
	X(void *, multi_init, (void))                                          \
	X(int, multi_cleanup, (void *multi))                                   \
	X(int, multi_setopt, (void *multi, int option, ...))                   \
	X(int, multi_add_handle, (void *multi, void *easy))                    \
	X(int, multi_remove_handle, (void *multi, void *easy))                 \
	X(int, multi_socket_action, (void *multi, int fd, int events, int *n)) \
	X(struct curl_message *, multi_info_read, (void *multi, int *left))

/* X(our name, its name, number) */
#define CURL_NUMBERS(X)                                              \
	X(GLOBAL_ALL, CURL_GLOBAL_ALL, 3)                            \
	X(EASY_WRITEDATA, CURLOPT_WRITEDATA, 10001)                  \
	X(EASY_URL, CURLOPT_URL, 10002)                              \
	X(EASY_POSTFIELDS, CURLOPT_POSTFIELDS, 10015)                \
	X(EASY_USERAGENT, CURLOPT_USERAGENT, 10018)                  \
	X(EASY_HTTPHEADER, CURLOPT_HTTPHEADER, 10023)                \
	X(EASY_NETRC, CURLOPT_NETRC, 51)                             \
	X(EASY_TIMEOUT_MS, CURLOPT_TIMEOUT_MS, 155)                  \
	X(EASY_WRITEFUNCTION, CURLOPT_WRITEFUNCTION, 20011)          \
	X(EASY_POSTFIELDSIZE_LARGE, CURLOPT_POSTFIELDSIZE_LARGE, 30120) \
	X(NETRC_OPTIONAL, CURL_NETRC_OPTIONAL, 1)                    \
	X(INFO_RESPONSE_CODE, CURLINFO_RESPONSE_CODE, 0x200002)      \
	X(MULTI_SOCKETFUNCTION, CURLMOPT_SOCKETFUNCTION, 20001)      \
	X(MULTI_SOCKETDATA, CURLMOPT_SOCKETDATA, 10002)              \
	X(MULTI_TIMERFUNCTION, CURLMOPT_TIMERFUNCTION, 20004)        \
	X(MULTI_TIMERDATA, CURLMOPT_TIMERDATA, 10005)                \
	X(POLL_IN, CURL_POLL_IN, 1)                                  \
	X(POLL_OUT, CURL_POLL_OUT, 2)                                \
	X(POLL_REMOVE, CURL_POLL_REMOVE, 4)                          \
	X(SOCKET_TIMEOUT, CURL_SOCKET_TIMEOUT, -1)                   \
	X(SELECT_IN, CURL_CSELECT_IN, 1)                             \
	X(SELECT_OUT, CURL_CSELECT_OUT, 2)                           \
	X(SELECT_ERR, CURL_CSELECT_ERR, 4)                           \
	X(MESSAGE_DONE, CURLMSG_DONE, 1)
/* clang-format on */

enum libcurl_number {
#define X(name, theirs, number) LIBCURL_##name = (number),
	CURL_NUMBERS(X)
#undef X
};
struct curl_message { /* CURLMsg */
	int kind;
	void *easy;
	union {
		void *whatever;
		int code;
	} result;
};
struct curl_library {
#define X(result, name, parameters) result(*name) parameters;
	CURL_FUNCTIONS(X)
#undef X
};

#endif
