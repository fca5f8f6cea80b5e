import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { isAnswered } from '@subluminal/plane/os';
import { defineCommand, done, EXIT, type Outcome, orThrow } from '../input/command.ts';
import { findLedger, type LedgerHome, withWriter } from '../ledger/user-ledger.ts';
import type { Io } from '../terminal/io.ts';
import { jsonText } from '../terminal/text.ts';

const REFUSED: ReadonlySet<string> = new Set(['SUB_LEDGER_ROLLED_BACK', 'SUB_LEDGER_TAMPERED']);

export const command = defineCommand({
  description:
    'A ledger that was rolled back, cut or changed takes no more events. This accepts its present content, signs it, and records permanently in the ledger that it did so, and why.',
  options: { yes: 'Accept it; without this flag nothing changes' },
  examples: ['sub ledger accept', 'sub ledger accept --yes'],
  exitCodes: {
    0: 'the ledger is accepted, or there was nothing to accept',
    2: 'no --yes, or a ledger that is missing, locked or cannot be written',
  },
  requires: 'person',
  run: async ({ options }, io) => {
    const home = orThrow(await findLedger());
    // A daemon would not run with a ledger that there is something to accept about.
    if (await isAnswered(home.config['ledger.socket']))
      return reportAcceptance({ json: options.json, io });
    const opened = await withWriter(home, { io, create: false }, async () => undefined);
    if (!isFailure(opened)) return reportAcceptance({ json: options.json, io });
    if (!REFUSED.has(opened.code)) return opened;
    if (!options.yes) {
      const fix = 'See `sub ledger verify`; add --yes to go on with it all the same.';
      return failure('SUB_USAGE', opened.message, fix);
    }
    const event = orThrow(await accept(home, io));
    return reportAcceptance({
      json: options.json,
      io,
      accepted: { event, reason: opened.message },
    });
  },
});

/** The event that says so from now on. */
async function accept(home: LedgerHome, io: Io): Promise<number | Failure> {
  const wish = { io, create: false, acceptsRollback: true };
  return withWriter(home, wish, async ({ store }) => (await store.tip()).seq);
}

interface AcceptReport {
  readonly json: boolean;
  readonly io: Io;
  readonly accepted?: { readonly event: number; readonly reason: string };
}

function reportAcceptance({ json, io, accepted }: AcceptReport): Outcome {
  const text =
    accepted === undefined
      ? 'There is nothing to accept: the ledger follows from what was signed.\n'
      : 'Accepted. The ledger says so from now on, and `sub ledger verify` tells of it.\n';
  io.out.write(json ? jsonText({ accepted: accepted !== undefined, ...accepted }) : text);
  return done(EXIT.fine);
}
