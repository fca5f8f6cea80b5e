// The heads that were kept outside of the table of heads, and whether they can be believed.
import type { Verifier } from '@subluminal/core/ports';
import { type Head, headHolds } from '../chain/signed-head.ts';
import type { Witness } from '../chain/witness.ts';
import { isSameHead, parseWitness, sealHolds, type WitnessedHead } from '../chain/witnessed.ts';
import { type Findings, NOWHERE } from './finding.ts';

interface Kept {
  readonly findings: Findings;
  readonly ledgerId: string;
  /** The last of the table. */
  readonly lastHead: Head | undefined;
  readonly verifier: Verifier | undefined;
  /** What the ledger itself notes as its last head. */
  readonly noted: string | undefined;
  /** `ledger.head`: its text, or undefined when it is missing; null when nobody asked for it. */
  readonly beside: string | undefined | null;
  /** Heads that somebody has kept. */
  readonly kept: readonly WitnessedHead[];
}

/** Those that the heads of the ledger must agree with. */
export function readWitnesses(options: Kept): readonly WitnessedHead[] {
  const { findings, kept, verifier } = options;
  const note = readNote(options);
  const beside = readBeside(options, note);
  const all = [beside, note, ...kept].filter((one) => one !== undefined);
  return all.filter(({ ledgerId, head }) => {
    if (verifier === undefined || headHolds(ledgerId, head, verifier) !== undefined) return true;
    const message = `the signature of head ${head.n}, kept outside the ledger, does not hold`;
    findings.error('witness', NOWHERE, message);
    return false;
  });
}

function readNote({ noted, verifier, findings }: Kept): WitnessedHead | undefined {
  if (noted === undefined) return undefined;
  const note = parseWitness(noted);
  const holds = note !== undefined && (verifier === undefined || sealHolds(note, verifier));
  if (!holds)
    findings.error('witness', NOWHERE, 'what the ledger notes as its last head was changed');
  return note;
}

function readBeside(options: Kept, note: WitnessedHead | undefined): WitnessedHead | undefined {
  const { beside, findings, verifier, lastHead, ledgerId } = options;
  if (beside === null) return undefined;
  if (beside === undefined) {
    reportMissing(options, note);
    return undefined;
  }
  const witness = parseWitness(beside);
  if (witness === undefined) {
    findings.error('witness', NOWHERE, 'ledger.head cannot be read');
  } else if (verifier !== undefined && witness.seal === undefined) {
    // Those who sign by v2 have sealed it, too.
    const isNew = lastHead !== undefined && headHolds(ledgerId, lastHead, verifier) === 'v2';
    const [level, who] = isNew
      ? (['error', 'somebody without the key has put it there'] as const)
      : (['warning', 'an older version wrote it, or somebody else'] as const);
    findings[level]('witness', NOWHERE, `ledger.head has no seal: ${who}`);
  } else if (verifier !== undefined && !sealHolds(witness, verifier)) {
    const message =
      'the seal of ledger.head does not hold: somebody without the key has put it there';
    findings.error('witness', NOWHERE, message);
  }
  return witness;
}

const UNNOTICED = 'events removed from the end would go unnoticed';

function reportMissing(
  { findings, lastHead, ledgerId, verifier }: Kept,
  note: WitnessedHead | undefined,
): void {
  if (lastHead === undefined && note === undefined) return;
  const isNoted = note !== undefined && (verifier === undefined || sealHolds(note, verifier));
  const isFirst = lastHead?.n === 1 && isNoted && isSameHead(ledgerId, lastHead, note.head);
  if (isFirst) {
    const message = 'ledger.head is missing: the first writer did not get as far as that';
    findings.warning('witness', NOWHERE, message);
  } else findings.error('witness', NOWHERE, `ledger.head is missing: ${UNNOTICED}`);
}

interface Lagging {
  readonly findings: Findings;
  readonly lastHead: Head | undefined;
  readonly witness: Witness | undefined;
}

/** It is written right after each head. So it is looked at again: a writer may be at work. */
export async function checkLag({ findings, lastHead, witness }: Lagging): Promise<void> {
  const text = await witness?.read();
  const beside = text === undefined ? undefined : parseWitness(text)?.head;
  if (beside === undefined || lastHead === undefined) return;
  if (beside.n >= lastHead.n || beside.seq >= lastHead.seq) return;
  const message = `ledger.head is head ${beside.n}, but head ${lastHead.n} is the last one: events removed behind event ${beside.seq} would go unnoticed`;
  findings.warning('witness', [beside.seq + 1, lastHead.seq], message);
}
