// What is edited and not saved: it outlives a reload, and belongs to the file as it was when the editing began.
import type { ApiPolicyActive } from '@subluminal/contracts';
import { useEffect, useState } from 'react';

interface PolicyDraft {
  readonly text: string;
  /** The content that was edited; null for a file that was not there. */
  readonly base: string | null;
}

export interface EditedPolicy extends PolicyDraft {
  readonly isDirty: boolean;
  /** The file is another one than when the editing began. */
  readonly isStale: boolean;
  readonly setText: (text: string) => void;
  /** Takes the file as it is. */
  readonly discard: () => void;
  /** Keeps the text, as a change of the file as it is now. */
  readonly rebase: () => void;
}

function nameOf(path: string | null): string {
  return `sub.policy-draft ${path ?? ''}`;
}

function readDraft(path: string | null): PolicyDraft | undefined {
  const kept = globalThis.sessionStorage.getItem(nameOf(path));
  if (kept === null) return undefined;
  const draft: unknown = JSON.parse(kept);
  if (typeof draft !== 'object' || draft === null) return undefined;
  if (!('text' in draft) || typeof draft.text !== 'string' || !('base' in draft)) return undefined;
  return { text: draft.text, base: typeof draft.base === 'string' ? draft.base : null };
}

function keepDraft(path: string | null, draft: PolicyDraft | undefined): void {
  if (draft === undefined) globalThis.sessionStorage.removeItem(nameOf(path));
  else globalThis.sessionStorage.setItem(nameOf(path), JSON.stringify(draft));
}

export function useDraft({ path, text: saved, sha256 }: ApiPolicyActive): EditedPolicy {
  const [draft, setDraft] = useState(() => readDraft(path));
  const change = (next: PolicyDraft | undefined) => {
    keepDraft(path, next);
    setDraft(next);
  };
  const original = saved ?? '';
  const base = draft === undefined ? sha256 : draft.base;
  const isDirty = draft !== undefined && draft.text !== original;
  useEffect(() => {
    if (!isDirty) return undefined;
    const askBefore = (event: Event) => event.preventDefault();
    globalThis.addEventListener('beforeunload', askBefore);
    return () => globalThis.removeEventListener('beforeunload', askBefore);
  }, [isDirty]);
  return {
    text: draft?.text ?? original,
    base,
    isDirty,
    isStale: isDirty && base !== sha256,
    setText: (text) => change(text === original ? undefined : { text, base }),
    discard: () => change(undefined),
    rebase: () => change(draft && { text: draft.text, base: sha256 }),
  };
}
