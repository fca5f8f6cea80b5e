// What the monitor of Steward looks for and has found.
import {
  array,
  boolean,
  closed,
  integer,
  nullable,
  open,
  required,
  string,
} from '../shape/shape.ts';
import { DECIDER } from './decider.ts';

const words = string({ lengthMin: 0 });
const count = integer({ min: 0 });
const LIST_MAX = 1_000;

export const STEWARD_ALERT = open({
  id: required(count, 'The alert.'),
  cause: required(words, 'What is odd.'),
  text: required(words, 'In words.'),
  count: required(count, 'How often it was seen in its hour.'),
  last_at_ms: required(count, 'When last.'),
  is_told: required(boolean(), 'False when it was only recorded.'),
  acknowledged: required(
    nullable(open({ by: required(words, 'Who.'), at_ms: required(count, 'When.') })),
    'Null until a person has acknowledged it.',
  ),
});

/** A rule of the monitor with its threshold. */
export const STEWARD_MONITOR_RULE = open({
  name: required(words, 'What is watched.'),
  alerts: required(words, 'When there is an alert, in words.'),
});

const ALERTS = {
  ids: required(array(count, { itemsMax: LIST_MAX }), 'The alerts.'),
};
/** What the page sends; its server knows who it is for. */
export const ALERTS_NAMED = closed(ALERTS);
export const ACKNOWLEDGE_ALERTS = closed({ ...ALERTS, ...DECIDER });
