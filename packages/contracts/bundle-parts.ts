// What several places of a bundle share.
import { array, closed, integer, oneOf, optional, required, string } from './shape/shape.ts';

const YEAR_MS = 31_536_000_000;

export const duration = integer({ min: 1, max: YEAR_MS });
export const glob = string({ lengthMax: 1_024 });
export const names = array(glob, { itemsMin: 1, itemsMax: 1_000 });

export const APPROVAL = closed({
  wait: required(oneOf('hold', 'hint'), 'Keep the request open, or answer at once with a hint.'),
  timeout_ms: optional(duration, 'How long a person has; 5 minutes.'),
});

/** An approval with nothing left out, as snapshots have it. */
export const FULL_APPROVAL = closed({
  wait: APPROVAL.fields.wait,
  timeout_ms: required(duration, 'How long a person has.'),
});
