// Two real clients at once while first what keeps the record is killed, and then what decides about their
// tools.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { setHookScene } from './hook-scene.ts';
import { HOOKED_CLIENTS, type HookedClient } from './hooked-clients.ts';
import { startModelServer } from './model-server.ts';
import { DONE, writeConfigs } from './scene.ts';
import { after, calls, type Turn, text } from './script.ts';

beforeAll(ensureBuilt);

/** Lets everybody go on when so many wait, once something was done. */
function meeting(count: number, act: () => void): () => Promise<void> {
  let waiting = 0;
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    waiting += 1;
    if (waiting === count) {
      act();
      open();
    }
    return opened;
  };
}

test('two clients lose no call to a killed ledger, and run nothing that nobody decides', async ({
  skip,
}) => {
  const [one, other] = HOOKED_CLIENTS;
  if (one?.binFolder === undefined || other?.binFolder === undefined) {
    return skip('only one client is installed');
  }
  const scene = await setHookScene(one, skip);
  const { stage, model } = scene;
  const otherModel = await startModelServer();
  onTestFinished(() => otherModel.close());
  writeConfigs({ ...scene, client: other }, otherModel.url);
  const killed: number[] = [];
  const noLedger = meeting(2, () => void killed.push(...stage.kill('ledgerd')));
  const noDecider = meeting(2, () => void killed.push(...stage.kill('wrap')));
  const turns = ({ id, tools: { shell } }: HookedClient): readonly Turn[] => [
    calls(shell(`touch src/${id}-1`)),
    after(noLedger, calls(shell(`touch src/${id}-2`))),
    after(noDecider, calls(shell(`touch src/${id}-3`))),
    text(DONE),
  ];
  model.play(turns(one));
  otherModel.play(turns(other));

  const path = [one.binFolder, other.binFolder, process.env['PATH'] ?? ''].join(delimiter);
  const env = { PATH: path, ...other.env(otherModel.url), ...one.env(model.url) };
  const sessions = [one, other].map((client) => {
    const wrap = ['wrap', '--policy', stage.policy, '--', ...client.ask('Do it.')];
    return stage.run([process.execPath, stage.product, ...wrap], { env });
  });
  const said = (await Promise.all(sessions)).map(({ stdout, stderr }) => stdout + stderr);
  expect(killed, said.join('\n')).toHaveLength(3);
  const made = [one, other].map(({ id }) =>
    [1, 2, 3].filter((at) => existsSync(join(stage.project, `src/${id}-${at}`))),
  );
  expect(made).toEqual([
    [1, 2],
    [1, 2],
  ]);
  const found = await stage.calls(4);
  expect(found.map(({ server_name, decision }) => `${server_name} ${decision}`).toSorted()).toEqual(
    [one, other, one, other].map(({ id }) => `${id} ALLOW`).toSorted(),
  );
  expect(new Set(found.map(({ run_id }) => run_id)).size).toBe(2);
});
