// Whether a prompt is what the user said. What a tool has started could send one, too: while the tool runs, or later
// from a process that has been there since.
import type { HookEvent } from '@subluminal/core/hooks';

/** Behind them, a tool may no longer count as running. */
const OF_TOOLS: ReadonlySet<HookEvent['kind']> = new Set([
  'before_tool',
  'after_tool',
  'before_model',
  'session_end',
]);

export class PromptTrust {
  #toolsHeardMs = Number.NEGATIVE_INFINITY;

  heard({ kind }: HookEvent, nowMs: number): void {
    if (OF_TOOLS.has(kind)) this.#toolsHeardMs = nowMs;
  }

  /** Why the values in a prompt are not freed. `sinceMs` is when the process was started that sends it. */
  doubt(isRunning: boolean, sinceMs: number | undefined): string | undefined {
    if (isRunning) return 'a prompt came while a tool ran: the values in it are not freed';
    if (sinceMs === undefined || sinceMs > this.#toolsHeardMs) return undefined;
    return 'a prompt came from a process that was there when a tool ran: the values in it are not freed';
  }
}
