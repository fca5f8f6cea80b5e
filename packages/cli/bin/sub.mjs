#!/usr/bin/env node
// npm links this file at install time, before anything is built, and the configs of clients name it.
const { getBuiltinModule } = process;
const file = getBuiltinModule('node:url').fileURLToPath(import.meta.url);
// Not where a link to it stands: what lies beside that is not ours.
const here = getBuiltinModule('node:fs').realpathSync(file);
getBuiltinModule('node:module').createRequire(here)('./sub.cjs');
