// The calls in whose lines a text may stand, where that is soon said: by the places that may hold it. What they hold in
// fact, the rows and their previews tell.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';
import { storable, withoutNul } from '../chain/event-line.ts';
import { type Connection, inOneView } from './connection.ts';
import { linesIn } from './line-blocks.ts';
import { placesOf, type SeqRange } from './line-grams.ts';
import { lineSieve } from './previews.ts';
import { integerCell } from './rows.ts';

/** Where more may hold the text, it is found soon by looking at call after call. */
const EVENTS_MAX = 15_000;
const EVENTS_PER_TURN = 500;

/** Their ids, all of them; undefined when it is not soon said. */
export async function callsWithText(
  connection: Connection,
  text: string,
): Promise<readonly number[] | undefined> {
  const places = await placesOf(connection, text, EVENTS_MAX);
  if (places === undefined) return undefined;
  const mayStandIn = lineSieve(text);
  const ids = new Set<number>();
  for (const piece of places.flatMap(piecesOf)) {
    await nextTurn();
    inOneView(connection, () => {
      for (const { bytes } of linesIn(connection, piece)) {
        const id = mayStandIn(bytes.toString('latin1')) ? callOf(connection, bytes) : undefined;
        if (id !== undefined) ids.add(id);
      }
    });
  }
  return [...ids];
}

function piecesOf({ firstSeq, lastSeq }: SeqRange): readonly SeqRange[] {
  const count = Math.ceil((lastSeq - firstSeq + 1) / EVENTS_PER_TURN);
  return Array.from({ length: count }, (_, index) => {
    const first = firstSeq + index * EVENTS_PER_TURN;
    return { firstSeq: first, lastSeq: Math.min(lastSeq, first + EVENTS_PER_TURN - 1) };
  });
}

/** The call that an event is about, whatever its type. */
function callOf(connection: Connection, line: Buffer): number | undefined {
  const event = parseJson(withoutNul(line.toString('utf8')));
  if (!isObject(event) || !isObject(event['call'])) return undefined;
  const [runId, callId] = [event['run_id'], event['call']['call_id']];
  if (typeof runId !== 'string' || typeof callId !== 'string') return undefined;
  const sql = 'SELECT id FROM tool_calls WHERE run_id = ? AND call_id = ?';
  const row = connection.get(sql, storable(runId), storable(callId));
  return row && integerCell(row, 'id');
}
