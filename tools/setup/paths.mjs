// Where things are, for every tool that runs before anything is installed.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache', 'subluminal');
const LOCK = join(ROOT, '.setup.lock');

export { CACHE, LOCK, ROOT };
