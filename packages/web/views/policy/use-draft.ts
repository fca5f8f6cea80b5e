// The draft of a policy in the editor.
import type { ApiPolicyActive } from '@subluminal/contracts';
import { useEffect, useState } from 'react';
import { keepDraft, type PolicyDraft, readDraft } from '../../parts/policy-draft.ts';

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
