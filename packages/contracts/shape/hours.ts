// A window of the day, as bundles and permissions write it.
import { array, closed, type Infer, oneOf, optional, required, string } from './shape.ts';

const clock = string({ lengthMax: 64 });

/** What its texts may be is in `core/text/quantities.ts`. */
export const HOURS = closed({
  from: required(clock, 'When it opens, like `"09:00"`.'),
  to: required(clock, 'When it closes; on the next day where that is before `from`.'),
  days: optional(
    array(oneOf('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'), { itemsMin: 1, itemsMax: 7 }),
    'The days on which it opens; all of them.',
  ),
  utc_offset: optional(clock, 'The time zone, like `"+02:00"`; UTC.'),
});
export type HoursFields = Infer<typeof HOURS>;
