#!/bin/sh
# The desktop's browser: a profile of its own that asks nothing and tells nobody.

# Chromium binds a socket some 50 characters below TMPDIR, and a socket's path has 107 at most.
[ ${#TMPDIR} -le 55 ] || export TMPDIR=/tmp

# Pages build their trees for whoever has asked for one; it costs time, so for nobody else.
[ ! -e '@FOLDER@/run/accessibility' ] || set -- --force-renderer-accessibility "$@"

exec chromium \
    --user-data-dir='@FOLDER@/browser' \
    --no-first-run --no-default-browser-check --disable-default-apps \
    --disable-search-engine-choice-screen \
    --disable-sync --password-store=basic \
    --disable-background-networking --disable-component-update --disable-domain-reliability \
    --disable-breakpad --metrics-recording-only --no-pings \
    --hide-crash-restore-bubble --disable-session-crashed-bubble --noerrdialogs \
    --disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication \
    --disable-gpu --start-maximized @SANDBOX@ "$@"
