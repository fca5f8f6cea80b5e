// A fresh user with a client that was set up by hand, and a model that waits for its script.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { onTestFinished, type TestContext } from 'vitest';
import { type ModelRequest, type ModelServer, startModelServer } from './model-server.ts';
import type { ClientConfig, RealClient } from './real-client.ts';
import { type Stage, setStage } from './stage.ts';

export interface Scene {
  readonly client: RealClient;
  readonly stage: Stage;
  readonly model: ModelServer;
}

export const SECRET = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
export const DONE = 'That is all.';

/** Everything of it is gone when the test has ended. Skips the test without the client. */
export async function setScene(client: RealClient, skip: TestContext['skip']): Promise<Scene> {
  if (client.binFolder === undefined) return skip(`${client.title} is not installed`);
  const model = await startModelServer();
  const stage = setStage({ binFolder: client.binFolder, env: client.env(model.url) });
  onTestFinished(async () => {
    stage.clear();
    await model.close();
  });
  return { client, stage, model };
}

/** Sets the client up to speak to a model at this address. */
export function writeConfigs({ client, stage }: Scene, modelUrl: string): readonly ClientConfig[] {
  const configs = client.configs(stage, modelUrl);
  for (const { path, text } of configs) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return configs;
}

/** Turns, not what a client looks for beside them. */
export function turnsIn(requests: readonly ModelRequest[]): readonly ModelRequest[] {
  return requests.filter(
    ({ method, path }) => method === 'POST' && !path.endsWith('/count_tokens'),
  );
}
