// What a table of the journal is read and written with.
import type { statementsOf } from '@subluminal/plane/sqlite/private-database';
import type { NewMessage } from './types.ts';

export interface TableAccess {
  readonly db: ReturnType<typeof statementsOf>;
  /** All of it or nothing, on the disk when it returns. */
  readonly write: <T>(work: () => T) => T;
  /** Within a write. */
  readonly addMessage: (message: NewMessage) => void;
  readonly nowMs: () => number;
}

/** Of one text; what is longer is cut and says so. */
const TEXT_LENGTH_MAX = 200_000;
const CUT = '\n[cut here: it was longer]';

export function bounded(text: string): string {
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX)}${CUT}`;
}
