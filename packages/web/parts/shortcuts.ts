// Keys that work anywhere in the page, but not while something is typed.
import { useEffect, useEffectEvent } from 'react';

/** One of the keys that `?` shows. */
export interface Shortcut {
  /** `j`, `/`, `Escape`, or two keys one after the other: `g l`. */
  readonly keys: string;
  readonly what: string;
  /** The only server whose page has it. */
  readonly plane?: 'ledger' | 'gateway';
}

type Handler = () => void;

const CHAIN_MS = 1_000;
const handlers = new Map<string, Handler[]>();
let before: { readonly key: string; readonly atMs: number } | undefined;

function isTyped({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true;
  return (
    target instanceof HTMLElement &&
    target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') !== null
  );
}

/** A button that has the focus takes the space itself. */
function isPressed({ key, target }: KeyboardEvent): boolean {
  const isPress = key === ' ' || key === 'Enter';
  return (
    isPress &&
    target instanceof HTMLElement &&
    target.closest('button, a, summary, input, [role=button]') !== null
  );
}

globalThis.addEventListener('keydown', (event) => {
  const { key } = event;
  // A dialog has the keys to itself, Escape too.
  if (document.querySelector('dialog[open]') !== null) return;
  if (key !== 'Escape' && (isTyped(event) || isPressed(event))) return;
  const nowMs = performance.now();
  const chained =
    before !== undefined && nowMs - before.atMs < CHAIN_MS ? `${before.key} ${key}` : '';
  before = { key, atMs: nowMs };
  const handler = handlers.get(chained)?.at(-1) ?? handlers.get(key)?.at(-1);
  if (handler === undefined) return;
  event.preventDefault();
  handler();
});

/** While the component is there. Of several, the last that came is asked. */
export function useShortcut(keys: string, handler: Handler): void {
  const latest = useEffectEvent(handler);
  useEffect(() => {
    const own = () => latest();
    handlers.set(keys, [...(handlers.get(keys) ?? []), own]);
    return () => {
      const others = (handlers.get(keys) ?? []).filter((one) => one !== own);
      if (others.length === 0) handlers.delete(keys);
      else handlers.set(keys, others);
    };
  }, [keys]);
}

/** Beside those of the views. */
const SHORTCUTS: readonly Shortcut[] = [
  { keys: 'j', what: 'Next row' },
  { keys: 'k', what: 'Previous row' },
  { keys: 'Enter', what: 'Open the row' },
  { keys: 'Escape', what: 'Close the panel' },
  { keys: '/', what: 'Search' },
  { keys: 'Space', what: 'Pause, or go on', plane: 'ledger' },
  { keys: 'x', what: 'Choose the run to compare', plane: 'ledger' },
  { keys: 'c', what: 'Compare two runs', plane: 'ledger' },
  { keys: '+ - 0', what: 'Zoom the timeline', plane: 'ledger' },
  { keys: '← →', what: 'Move the timeline', plane: 'ledger' },
  { keys: 'a', what: 'Approve the call', plane: 'ledger' },
  { keys: 'r', what: 'Reject the call', plane: 'ledger' },
  { keys: '?', what: 'Show these keys' },
];

export function shortcutsOf(plane: 'ledger' | 'gateway'): readonly Shortcut[] {
  return SHORTCUTS.filter((one) => one.plane === undefined || one.plane === plane);
}
