// A request for another model: only the bytes of its name change.
import { utf8Of } from '../json/patch-text.ts';
import { concatBytes } from '../json/text.ts';
import type { RequestOutline } from './outline.ts';

/** The bytes with this model, in pieces: what stands behind the name is not copied, and it is most of a request. */
export function spliceModel(
  bytes: Uint8Array,
  { model, modelRange }: RequestOutline,
  wanted: string,
): readonly Uint8Array[] {
  if (wanted === model) return [bytes];
  const { start, end } = modelRange;
  const head = concatBytes(bytes.subarray(0, start), utf8Of(JSON.stringify(wanted)));
  return [head, bytes.subarray(end)];
}
