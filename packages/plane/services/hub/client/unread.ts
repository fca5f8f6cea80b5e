// Why the hub gave no usable answer.

export interface Unread {
  readonly ok: false;
  readonly reason: string;
  /** 0 when there was no answer at all. */
  readonly status: number;
  /** Nobody listens there: the process of the hub has ended, or has not begun. */
  readonly isGone: boolean;
}

export function unread(
  reason: string,
  { status = 0, isGone = false }: Partial<Pick<Unread, 'status' | 'isGone'>> = {},
): Unread {
  return { ok: false, reason, status, isGone };
}
