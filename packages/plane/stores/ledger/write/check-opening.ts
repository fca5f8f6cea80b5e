// Whether a ledger may go on from where it is found. A writer signs what it finds, so it must not
// take over what nobody can have written: signed once, a forgery would look like the rest.
import type { Verifier } from '@subluminal/core/ports';
import type { OwnRecord } from '../chain/ledger-events.ts';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import {
  type Head,
  headHolds,
  isSameHead,
  parseWitness,
  sealHolds,
  type WitnessedHead,
} from '../chain/signed-head.ts';
import type { StructureFault, Tip } from '../store/engine.ts';

/** `record` goes on, and says so in the ledger for good. */
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

/** The state with both heads parsed. */
interface ReadState extends Omit<OpeningState, 'noted' | 'kept'> {
  readonly note: WitnessedHead | undefined;
  readonly beside: WitnessedHead | 'missing' | 'unreadable';
}

interface OpeningFault {
  readonly code: 'SUB_LEDGER_ROLLED_BACK' | 'SUB_LEDGER_TAMPERED';
  readonly detail: string;
}

/** What the ledger must say about itself before anything else; throws when it may not go on. */
export function checkOpening(found: OpeningState, choice: RollbackChoice): readonly OwnRecord[] {
  const read = readWitnesses(found);
  const { tip, head, ledgerId, beside, note } = read;
  const trouble = olderThan(read, witnessOf(beside)) ?? olderThan(read, note) ?? strangeEnd(read);
  const wrong = trouble ?? strangeWitness(read) ?? strangeSchema(read);
  if (wrong !== undefined && choice === 'refuse') throw ledgerFailure(wrong.code, wrong.detail);
  const records: OwnRecord[] = [];
  if (wrong !== undefined) {
    const lost_head = witnessOf(beside) ?? note ?? { ledgerId, head: head ?? null };
    const rollback = { lost_head, found_seq: tip.seq, reason: wrong.detail };
    records.push({ type: 'ledger_rollback', rollback });
  } else if (witnessOf(beside) !== undefined && witnessOf(beside)?.seal === undefined) {
    records.push({ type: 'ledger_unsealed', unsealed: { head_n: head?.n ?? 0 } });
  }
  const signed = head?.seq ?? 0;
  if (tip.seq > signed) {
    const recovered = { from_seq: signed + 1, to_seq: tip.seq };
    records.push({ type: 'ledger_recovered', recovered });
  }
  return records;
}

function readWitnesses({ noted, kept, ...rest }: OpeningState): ReadState {
  const note = noted === undefined ? undefined : parseWitness(noted);
  const beside = kept === undefined ? 'missing' : (parseWitness(kept) ?? 'unreadable');
  return { ...rest, note, beside };
}

function witnessOf(beside: ReadState['beside']): WitnessedHead | undefined {
  return typeof beside === 'string' ? undefined : beside;
}

/** The store ends before what was signed. */
function olderThan(
  { ledgerId, tip, head }: ReadState,
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
function strangeEnd({ tip, head }: ReadState): OpeningFault | undefined {
  const code = 'SUB_LEDGER_TAMPERED';
  if (head === undefined && tip.seq > 0) {
    return { code, detail: `It has ${tip.seq} events, and no signed head at all.` };
  }
  if (head?.kind !== 'close' || tip.seq <= head.seq) return undefined;
  const detail = `It was closed after event ${head.seq}, and ends with event ${tip.seq}.`;
  return { code, detail };
}

function strangeSchema({ schema: [first] }: ReadState): OpeningFault | undefined {
  if (first === undefined) return undefined;
  return { code: 'SUB_LEDGER_TAMPERED', detail: `In the database ${first.message}.` };
}

/** What stands in `ledger.head` was put there with the key. */
function strangeWitness({
  ledgerId,
  head,
  note,
  beside,
  verifier,
}: ReadState): OpeningFault | undefined {
  const code = 'SUB_LEDGER_TAMPERED';
  if (beside === 'unreadable') return { code, detail: '`ledger.head` cannot be read.' };
  if (beside === 'missing') {
    if (head === undefined && note === undefined) return undefined;
    // A crash between the first head and its first witness: only the note is there.
    const isFirst = head?.n === 1 && note !== undefined && sealHolds(note, verifier);
    if (isFirst && isSameHead(ledgerId, head, note.head)) return undefined;
    return {
      code,
      detail: `\`ledger.head\` is missing, though ${head?.n ?? 0} heads were signed.`,
    };
  }
  if (beside.seal === undefined) {
    const isNew = head !== undefined && headHolds(ledgerId, head, verifier) === 'v2';
    return isNew ? { code, detail: '`ledger.head` has no seal.' } : undefined;
  }
  if (sealHolds(beside, verifier)) return undefined;
  return { code, detail: 'The seal of `ledger.head` is not one of `ledger.key`.' };
}
