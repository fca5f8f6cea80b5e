import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { answers } from '@subluminal/plane/ingest';
import type { LedgerAcceptInput } from '../catalog/ledger.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import { findLedger, type LedgerHome, withWriter } from '../ledger/home.ts';
import type { Io } from '../terminal/io.ts';
import { jsonText } from '../terminal/text.ts';

const REFUSED: ReadonlySet<string> = new Set(['SUB_LEDGER_ROLLED_BACK', 'SUB_LEDGER_TAMPERED']);

export async function run({ options }: LedgerAcceptInput, io: Io): Promise<Outcome> {
  const home = await findLedger();
  if (isFailure(home)) return home;
  // A daemon would not run with a ledger that there is something to accept about.
  if (await answers(home.config['ledger.socket'])) return told({ json: options.json, io });
  const opened = await withWriter(home, { io, create: false }, async () => undefined);
  if (!isFailure(opened)) return told({ json: options.json, io });
  if (!REFUSED.has(opened.code)) return opened;
  if (!options.yes) {
    const fix = 'See `sub ledger verify`; add --yes to go on with it all the same.';
    return failure('SUB_USAGE', opened.message, fix);
  }
  const event = await accept(home, io);
  if (isFailure(event)) return event;
  return told({ json: options.json, io, accepted: { event, reason: opened.message } });
}

/** The event that says so from now on. */
async function accept(home: LedgerHome, io: Io): Promise<number | Failure> {
  const wish = { io, create: false, acceptsRollback: true };
  return withWriter(home, wish, async ({ store }) => (await store.tip()).seq);
}

interface Told {
  readonly json: boolean;
  readonly io: Io;
  readonly accepted?: { readonly event: number; readonly reason: string };
}

function told({ json, io, accepted }: Told): Outcome {
  const text =
    accepted === undefined
      ? 'There is nothing to accept: the ledger follows from what was signed.\n'
      : 'Accepted. The ledger says so from now on, and `sub ledger verify` tells of it.\n';
  io.out.write(json ? jsonText({ accepted: accepted !== undefined, ...accepted }) : text);
  return done(EXIT.fine);
}
