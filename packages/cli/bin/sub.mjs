#!/usr/bin/env node
// Configs of clients that were written by earlier versions name this file.
const { getBuiltinModule } = process;
const file = getBuiltinModule('node:url').fileURLToPath(import.meta.url);
// Not where a link to it stands: what lies beside that is not ours.
const here = getBuiltinModule('node:fs').realpathSync(file);
getBuiltinModule('node:module').createRequire(here)('./sub.cjs');
