// Rules about paths, texts, resources and prompts, decided by the built shim in a real folder.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { hangUp, startServed } from './driver.ts';
import { nextJson } from './lines.ts';
import { answer, bundle, call } from './messages.ts';

beforeAll(ensureBuilt);

const POLICY = bundle(`
  - rule_id: never-env
    kind: deny
    match: { subjects: [tool, resource], any_arg: { path_matches: ["**/.env*"] } }
    effect: { action: BLOCK }
  - rule_id: only-src
    kind: deny
    match: { tool_name: { glob: ["write_*"] }, args: { not_path_under: { path: [src] } } }
    effect: { action: BLOCK }
`);

function read(id: number, uri: string): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method: 'resources/read', params: { uri } })}\n`;
}

it('keeps calls and resources to what the rules allow, through links and encodings', async () => {
  const rig = await startServed({ policy: POLICY });
  mkdirSync(join(rig.folder, 'src'));
  writeFileSync(join(rig.folder, '.env'), 'x');
  symlinkSync('../.env', join(rig.folder, 'src/innocent'));
  symlinkSync('/etc', join(rig.folder, 'src/out'));
  const refused = [
    [call(1, 'read_file', '{"path":"src/innocent"}'), 'never-env'],
    [call(2, 'read_file', '{"path":"src/%2e%2e/.env"}'), 'never-env'],
    [call(3, 'run', '{"command":"cat \\".e\\"nv"}'), 'never-env'],
    [read(4, `file://${rig.folder}/.env`), 'never-env'],
    [call(5, 'write_file', '{"path":"src/out/passwd"}'), 'only-src'],
    [call(6, 'write_file', '{"path":"src/../x"}'), 'only-src'],
    [call(7, 'write_file', '{"file":"src/x"}'), 'only-src'],
  ] as const;
  for (const [line, rule_id] of refused) {
    rig.say(line);
    expect(await nextJson(rig.heard)).toMatchObject({
      error: { data: { subluminal: { rule_id } } },
    });
  }
  for (const [id, line] of [
    [8, call(8, 'write_file', '{"path":"src/new/file.ts"}')],
    [9, read(9, `file://${rig.folder}/src/a.ts`)],
  ] as const) {
    rig.say(line);
    expect(String(await rig.server.heard.next())).toBe(line);
    await rig.server.write(answer(id));
    expect(String(await rig.heard.next())).toBe(answer(id));
  }
  await hangUp(rig);
  const ends = rig
    .events()
    .flatMap((event) => (event.type === 'tool_call_end' ? [event.status] : []));
  expect(ends).toEqual([...refused.map(() => 'ERROR'), 'OK', 'OK']);
});
