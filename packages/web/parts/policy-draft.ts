// A policy that is edited and not saved: it outlives a reload, and belongs to the file as it was when the editing began.

export interface PolicyDraft {
  readonly text: string;
  /** The content that was edited; null for a file that was not there. */
  readonly base: string | null;
}

function nameOf(path: string | null): string {
  return `sub.policy-draft ${path ?? ''}`;
}

export function readDraft(path: string | null): PolicyDraft | undefined {
  const kept = globalThis.sessionStorage.getItem(nameOf(path));
  if (kept === null) return undefined;
  const draft: unknown = JSON.parse(kept);
  if (typeof draft !== 'object' || draft === null) return undefined;
  if (!('text' in draft) || typeof draft.text !== 'string' || !('base' in draft)) return undefined;
  return { text: draft.text, base: typeof draft.base === 'string' ? draft.base : null };
}

export function keepDraft(path: string | null, draft: PolicyDraft | undefined): void {
  if (draft === undefined) globalThis.sessionStorage.removeItem(nameOf(path));
  else globalThis.sessionStorage.setItem(nameOf(path), JSON.stringify(draft));
}
