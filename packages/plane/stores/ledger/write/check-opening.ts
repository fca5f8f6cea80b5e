// Whether a writer may go on with a ledger as it finds it. It signs what it finds, so it must not take
// over what no writer can have left: signed once, a forgery would look like the rest.
import type { Verifier } from '@subluminal/core/ports';
import type { OwnRecord } from '../chain/ledger-events.ts';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import {
  type Head,
  parseWitness,
  type WitnessedHead,
  type WitnessFault,
  witnessFault,
} from '../chain/signed-head.ts';
import type { StructureFault, Tip } from '../store/stored-rows.ts';

/** `record` goes on, and leaves a record of it in the ledger. */
export type RollbackChoice = 'refuse' | 'record';

interface OpeningState {
  readonly ledgerId: string;
  readonly tip: Tip;
  readonly head: Head | undefined;
  /** What the ledger itself notes as its last head. */
  readonly noted: string | undefined;
  /** `ledger.head`. */
  readonly kept: string | undefined;
  /** Knows what this writer has signed. */
  readonly verifier: Verifier;
  /** What our own steps do not make; a trigger would change what is written. */
  readonly schema: readonly StructureFault[];
}

interface OpeningFault {
  readonly code: 'SUB_LEDGER_ROLLED_BACK' | 'SUB_LEDGER_TAMPERED';
  readonly detail: string;
}

const WITNESS_FAULTS: { readonly [F in WitnessFault]?: string } = {
  missing: '`ledger.head` is missing, though heads were signed.',
  unreadable: '`ledger.head` cannot be read.',
  unsealed: '`ledger.head` has no seal.',
  forged: 'The seal of `ledger.head` is not one of `ledger.key`.',
};

/** What the ledger must record about itself before anything else; throws when it may not go on. */
export function checkOpening(state: OpeningState, choice: RollbackChoice): readonly OwnRecord[] {
  const { ledgerId, tip, head, noted, kept, verifier, schema } = state;
  const note = noted === undefined ? undefined : parseWitness(noted);
  const beside = kept === undefined ? undefined : parseWitness(kept);
  const fault = witnessFault({ ledgerId, lastHead: head, note, beside: kept, verifier });
  const wrong =
    olderThan(state, beside) ??
    olderThan(state, note) ??
    strangeEnd(state) ??
    tampered(fault && WITNESS_FAULTS[fault]) ??
    tampered(schema[0] && `In the database ${schema[0].message}.`);
  if (wrong !== undefined && choice === 'refuse') throw ledgerFailure(wrong.code, wrong.detail);
  const records: OwnRecord[] = [];
  if (wrong !== undefined) {
    const lost_head = beside ?? note ?? { ledgerId, head: head ?? null };
    const rollback = { lost_head, found_seq: tip.seq, reason: wrong.detail };
    records.push({ type: 'ledger_rollback', rollback });
  } else if (fault === 'old') {
    records.push({ type: 'ledger_unsealed', unsealed: { head_n: head?.n ?? 0 } });
  }
  const signed = head?.seq ?? 0;
  if (tip.seq > signed) {
    const recovered = { from_seq: signed + 1, to_seq: tip.seq };
    records.push({ type: 'ledger_recovered', recovered });
  }
  return records;
}

function tampered(detail: string | undefined): OpeningFault | undefined {
  return detail === undefined ? undefined : { code: 'SUB_LEDGER_TAMPERED', detail };
}

/** The store ends before what was signed. */
function olderThan(
  { ledgerId, tip, head }: OpeningState,
  witness: WitnessedHead | undefined,
): OpeningFault | undefined {
  const code = 'SUB_LEDGER_ROLLED_BACK';
  if (witness !== undefined && witness.ledgerId !== ledgerId) {
    return { code, detail: `\`ledger.head\` belongs to another ledger than ${ledgerId}.` };
  }
  const signedSeq = Math.max(head?.seq ?? 0, witness?.head.seq ?? 0);
  if ((head?.n ?? 0) >= (witness?.head.n ?? 0) && tip.seq >= signedSeq) return undefined;
  return { code, detail: `It ends with event ${tip.seq}, but event ${signedSeq} was signed.` };
}

/** Events are written together with a head where none was, and where the last one closed. */
function strangeEnd({ tip, head }: OpeningState): OpeningFault | undefined {
  if (head === undefined && tip.seq > 0) {
    return tampered(`It has ${tip.seq} events, and no signed head at all.`);
  }
  if (head?.kind !== 'close' || tip.seq <= head.seq) return undefined;
  return tampered(`It was closed after event ${head.seq}, and ends with event ${tip.seq}.`);
}
