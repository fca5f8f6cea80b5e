// A process that uses a grant again and again, as a shim does: it prints each header that it would send, by its digest.
import { createHash } from 'node:crypto';
import { isFailure } from '@subluminal/contracts';
import { authorizationFor } from '../authorization-for.ts';

const [home = '', url = '', times = '1', shift = '0'] = process.argv.slice(2);
const shiftMs = Number(shift);
let rounds = 0;
const using = authorizationFor({
  server: 'whoami',
  url,
  // Each round is a life of the token later.
  vault: { home, keychain: null, nowMs: () => Date.now() + rounds * shiftMs },
  secrets: { fetch: async () => '', close: async () => {} },
});
for (rounds = 1; rounds <= Number(times); rounds++) {
  const header = await using.header();
  const text = isFailure(header) ? `${header.code} ${header.message}` : (header ?? 'none');
  const shown = isFailure(header) ? text : createHash('sha256').update(text).digest('hex');
  process.stdout.write(`${shown}\n`);
}
