// When a schedule is due: once at a moment, or again and again by a pattern of cron. Patterns are read in UTC.
import { Cron } from 'croner';

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;
const PATTERN = /^\S+(?: +\S+){4}$/;

/** Whether it is due once. The text may still name a day that does not exist. */
export function isMoment(when: string): boolean {
  return MOMENT.test(when);
}

/** The next times of a pattern, so many at most; undefined for what is no pattern. */
export function patternTimes(
  when: string,
  after: Date,
  count: number,
): readonly Date[] | undefined {
  if (!PATTERN.test(when)) return undefined;
  try {
    return new Cron(when, { mode: '5-part', timezone: 'UTC' }).nextRuns(count, after);
  } catch {
    return undefined;
  }
}
