import { eventWriter } from '@subluminal/contracts';
import type { EventLine, EventSink } from '@subluminal/core/ports';
import type { Emit } from '@subluminal/core/session';
import { expect, it } from 'vitest';
import { Recorder } from './events.ts';

const source = { host_id: 'h', proc_id: 'p', shim_id: 's' };
const WRITER = eventWriter({ run_id: 'r', agent_id: 'a', client: 'claude', env: 'dev', source });

/** The end of the call with this id. */
function ended(call_id: string, status: 'OK' | 'TIMEOUT' = 'OK'): Emit {
  const call = { call_id, server_name: 's', tool_name: 't', args_hash: '0'.repeat(64) };
  const preview = { truncated: false, result_preview: 'ok' };
  const body = { call, status, latency_ms: 1, bytes_out: 2, preview };
  return { do: 'emit', type: 'tool_call_end', durability: 'preview', body };
}

/** A recorder, the ids of the calls that it has written, and what waits for the next of them. */
function started() {
  const ids: string[] = [];
  const lines: EventLine[] = [];
  const warnings: string[] = [];
  let onWrite = (): void => {};
  const sink: EventSink = {
    write(event) {
      lines.push(event);
      ids.push(/"call_id":"(\w+)"/.exec(event.line)?.[1] ?? '');
      onWrite();
    },
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
    stats: () => ({ queued: 0, spooled: 0, previewsDropped: 0 }),
  };
  const recorder = new Recorder(WRITER, sink, (text) => warnings.push(text));
  const written = () => new Promise<void>((resolve) => (onWrite = resolve));
  return { recorder, ids, lines, warnings, written };
}

it('deferred events are written before the next event', () => {
  const { recorder, ids } = started();
  recorder.defer(ended('a'));
  recorder.defer(ended('b'));
  expect(ids).toEqual([]);
  recorder.emit(ended('c'));
  expect(ids).toEqual(['a', 'b', 'c']);
  recorder.defer(ended('d'));
  recorder.record('shim_health', { health: { status: 'ok', uptime_ms: 1 } });
  expect(ids).toEqual(['a', 'b', 'c', 'd', '']);
});

it('deferred events are written after a moment when nothing follows', async () => {
  const { recorder, ids, written } = started();
  const first = written();
  recorder.defer(ended('a'));
  await first;
  const second = written();
  recorder.defer(ended('b'));
  await second;
  expect(ids).toEqual(['a', 'b']);
});

it('each event is written once, whether the timer or the next event is first', async () => {
  const { recorder, ids, written } = started();
  recorder.defer(ended('a'));
  await new Promise(setImmediate);
  recorder.defer(ended('b'));
  recorder.settle();
  const next = written();
  recorder.defer(ended('c'));
  await next;
  expect(ids).toEqual(['a', 'b', 'c']);
});

it('defers only so many', () => {
  const { recorder, ids } = started();
  for (let at = 0; at < 1_000; at++) recorder.defer(ended(`c${at}`));
  expect(ids.length).toBeGreaterThan(700);
  recorder.settle();
  expect(ids).toEqual(Array.from({ length: 1_000 }, (_, at) => `c${at}`));
});

it('can leave the preview of a deferred event out', () => {
  const { recorder, lines } = started();
  recorder.defer(ended('a'));
  recorder.settle();
  const [event] = lines;
  expect(event?.kind).toBe('preview');
  expect(event?.lean?.(event.line)).toContain('"previews_dropped":true');
});

it('a malformed event is reported, and the rest is written', () => {
  const { recorder, ids, warnings } = started();
  recorder.defer(ended(''));
  recorder.defer(ended('b'));
  recorder.settle();
  expect(ids).toEqual(['b']);
  expect(warnings).toEqual([expect.stringContaining('SUB_EVENT_MALFORMED')]);
});
