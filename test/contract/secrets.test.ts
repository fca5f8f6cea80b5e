// What must not be kept: secrets in arguments, answers and errors, as the events and stderr of the
// built shim show them. Every secret here is made up, and put together from parts so that no
// scanner takes it for a real one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { hangUp, type Rig, startRig, startServed } from './driver.ts';
import { nextJson } from './lines.ts';
import { answer, bundle, call } from './messages.ts';

beforeAll(() => ensureBuilt());

const LETTERS = 'aB3dE5gH7jK9mN1pQ2sT4vW6yZ8';
const random = (length: number) =>
  LETTERS.repeat(Math.ceil(length / LETTERS.length)).slice(0, length);
const part = (...parts: readonly string[]) => parts.join('');
const AWS = part('AK', 'IA', 'A7B3C5D2E6F4G7H2');
const GITHUB = part('gh', 'p_', random(36));
const PEM = part(
  '-----BEGIN ',
  'RSA PRIVATE KEY-----\\n',
  random(64),
  '\\n-----END RSA ',
  'PRIVATE KEY-----',
);

/** The text as it stands in JSON, and the part of it that nobody may find again. */
const SECRETS: readonly (readonly [name: string, text: string, secret: string])[] = [
  ['aws-access-key', `use ${AWS}.`, AWS],
  ['github-token', `clone with ${GITHUB} now`, GITHUB],
  ['slack-token', part('xo', 'xb-', '123456789012-', random(24)), random(24)],
  ['anthropic-key', part('sk', '-ant-', 'api03-', random(80)), random(80)],
  ['openai-key', part('sk', '-proj-', random(40)), random(40)],
  ['stripe-key', part('sk', '_live_', random(24)), random(24)],
  ['google-api-key', part('AI', 'za', random(35)), random(35)],
  ['npm-token', part('np', 'm_', random(36)), random(36)],
  ['jwt', part('ey', 'JhbGciOiJIUzI1NiJ9.', 'ey', 'JzdWIiOiIxMjM0In0.', random(43)), random(43)],
  ['private-key', PEM, random(64)],
  ['database-url', part('postgres', '://user:', random(20), '@db.example/main'), random(20)],
  ['authorization-header', part('Authorization: Bea', 'rer ', random(40)), random(40)],
];

/** Where the shim has kept or said it: lines of events by their types, and stderr. */
function findings({ folder, stderr }: Rig, text: string): readonly string[] {
  const lines = readFileSync(join(folder, 'events.jsonl'), 'utf8').split('\n').filter(Boolean);
  const found = lines.filter((line) => line.includes(text));
  const types = found.map((line) => `event ${/"type":"(\w+)"/.exec(line)?.[1] ?? ''}`);
  return stderr().includes(text) ? [...types, 'stderr'] : types;
}

describe('secrets of known formats', () => {
  it('are in no event, be they in arguments, answers or errors', async () => {
    verifies('IP-6.4', 'T-F.2', 'T-I.5');
    const rig = await startServed();
    for (const [at, [name, text]] of SECRETS.entries()) {
      const [asks, fails] = [2 * at, 2 * at + 1];
      rig.say(call(asks, 'put', `{"text":"${text}","deep":[{"${text}":"${text}"}]}`));
      rig.say(call(fails, 'fail'));
      for (const _ of [asks, fails]) await rig.server.heard.next();
      const told = answer(asks, `{"content":[{"type":"text","text":"${text}"}]}`);
      await rig.server.write(told);
      // What passes is untouched: only what is kept is redacted.
      expect(String(await rig.heard.next()), name).toBe(told);
      const error = `{"code":-32000,"message":"bad ${text}"}`;
      await rig.server.write(`{"jsonrpc":"2.0","id":${fails},"error":${error}}\n`);
      await rig.heard.next();
    }
    await hangUp(rig);
    const ends = rig.events().filter(({ type }) => type === 'tool_call_end');
    expect(ends).toHaveLength(2 * SECRETS.length);
    const leaks = SECRETS.map(([name, , secret]) => [name, findings(rig, secret)]);
    expect(leaks).toEqual(SECRETS.map(([name]) => [name, []]));
  });

  it('are in no hint that the ledger keeps, though they are in the arguments it corrects', async () => {
    verifies('IP-6.4');
    const rule = `
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
    const rig = await startServed({ policy: bundle(rule) });
    rig.say(call(1, 'search', `{"limit":500,"token":"${GITHUB}"}`));
    expect(await nextJson(rig.heard)).toMatchObject({ error: { code: -32083 } });
    await hangUp(rig);
    expect(rig.events().map(({ type }) => type)).toContain('hint_issued');
    expect(findings(rig, GITHUB)).toEqual([]);
  });

  it('are in no event when they stand in the name of a tool', async () => {
    verifies('IP-6.4');
    const rig = await startServed();
    rig.say(call(1, `get_${GITHUB}`));
    expect(String(await rig.server.heard.next())).toContain(GITHUB);
    await rig.server.write(answer(1));
    await rig.heard.next();
    await hangUp(rig);
    expect(findings(rig, GITHUB)).toEqual([]);
  });

  it('are in no event when they are in the environment of the server and it tells them', async () => {
    verifies('IP-6.4');
    const rig = await startServed({ env: { GITHUB_TOKEN: GITHUB } });
    expect(rig.server.env).toContain('GITHUB_TOKEN');
    rig.say(call(1, 'env'));
    await rig.server.heard.next();
    await rig.server.write(
      answer(1, `{"content":[{"type":"text","text":"{\\"GITHUB_TOKEN\\":\\"${GITHUB}\\"}"}]}`),
    );
    await rig.heard.next();
    await hangUp(rig);
    expect(findings(rig, GITHUB)).toEqual([]);
  });

  it('are in no report about a message that is refused', async () => {
    verifies('IP-6.4');
    const rig = await startServed();
    rig.say(`{"token":"${GITHUB}"\n${GITHUB}\n`);
    rig.say(`{"jsonrpc":"2.0","id":"${GITHUB}","method":"${GITHUB}","method":"x"}\n`);
    rig.say(call(1, 'a', '[1]'));
    await rig.told(/duplicate_key/);
    await hangUp(rig);
    expect(findings(rig, GITHUB)).toEqual([]);
    // Not in hex either.
    expect(findings(rig, Buffer.from(GITHUB).toString('hex'))).toEqual([]);
  });

  it('are in no message about a server that cannot start', async () => {
    verifies('IP-6.4');
    const rig = await startRig({ command: [`./server-${GITHUB}`, `--token=${GITHUB}`] });
    rig.say(call(1, 'a'));
    expect(String(await rig.heard.next())).not.toContain(GITHUB);
    await hangUp(rig);
    expect(findings(rig, GITHUB)).toEqual([]);
  });
});

describe('a pattern of the user', () => {
  it('goes the same way', async () => {
    verifies('IP-6.4');
    const secret = 'corp-4711-0815';
    const home = mkdtempSync(join(tmpdir(), 'sub-home-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const config = '[redact]\nextra_patterns = ["corp-[0-9]{4}-[0-9]{4}"]\n';
    writeFileSync(join(home, 'config.toml'), config);
    const rig = await startServed({ env: { SUB_HOME: home } });
    rig.say(call(1, 'put', `{"text":"key ${secret}."}`));
    await rig.server.heard.next();
    await rig.server.write(answer(1, `{"content":[{"type":"text","text":"${secret}"}]}`));
    await rig.heard.next();
    await hangUp(rig);
    expect(findings(rig, '[REDACTED').length).toBeGreaterThan(0);
    expect(findings(rig, secret)).toEqual([]);
  });
});
