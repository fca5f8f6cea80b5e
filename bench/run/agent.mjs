// The agent of `npm run bench -- run`: it tells how a server must be started to be of its run, and stays until
// its input ends.
import { writeSync } from 'node:fs';

writeSync(1, `${JSON.stringify(process.env)}\n`);
process.stdin.resume();
process.stdin.once('end', () => process.exit(0));
