import { describe, expect, test } from 'vitest';
import { insteadOfSnapshot, notABundle, notACall, notAPolicy, notEvents } from './file-kind.ts';

const file = (text: string) => ({
  kind: 'file' as const,
  name: 'f',
  bytes: new TextEncoder().encode(text),
});
const BUNDLE = 'policy_id: a\nrules:\n  - match:\n      tool_name: { glob: [x] }\n';
const JSON_BUNDLE = '{ "policy_id": "a", "rules": [] }';
const SNAPSHOT = '{\n "snapshot": { "policy_id": "a" },\n "policy_hash": "00" }';
const CALL = '{ "server_name": "s", "tool_name": "t" }';
const CALLS = `[\n${CALL},\n${CALL}]`;
const EVENT = '{"v":"0.2.0","type":"run_start","ts":"2026-01-01T00:00:00Z"}';
const EVENTS = `${EVENT}\n${EVENT}\n{"v":`;
const KEY = '-----BEGIN PUBLIC KEY-----\nMC\n';

describe('a file in the wrong place', () => {
  test.each([
    ['a snapshot for a bundle', notABundle(file(SNAPSHOT)), 'is a compiled snapshot', 'the bundle'],
    ['a call for a bundle', notABundle(file(CALL)), 'looks like a call', 'swapped'],
    ['calls for a policy', notAPolicy(file(CALLS)), 'looks like a call', 'swapped'],
    ['events for a policy', notAPolicy(file(EVENTS)), 'looks like recorded events', 'swapped'],
    ['a key for a policy', notAPolicy(file(KEY)), 'is a key', 'Give the policy'],
    ['a call in YAML for a policy', notAPolicy(file('tool_name: x\n')), 'a call', 'swapped'],
    ['a bundle for a call', notACall(file(BUNDLE)), 'looks like a bundle', 'swapped'],
    ['a snapshot for a call', notACall(file(SNAPSHOT)), 'is a compiled snapshot', 'swapped'],
    ['events for a call', notACall(file(EVENTS)), 'recorded events', 'policy replay'],
    ['YAML for a call', notACall(file('server_name: s\ntool_name: t\n')), 'like YAML', 'Write it'],
    ['other YAML for a call', notACall(file('# mine\nserver: s\n')), 'like YAML', 'Write it'],
    ['a bundle for events', notEvents(file(JSON_BUNDLE)), 'a bundle', 'The policy comes first'],
    ['a call for events', notEvents(file(CALL)), 'a call', 'explain --call'],
  ])('%s gets one sentence and a fix', (_, found, message, fix) => {
    expect(found).toMatchObject({ code: 'SUB_USAGE' });
    expect(found?.message).toContain(`f ${message.startsWith('is') ? message : ''}`);
    expect(found?.message).toContain(message);
    expect(found?.fix).toContain(fix);
  });

  test.each([
    ['a bundle', BUNDLE, 'looks like a bundle'],
    ['a call', CALL, 'looks like a call'],
    ['a key', KEY, 'is a key'],
  ])('%s in the place of a snapshot is named', (_, text, words) => {
    expect(insteadOfSnapshot(file(text))).toContain(words);
  });
});

test.each([
  ['bundle', notABundle(file(BUNDLE))],
  ['bundle in JSON', notABundle(file(JSON_BUNDLE))],
  ['snapshot as a policy', notAPolicy(file(SNAPSHOT))],
  ['call', notACall(file(CALL))],
  ['call behind a byte order mark', notACall(file(`\ufeff${CALL}`))],
  ['list of calls', notACall(file(CALLS))],
  ['stream of events', notEvents(file(EVENTS))],
  ['broken JSON, which its own reader explains', notACall(file('{"a":'))],
  ['empty file', notABundle(file('')) ?? notEvents(file(''))],
  ['snapshot', insteadOfSnapshot(file(SNAPSHOT))],
])('a %s in its own place is accepted', (_, found) => {
  expect(found).toBeUndefined();
});
