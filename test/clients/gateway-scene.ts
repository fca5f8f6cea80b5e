// A real client whose model is behind a gateway: a process of its own, with an admin who logs in and decides.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, type TestContext } from 'vitest';
import {
  type GatewayProcess,
  type GatewayProcessOptions,
  startGatewayProcess,
} from '../gateway/gateway-process.ts';
import type { Json } from '../gateway/served-gateway.ts';
import type { RealClient } from './real-client.ts';
import { type Scene, SECRET, setScene } from './scene.ts';
import { isBody, listOf } from './script.ts';

export interface GatewayScene extends Scene {
  readonly gateway: GatewayProcess;
}

/** Who the client works for. */
export const DEVELOPER = 'grace';

/** With a file in the project that holds a secret. */
export async function setGatewayScene(
  client: RealClient,
  options: Omit<GatewayProcessOptions, 'upstream'>,
  skip: TestContext['skip'],
): Promise<GatewayScene> {
  const scene = await setScene(client, skip);
  const gateway = await startGatewayProcess({ upstream: scene.model.url, ...options });
  onTestFinished(() => gateway.close());
  writeFileSync(join(scene.stage.project, 'hello.txt'), `Hello. The token is ${SECRET}.\n`);
  return { ...scene, gateway };
}

/** A rule that sends every turn to this pool. */
export const routeTo = (pool: string) =>
  `  - { id: EVERYTHING, priority: 900, when: "true", action: route, model_pool: ${pool} }`;

/** A rule that holds every turn until an admin decides. */
export const ASK = '  - { id: ASK, when: "true", action: require_approval }';

/** Budgets that no turn of the developer fits into. */
export const USED_UP = `version: 1\nusers:\n  ${DEVELOPER}: { daily: { cap_usd: 0.000001, on_exceeded: refuse } }\n`;

/** What the gateway has on record of the developer. */
export async function recorded(
  gateway: GatewayProcess,
  eventType: string,
): Promise<readonly Json[]> {
  const query = `user_id=${DEVELOPER}&event_type=${eventType}&limit=100`;
  const { items } = await gateway.api(`/api/v1/audit/search?${query}`);
  return listOf(items);
}

/** An admin at a shell decides whatever waits, as `sub gateway approvals` lists it, until the session has ended. */
export async function decideAll(
  gateway: GatewayProcess,
  answer: readonly ['approve' | 'reject', ...(readonly string[])],
  running: Promise<unknown>,
): Promise<number> {
  const over = new AbortController();
  void running.finally(() => over.abort());
  const [verb, ...options] = answer;
  let count = 0;
  for await (const id of gateway.waiting(over.signal)) {
    const listed: unknown = JSON.parse(await admin(gateway, 'approvals', '--json'));
    const waiting = isBody(listed) ? listOf(listed['approvals']) : [];
    expect(waiting).toContainEqual(expect.objectContaining({ id, requestor: DEVELOPER }));
    await admin(gateway, verb, id, ...options);
    count += 1;
  }
  return count;
}

async function admin(gateway: GatewayProcess, ...words: readonly string[]): Promise<string> {
  const said = await gateway.sub('gateway', ...words);
  expect(said, said.stdout + said.stderr).toMatchObject({ code: 0 });
  return said.stdout;
}
