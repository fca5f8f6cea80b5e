// The ledger's daemon as `sub tail` needs it: started when it does not run, and followed.
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { ensurePrivateFolder, formatConfigProblem } from '@subluminal/plane/config';
import { ensureLedgerd } from '@subluminal/plane/daemon';
import { createLedgerClient } from '@subluminal/plane/ingest';
import { type LedgerHome, withReader } from '../ledger/home.ts';
import type { FollowSource } from './follow.ts';

const START_MS = 10_000;

export function daemonOf(home: LedgerHome): FollowSource {
  const client = createLedgerClient({ socketPath: home.config['ledger.socket'] });
  return {
    ensure: () => ensured(home),
    tip: async () => {
      const tip = await withReader(home, (reader) => reader.tip());
      return isFailure(tip) ? undefined : tip.seq;
    },
    follow: (request) => client.follow(request),
  };
}

async function ensured({ config, paths }: LedgerHome): Promise<string | undefined> {
  for (const folder of [paths.home, paths.run]) {
    const unsafe = ensurePrivateFolder(folder);
    if (unsafe !== undefined) return formatConfigProblem(unsafe);
  }
  if (await ensureLedgerd({ env: process.env, paths, config }, START_MS)) return undefined;
  return `\`sub ledgerd\` could not be started; see ${join(paths.run, 'ledgerd.log')}.`;
}
