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
