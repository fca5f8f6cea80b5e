// What the queue needs from outside, and what it says when the disk does not let it.

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
  /** Hears of what is damaged or cannot be reached; whole sentences, not made harmless yet. */
  warn?(message: string): void;
  /** This process, and whether another one has ended: what it had begun is free at once then. */
  readonly self?: Owner;
  isGone?(owner: Owner): boolean;
}

/** The disk, or a folder that is not safe: nothing was asked, ended or granted. */
export interface StoreProblem {
  readonly kind: 'problem';
  readonly code: 'SUB_HOME_UNSAFE' | 'SUB_APPROVAL_STORE';
  readonly message: string;
  readonly fix: string;
}

export function isProblem(value: unknown): value is StoreProblem {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'problem';
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
