// What the queue needs from outside.

export interface Owner {
  readonly pid: number;
  /** Differs between two processes that had the same id at different times. */
  readonly start: string;
}

export interface ApprovalPorts {
  /** Milliseconds since 1970, as other processes count them too. */
  nowMs(): number;
  /** A new UUID of version 7: sorted by name is sorted by time. */
  uuid(): string;
  /** Reports damaged or unreachable files, in whole sentences that may hold control characters. */
  warn?(message: string): void;
  /** This process, and whether another one has ended: its claims are free at once then. */
  readonly self?: Owner;
  isGone?(owner: Owner): boolean;
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
