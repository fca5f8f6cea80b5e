// Whether a ledger may go on from where it is found.
import { LedgerError } from './errors.ts';
import { type Head, parseWitness } from './head.ts';
import type { OwnRecord } from './own-events.ts';
import type { Tip } from './store.ts';

/** `record` goes on, and says so in the ledger for good. */
type RollbackChoice = 'refuse' | 'record';

interface Found {
  readonly ledgerId: string;
  readonly tip: Tip;
  readonly head: Head | undefined;
}

interface OpenCheck {
  /** What the ledger must say about itself before anything else. */
  readonly records: readonly OwnRecord[];
  readonly warning?: string;
}

/** Compares the store with the last head that was kept outside of it. */
function checkWitness(found: Found, kept: string | undefined, choice: RollbackChoice): OpenCheck {
  const witnessed = kept === undefined ? undefined : parseWitness(kept);
  const warning =
    kept !== undefined && witnessed === undefined ? 'ledger.head cannot be read.' : undefined;
  const { ledgerId, tip, head } = found;
  const other = witnessed !== undefined && witnessed.ledgerId !== ledgerId;
  const wanted = Math.max(head?.seq ?? 0, other ? 0 : (witnessed?.head.seq ?? 0));
  const older = (head?.n ?? 0) < (other ? 0 : (witnessed?.head.n ?? 0)) || tip.seq < wanted;
  const records: OwnRecord[] = [];
  if (other || older) {
    if (choice === 'refuse') throw rolledBack(found, witnessed?.head ?? head, other);
    const lost_head = witnessed ?? { ledgerId, head };
    records.push({ type: 'ledger_rollback', rollback: { lost_head, found_seq: tip.seq } });
  }
  const signed = head?.seq ?? 0;
  if (tip.seq > signed) {
    const recovered = { from_seq: signed + 1, to_seq: tip.seq };
    records.push({ type: 'ledger_recovered', recovered });
  }
  return { records, ...(warning !== undefined && { warning }) };
}

function rolledBack({ tip, ledgerId }: Found, lost: Head | undefined, other: boolean): LedgerError {
  const detail = other
    ? `\`ledger.head\` belongs to another ledger than ${ledgerId}.`
    : `It ends with event ${tip.seq}, but event ${lost?.seq ?? 0} was signed.`;
  return new LedgerError('SUB_LEDGER_ROLLED_BACK', detail);
}

export type { RollbackChoice };
export { checkWitness };
