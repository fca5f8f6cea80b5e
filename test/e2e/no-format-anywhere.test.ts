// A secret of every known format passes through a session, in arguments, keys, names and answers. Then
// every byte that was kept or said is searched for them. All of them are made up while the test runs.

import { formatSamples } from '@subluminal/core/format-samples';
import { beforeAll, describe, expect, it } from 'vitest';
import { hangUp, QUICK, startServed } from '../contract/driver.ts';
import { call } from '../contract/messages.ts';
import { startRun } from '../contract/running.ts';
import { verifies } from '../requirements.ts';
import { filesBelow, type Place } from './planted.ts';
import { lookAtAll, searching, serveLedger } from './searching.ts';
import { ensureBuilt } from './sub.ts';

beforeAll(ensureBuilt);

/** No secret: it has to be found, or the search finds nothing at all. */
const CONTROL = 'marker.Wd4kXr7pLq2sTb9n';
/** One of each format. */
const SAMPLES = [...new Map(formatSamples().map((one) => [one.index, one])).values()];
const POLICY = `policy_id: searched
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: few
    kind: deny
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["search"] } }
    effect:
      action: BLOCK
      message: Too many.
      hint: { hint_text: Ask for less., suggest: { clamp: { limit: { max: 10 } } } }
`;

/** What may hold them: the server's script and the server's own notes. */
const isSource = (path: string) => /\/leaky\.(?:json|log)$/.test(path);

/** The formats whose sample stands anywhere, with the places. */
function leaksIn(places: readonly Place[]): readonly string[] {
  return SAMPLES.flatMap(({ rule, secret }) => {
    const once = JSON.stringify(secret).slice(1, -1);
    const forms = [secret, once, JSON.stringify(once).slice(1, -1)];
    const holding = places.filter(({ bytes }) => forms.some((form) => bytes.includes(form)));
    return holding.map(({ name }) => `${rule}: ${name}`);
  });
}

const lineOf = (text: string) => `${text.replaceAll('\n', ' ')}\n`;

describe('a session with a secret of every format', () => {
  it('leaves none of them anywhere', { timeout: 180_000 }, async () => {
    verifies('IP-4.1', 'SL-7.4', 'ST-8.10.5');
    const search = searching();
    const { home, said } = search;
    const policy = home.write('policy.yaml', POLICY);
    const stopLedger = await serveLedger(search);
    const tools = Object.fromEntries(SAMPLES.map(({ text }, index) => [`tool${index}`, text]));
    const run = await startRun({
      home,
      servers: { leaky: { ...tools, echo: 'done', search: 'done' } },
      flags: ['--policy', policy, '--verbose'],
      toLedger: true,
    });
    await run.call('leaky', 'echo', { note: CONTROL });
    for (const [index, { text, secret }] of SAMPLES.entries()) {
      // The agent gets what the server says, or the answer would hold no secret to begin with.
      const { text: heard = '' } = await run.call('leaky', `tool${index}`, { [text]: { text } });
      expect(heard).toContain(secret);
      await run.call('leaky', text, {});
      const hinted = await run.call('leaky', 'search', { limit: 500, note: text });
      expect(hinted).toMatchObject({ action: 'REJECT_WITH_HINT' });
      expect(JSON.stringify(hinted)).not.toContain(secret);
    }
    await run.end();
    said.push({ name: 'sub run', bytes: run.stderr() });

    await lookAtAll(search, { control: CONTROL, callsMin: 2 * SAMPLES.length });
    const whileItRuns = filesBelow(home.folder, isSource);
    await stopLedger();
    const places = [...whileItRuns, ...filesBelow(home.folder, isSource), ...said];
    const control = places.filter(({ bytes }) => bytes.includes(CONTROL)).map(({ name }) => name);
    for (const place of ['ledger.db', '/exported/events', 'GET /api/v1/calls']) {
      expect(control.join('\n')).toContain(place);
    }
    expect(leaksIn(filesBelow(home.folder, (path) => !isSource(path)))).not.toEqual([]);
    expect(leaksIn(places)).toEqual([]);
  });
});

describe('a server and an agent that put secrets wherever they can', () => {
  it('leave none in events and none on standard error', { timeout: 180_000 }, async () => {
    const { home } = searching();
    const rig = await startServed({ env: { ...QUICK, ...home.env }, flags: ['--verbose'] });
    for (const [id, { text }] of SAMPLES.entries()) {
      rig.say(call(id, 'read'));
      while (!String(await rig.server.heard.next()).includes('tools/call'));
      const error = { code: -1, message: text, data: { [text]: text } };
      for (const message of [
        { method: 'notifications/progress', params: { message: text } },
        { method: `notifications/${text}`, params: {} },
        { id: text, result: {} },
        { id, error },
      ]) {
        await rig.server.write(lineOf(JSON.stringify({ jsonrpc: '2.0', ...message })));
      }
      await rig.server.write(lineOf(text));
      rig.say(lineOf(JSON.stringify({ jsonrpc: '2.0', id: text, method: text, params: {} })));
      rig.say(lineOf(text));
    }
    await hangUp(rig);
    const stderr = { name: 'stderr', bytes: rig.stderr() };
    const files = [...filesBelow(home.folder, isSource), ...filesBelow(rig.folder, () => false)];
    expect(files.some(({ bytes }) => bytes.includes('tool_call_end'))).toBe(true);
    expect(leaksIn([stderr, ...files])).toEqual([]);
  });
});
