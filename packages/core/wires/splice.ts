// A request for another model: only the bytes of its name change.
import { spliced } from '../json/patch-text.ts';
import type { RequestOutline } from './outline.ts';

/** The bytes with this model; the same bytes when it is the one that they name. */
export function spliceModel(
  bytes: Uint8Array,
  { model, modelRange }: RequestOutline,
  wanted: string,
): Uint8Array {
  return wanted === model ? bytes : spliced(bytes, modelRange, JSON.stringify(wanted));
}
