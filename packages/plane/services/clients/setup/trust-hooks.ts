// Codex runs a hook only when its user has trusted it: what a user has decided here is written down where
// Codex keeps that.
import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import { codexHome, trustedHash, trustKey } from '../hooks/codex-hooks.ts';
import { findHooks } from '../hooks/edit-hooks.ts';
import { tomlString } from '../hooks/inline-toml.ts';
import { hooksOf } from '../hooks/registry.ts';
import { type ConfigFile, clientOf } from '../index.ts';
import { type AdoptionPlace, clientPlace, storeAt, withCode } from '../inspect/adoption-place.ts';
import { type OwnCall, ownProgram } from '../inspect/own-program.ts';
import { realPath } from '../project-folders.ts';
import { movingRewrite } from '../secrets/move-secrets.ts';
import { applyChange, readPriorState } from '../store/apply-change.ts';
import { configFailure, configKey } from '../store/change-store.ts';
import { absentConfig, readConfigFile } from '../store/config-file.ts';
import { type ConfigDocument, documentIn } from '../text/document.ts';
import type { Imported } from './import.ts';
import { createRewrite, endingWith } from './plan-rewrite.ts';

export interface TrustState {
  readonly kind: 'trust';
  readonly path: string;
  /** Our hooks that Codex skips, because nobody has trusted them, by their events. */
  readonly untrusted: readonly string[];
  /** Those of them that were trusted as something else: only Codex can change that. */
  readonly changed: readonly string[];
  readonly apply: () => Imported;
}

export interface TrustOptions extends AdoptionPlace {
  readonly own: OwnCall;
}

const CODEX = 'codex';
const NEW_MODE = 0o600;

/** Undefined where Codex has no hooks of ours. */
export function trustState(options: TrustOptions): TrustState | Failure | undefined {
  const place = clientPlace(options);
  const wanted = wantedTrust(options);
  if (wanted.size === 0) return undefined;
  const path = join(codexHome(place), 'config.toml');
  const read = readConfigFile(path);
  if (read.kind === 'failure') return withCode('SUB_CLIENT_CONFIG', read);
  const config = read.kind === 'missing' ? absentConfig(path, NEW_MODE) : read;
  const prior = readPriorState(config, configKey(config.target), storeAt(options.paths));
  if (prior.kind === 'failure') return withCode('SUB_CLIENT_RESTORE', prior);
  const [now, base] = [config.text, prior.text].map((text) => documentIn(text, 'toml'));
  const all = [...wanted.values()];
  const open = all.filter(({ key, hash }) => hashIn(now, key) !== hash);
  // What is there without us is the word of Codex.
  const own = all.filter(({ key }) => hashIn(base, key) === undefined);
  const names = (list: readonly WantedTrust[]) => [...new Set(list.map(({ event }) => event))];
  return {
    kind: 'trust',
    path,
    untrusted: names(open),
    changed: names(open.filter((one) => !own.includes(one))),
    apply: () => trust({ path, target: config.target, text: config.text }, own, options),
  };
}

interface WantedTrust {
  readonly key: string;
  readonly event: string;
  readonly hash: string;
}

/** By the keys that Codex gives them: with the path as it was found, and without links. */
function wantedTrust(options: AdoptionPlace): ReadonlyMap<string, WantedTrust> {
  const wanted = new Map<string, WantedTrust>();
  const hooks = hooksOf(CODEX);
  const file = hooks?.userFile(clientPlace(options));
  const read = file && readConfigFile(file.path);
  const document = read?.kind === 'read' ? documentIn(read.text, 'json') : undefined;
  if (hooks === undefined || file === undefined || document === undefined) return wanted;
  for (const { event, item, handler, command } of findHooks(document, hooks)) {
    const hash = trustedHash(event, command);
    for (const path of new Set([file.path, realPath(file.path)])) {
      const key = trustKey(path, event, [Number(item.at(-1)), Number(handler.at(-1))]);
      wanted.set(key, { key, event, hash });
    }
  }
  return wanted;
}

function hashIn(document: ConfigDocument | undefined, key: string): unknown {
  return document?.valueAt(['hooks', 'state', key, 'trusted_hash']);
}

function trust(
  { path, target, text }: { readonly path: string; readonly target: string; readonly text: string },
  wanted: readonly WantedTrust[],
  { paths, own }: TrustOptions,
): Imported {
  const program = ownProgram(own);
  if (program.kind === 'failure') return program;
  const client = clientOf(CODEX);
  const file: ConfigFile = { client: CODEX, scope: 'user', path, format: 'toml' };
  const store = storeAt(paths);
  const current = client.read(file, text);
  if (isFailure(current)) return withCode('SUB_CLIENT_CONFIG', current);
  const none = { chosen: new Set<string>(), loose: new Set<string>() };
  const call = { program: program.words, flags: [] };
  const kept = createRewrite({ client, file, current, call, ...none });
  const key = configKey(target);
  const moving = movingRewrite({ path, format: 'toml', key, store, moves: [], rewrite: kept });
  const block = wanted
    .map(
      (one) => `\n[hooks.state.${tomlString(one.key)}]\ntrusted_hash = ${tomlString(one.hash)}\n`,
    )
    .join('');
  const rewrite = endingWith(moving, block, text);
  const result = applyChange({
    ...store,
    file,
    kind: 'import',
    newMode: NEW_MODE,
    rewrite: (base) => {
      const next = rewrite(base);
      if ('kind' in next || documentIn(next.text, 'toml') !== undefined) return next;
      const fix = 'Trust them in Codex itself: /hooks';
      return configFailure(path, `${path} keeps what was trusted in another form.`, fix);
    },
  });
  return result.kind === 'failure'
    ? withCode('SUB_CLIENT_WRITE', result)
    : { kind: result.kind, warnings: result.warnings };
}
