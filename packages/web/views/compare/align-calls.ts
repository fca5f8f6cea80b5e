// The calls of two runs side by side, in their order: what both did stands in one row.
import type { ApiCall } from '@subluminal/contracts';
import { lineDiff } from '../../parts/line-diff.ts';
import { callName } from '../run/call-name.ts';

export interface AlignedCalls {
  readonly key: string;
  readonly calls: readonly [ApiCall | undefined, ApiCall | undefined];
}

export function alignCalls(
  one: readonly ApiCall[],
  other: readonly ApiCall[],
): readonly AlignedCalls[] {
  // Names have no breaks any more, so that each is one line.
  const lines = lineDiff(names(one), names(other));
  return lines
    .map(({ before, after }, at) => ({
      key: String(at),
      calls: [before && one[before - 1], after && other[after - 1]] as const,
    }))
    .map(({ key, calls: [left, right] }) => ({
      key,
      calls: [left || undefined, right || undefined] as const,
    }))
    .filter(({ calls }) => calls.some((call) => call !== undefined));
}

function names(calls: readonly ApiCall[]): string {
  return calls.map(callName).join('\n');
}
