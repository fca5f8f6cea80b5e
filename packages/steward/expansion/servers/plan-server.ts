// What has to change so that an MCP server can be used, as files for the user to merge. A program of others is not
// started before its command was merged: the first proposal lets it start and allows none of its tools; the second,
// after a look at it, says which.

import { type Failure, failure, isFailure, tableFailure } from '@subluminal/contracts';
import { compileManifest, proposeManifest, toolRows } from '@subluminal/core/surface';
import { quote } from '@subluminal/core/visible';
import { sha256 } from '@subluminal/plane/crypto';
import type { ServerEntry } from '@subluminal/plane/serve/config';
import { manifestFileName } from '@subluminal/plane/surface';
import { isSeq } from 'yaml';
import { MANIFESTS, type StewardConfig } from '../../config/index.ts';
import { documentText, readConfigDocument } from './config-document.ts';
import type { LookAtServer, SeenServer } from './look-at-server.ts';
import type { ListedStart } from './registry-server.ts';

export interface ServerPlan {
  readonly kind: 'plan';
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** What is to be done once it is merged, and what it needs. */
  readonly next: string;
}

export interface WantedServer {
  /** In integrations.yaml. */
  readonly name: string;
  /** Undefined for a server that is there already. */
  readonly start: ListedStart | undefined;
}

export interface PlanParts {
  readonly config: StewardConfig;
  readonly look: LookAtServer;
}

/** An action that stands for itself and nothing else. */
const PLAIN_TOOL = /^[A-Za-z0-9_.-]{1,64}$/;
const ACTION_LENGTH_MAX = 96;
const READS = ['tiers', 'auto_execute', 'actions'];

export async function planServer(
  { name, start }: WantedServer,
  { config, look }: PlanParts,
): Promise<ServerPlan | Failure> {
  const known = config.servers.find((one) => one.name === name);
  if (known !== undefined) return toolsPlan(known, config, await look(known, 'user'));
  if (start === undefined) {
    const message = `There is no server ${quote(name)} in integrations.yaml, and none was chosen.`;
    return failure('SUB_STEWARD_EXPANSION', message, 'Find one with servers.discover.');
  }
  if (start.kind === 'program') return programPlan(name, start, config);
  const { url, transport } = start;
  const entry: ServerEntry = {
    ...{ kind: 'remote', name, url, transport, headers: {}, headerEnv: {} },
    ...{ bearerEnv: undefined, passToken: false, login: 'shared' },
  };
  const plan = await toolsPlan(entry, config, await look(entry, 'registry'));
  if (isFailure(plan)) return plan;
  const integrations = withServer(config, name, { url, transport });
  if (isFailure(integrations)) return integrations;
  return { ...plan, files: [integrations, ...plan.files], next: needsText(start) };
}

/** Its command, and a manifest that allows nothing. */
function programPlan(
  name: string,
  start: Extract<ListedStart, { kind: 'program' }>,
  config: StewardConfig,
): ServerPlan | Failure {
  const { command, env } = start;
  const isPlain = Object.keys(env).length === 0;
  const integrations = withServer(config, name, { command, ...(isPlain ? {} : { env }) });
  if (isFailure(integrations)) return integrations;
  const text = proposeManifest({ server: name, transport: 'stdio', tools: [] });
  const again = `Once it is merged, call servers.propose with the name ${name} again: then its tools are looked at. None of them can be used before.`;
  return {
    kind: 'plan',
    files: [integrations, { path: manifestPath(name), text }],
    next: [needsText(start), again].filter((one) => one !== '').join(' '),
  };
}

/** A manifest by what the server shows now, and its reads among the actions that run at once. */
async function toolsPlan(
  { name: server }: ServerEntry,
  config: StewardConfig,
  seen: SeenServer | Failure,
): Promise<ServerPlan | Failure> {
  if (isFailure(seen)) return seen;
  const text = proposeManifest({ server, transport: seen.transport, ...seen.listing });
  const path = manifestPath(server);
  const compiled = await compileManifest({ file: path, text }, { sha256 });
  if (!compiled.ok)
    throw new Error(`a proposal does not compile: ${compiled.problems[0]?.message}`);
  const reads = toolRows(compiled.manifest)
    .filter(({ name, tier }) => tier === 'auto_execute' && PLAIN_TOOL.test(name))
    .map(({ name }) => `${server}.${name}`)
    .filter((action) => action.length <= ACTION_LENGTH_MAX);
  const permissions = withReads(config, reads);
  if (isFailure(permissions)) return permissions;
  return { kind: 'plan', files: [{ path, text }, ...permissions], next: '' };
}

function manifestPath(server: string): string {
  return `${MANIFESTS}/${manifestFileName(server)}`;
}

function needsText({ needs }: ListedStart): string {
  if (needs.length === 0) return '';
  return `The user must give it ${needs.join(', ')}: secrets by a binding in config.toml, other values in integrations.yaml.`;
}

function withServer({ folder }: StewardConfig, name: string, entry: object) {
  const path = 'integrations.yaml';
  const document = documentIn(folder, path);
  if (isFailure(document)) return document;
  document.setIn(['servers', name], document.createNode(entry, { flow: true }));
  return { path, text: documentText(document) };
}

function withReads({ folder, permissions }: StewardConfig, reads: readonly string[]) {
  const known = new Set(Object.values(permissions.file.tiers).flatMap(({ actions }) => actions));
  const fresh = reads.filter((action) => !known.has(action));
  if (fresh.length === 0) return [];
  const path = 'permissions.yaml';
  const document = documentIn(folder, path);
  if (isFailure(document)) return document;
  const list: unknown = document.getIn(READS);
  if (isSeq(list)) for (const action of fresh) list.add(document.createNode(action));
  else document.setIn(READS, document.createNode(fresh));
  return [{ path, text: documentText(document) }];
}

function documentIn(folder: string, name: string) {
  const document = readConfigDocument(folder, name);
  return document ?? tableFailure('SUB_STEWARD_EXPANSION', `${name} cannot be read.`);
}
