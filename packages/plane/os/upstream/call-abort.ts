// Ends a call of an upstream.

/** What is asked of an AbortSignal here. */
export interface AbortSource {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Like an AbortController and its signal, which cost more than all that most calls do with one. */
export class CallAbort implements AbortSource {
  aborted = false;
  private listeners: readonly (() => void)[] = [];

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const listener of this.listeners) listener();
  }

  addEventListener(_abort: 'abort', listener: () => void): void {
    this.listeners = [...this.listeners, listener];
  }

  removeEventListener(_abort: 'abort', listener: () => void): void {
    this.listeners = this.listeners.filter((each) => each !== listener);
  }
}
