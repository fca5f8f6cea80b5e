// What the daemon lends to the workbench of its API, which the program that starts it brings along.
import type { Ledger } from '../../stores/ledger/index.ts';
import type { Workbench } from '../api/index.ts';
import type { LedgerHome } from './home.ts';

export interface WorkbenchHost {
  readonly home: LedgerHome;
  readonly env: { readonly [name: string]: string | undefined };
  readonly ledger: Ledger;
  /** Commits the lines that have arrived. */
  readonly sync: () => Promise<void>;
  readonly log: (message: string) => void;
  /** What the workbench has started ends with the daemon. */
  readonly closing: AbortSignal;
}

export type OpenWorkbench = (host: WorkbenchHost) => Promise<Workbench>;
