// Untrusted texts that look like orders to the agent, and the arguments whose values stand in them.
import { scanText } from '../scan/detect/scan-text.ts';
import type { Range } from '../scan/types.ts';
import { formatPath } from '../source/problem.ts';
import type { TaintLeaf } from './leaves.ts';
import { isSaid } from './memory.ts';
import { shownValue } from './summaries.ts';
import { folded } from './tokens/spellings.ts';
import { keysIn } from './tokens/tokens.ts';
import type { TaintFinding, TaintSource, TaintState } from './types.ts';

const ORDERS_MAX = 8;
const ORDER_BEFORE = 500;
const ORDER_AFTER = 1_500;
const ORDER_LENGTH_MAX = 8_192;

/** The state with the texts that look like orders to the agent; the oldest go first. */
export function withOrders(
  state: TaintState,
  source: TaintSource,
  texts: Iterable<string>,
): TaintState {
  const orders = [...state.orders];
  let isWhole = true;
  for (const text of texts) {
    const scan = scanText(text, { classes: ['injection'], fingerprint: () => '' });
    if (scan.unscanned.some(({ reason }) => reason !== 'binary')) isWhole = false;
    const order = surroundings(
      text,
      scan.findings.filter(({ confidence }) => confidence !== 'hint'),
    );
    if (order.length > ORDER_LENGTH_MAX) isWhole = false;
    if (order !== '') orders.push({ source, text: orderText(order.slice(0, ORDER_LENGTH_MAX)) });
  }
  if (orders.length > ORDERS_MAX) isWhole = false;
  const blind = state.blind ?? (isWhole ? undefined : source);
  return { ...state, orders: orders.slice(-ORDERS_MAX), blind };
}

/** What stands around these places, each part once; a blank stands only where something is left out. */
function surroundings(text: string, places: readonly Range[]): string {
  let parts = '';
  let done = 0;
  for (const place of places.toSorted((one, two) => one.start - two.start)) {
    const start = Math.max(done, place.start - ORDER_BEFORE);
    const end = Math.max(done, place.end + ORDER_AFTER);
    parts += (start > done ? ' ' : '') + text.slice(start, end);
    done = end;
  }
  return parts;
}

/** Blanks and case don't count. */
function orderText(text: string): string {
  return folded(text).toLowerCase().replace(/\s+/g, ' ').trim();
}

const ORDERED_VALUES_MAX = 256;

/** Values of any argument that stand in a text that looks like an order. */
export function orderedFindings(
  state: TaintState,
  leaves: readonly TaintLeaf[],
): readonly TaintFinding[] {
  const { orders } = state;
  if (orders.length === 0) return [];
  const values = leaves.filter(({ isKey }) => !isKey).slice(0, ORDERED_VALUES_MAX);
  return values.flatMap(({ path, text }) => {
    const value = orderText(text.slice(0, ORDER_LENGTH_MAX));
    if (value.length < 2 || /^[a-z]{1,3}$/.test(value)) return [];
    const order = orders.find((one) => hasWords(one.text, value));
    if (order === undefined || isOfUser(state, text)) return [];
    const { source } = order;
    const shown = shownValue(text);
    return [{ arg: formatPath(path), sink: 'any', match: 'ordered', source, holds: true, shown }];
  });
}

/** Whether the user has named all that a value names. */
function isOfUser(state: TaintState, text: string): boolean {
  const keys = [...keysIn(text.slice(0, ORDER_LENGTH_MAX))].flat();
  return keys.length > 0 && keys.every((key) => isSaid(state, key));
}

/** Whether the text has the value with no letter or digit right before or behind it. */
function hasWords(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    const around = `${text[at - 1] ?? ''} ${text[at + value.length] ?? ''}`;
    if (!/[\p{L}\p{N}]/u.test(around)) return true;
  }
  return false;
}
