// A hook as a process that decides nothing.
import { readFileSync } from 'node:fs';

readFileSync(0);
process.stdout.write('{}');
