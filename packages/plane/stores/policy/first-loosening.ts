// Whether a changed policy lets more pass than the one in force. Loaded only when somebody asks.
import { diffBundles, type Snapshot } from '@subluminal/core/policy';

/** The first change that loosens, or of which that cannot be ruled out, in words. */
export function firstLoosening(
  before: Pick<Snapshot, 'document'>,
  after: Pick<Snapshot, 'document'>,
): string | undefined {
  const { changes } = diffBundles(before.document, after.document);
  const found = changes.find(
    // A version that stays the same misleads people, but lets nothing pass.
    ({ effect, path }) =>
      effect !== 'tightens' && effect !== 'none' && !/^(?:tightened_by\.)?version$/.test(path),
  );
  return found === undefined ? undefined : `${found.path}: ${found.summary}`;
}
