#!/bin/sh
# page-hash.sh - prints the SHA-256 of the script of the page of `tally serve`, as src/serve/live.c has it in the content security policy.
set -eu
cd "$(dirname "$0")/.."
openssl dgst -sha256 -binary <src/serve/page.js | base64
