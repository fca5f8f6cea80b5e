// What the calendar tools need to know: their section of integrations.yaml, and a way to the password.
import type { Failure, IntegrationsFile } from '@subluminal/contracts';

export type CalendarAccount = NonNullable<IntegrationsFile['calendar']>;

export interface CalendarServerOptions {
  readonly account: CalendarAccount;
  /** Fetched for each use of a tool and kept nowhere. */
  readonly password: () => Promise<string | Failure>;
  /** The variables of the process: they name its proxy. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly nowMs: () => number;
  /** For one use of a tool. */
  readonly timeoutMs?: number;
}
