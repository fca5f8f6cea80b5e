// A change of hooks for people to look at: our own entries, and nothing of what else is in the file.
import { findHooks } from '../hooks/edit-hooks.ts';
import { hooksOf } from '../hooks/registry.ts';
import type { HookFile } from '../hooks/types.ts';
import { unifiedDiff } from '../text/diff.ts';
import { documentIn } from '../text/document.ts';
import type { TextSpan } from '../text/tree.ts';
import type { HookChange } from '../types.ts';
import { maskConfig } from './redacted-diff.ts';

interface ChangedHooks {
  readonly file: HookFile;
  readonly before: string;
  readonly after: string;
  readonly change: HookChange;
  readonly redact: (text: string) => string;
}

export function hooksDiff({ file, before, after, change, redact }: ChangedHooks): string {
  const mask = (text: string): string =>
    maskConfig(text, {
      format: file.format,
      // What a hook of ours is called for: all.
      names: new Set(['*']),
      redact,
      shown: ownSpans(text, file, change),
    });
  return unifiedDiff({ before: mask(before), after: mask(after), name: file.path });
}

function ownSpans(text: string, file: HookFile, { block }: HookChange): readonly TextSpan[] {
  if (block !== undefined) {
    const start = text.indexOf(block);
    return start === -1 ? [] : [{ start, end: start + block.length }];
  }
  const hooks = hooksOf(file.client);
  const document = documentIn(text, file.format, [['hooks']]);
  if (hooks === undefined || document === undefined) return [];
  return findHooks(document, hooks)
    .flatMap(({ handler }) => document.spanAt(handler) ?? [])
    .toSorted((left, right) => left.start - right.start);
}
