// Bindings that nobody needs any more: the secrets they were for are back in their config.

import type { Servers } from '../../../../stores/config/index.ts';
import { fitsCommand } from '../../../../stores/vault/index.ts';
import { CLIENTS, type MovedSecret } from '../../index.ts';
import type { Store } from '../../store/ports.ts';
import { type FoundRecord, listRecords } from '../../store/record.ts';
import { findConfigs } from '../configs.ts';
import { clientPlace, type SecretPlace } from '../place.ts';
import { recordedConfigs } from '../recorded.ts';
import { type BindingName, removeBindings } from './bindings.ts';
import { keep, keptIn } from './kept.ts';
import { boundIn } from './move.ts';
import { boundKey, nameKey } from './pending.ts';
import { serverOf, wordsOf } from './plain.ts';

/**
 * A whole sentence where one has to stay; it goes with the last config that needs it, at a later
 * restore. Only what stands there as we wrote it goes. Undefined is a config without a record.
 */
export async function unbindMoved(
  found: FoundRecord | undefined,
  { store, options }: { readonly store: Store; readonly options: SecretPlace },
): Promise<string | undefined> {
  const needed = new Set(
    listRecords(store.paths).flatMap((one) =>
      one.kind === 'record' && one.key !== found?.key ? (one.record.moved ?? []).map(boundKey) : [],
    ),
  );
  const moved = (found?.record.moved ?? []).map(nameOf);
  const old = keptIn(store);
  const all = new Map([...old, ...moved].map((one) => [nameKey(one), one]));
  const unneeded = [...all].flatMap(([key, one]) => (needed.has(key) ? [] : [one]));
  if (all.size === 0) return undefined;
  const running = unneeded.length === 0 ? [] : runningIn(options, store);
  const bound = unneeded.length === 0 ? new Map<string, never>() : await boundIn(options);
  const usedBy = (one: BindingName) => running.find((entry) => isFor(one, entry, bound));
  const bindings = unneeded.filter((one) => usedBy(one) === undefined);
  const failed =
    bindings.length === 0
      ? undefined
      : await removeBindings(bindings, { paths: options.paths, store });
  keep(failed === undefined ? unneeded.filter((one) => !bindings.includes(one)) : unneeded, store);
  if (failed !== undefined) {
    return `the bindings stay in config.toml: ${failed.message} ${failed.fix}`;
  }
  const mine = new Set(moved.map(nameKey));
  const kept = unneeded.filter((one) => mine.has(nameKey(one))).flatMap((one) => usedBy(one) ?? []);
  if (kept.length === 0) return undefined;
  const words = kept.map(({ server, path }) => `${server} (${path})`);
  return `the bindings of ${[...new Set(words)].join(', ')} stay in config.toml: a server still starts behind a shim of that name.`;
}

function nameOf({ server, path, secret }: MovedSecret): BindingName {
  return { server, variable: String(path.at(-1)), secret };
}

interface Running {
  readonly server: string;
  readonly path: string;
  readonly words: readonly string[];
}

/** What starts behind a shim, by whichever config. */
function runningIn(place: SecretPlace, store: Store): readonly Running[] {
  const { found } = findConfigs({ place: clientPlace(place), clients: CLIENTS });
  const recorded = recordedConfigs(store, new Set()).filter((one) => one.kind === 'found');
  return [...found, ...recorded].flatMap(({ file, config }) =>
    config.entries
      .filter(({ governed }) => governed !== undefined)
      .map((entry) => ({ server: serverOf(entry), path: file.path, words: wordsOf(entry) })),
  );
}

/** Whether it gets the secret by the binding that is to go. */
function isFor({ server, variable, secret }: BindingName, entry: Running, bound: Servers): boolean {
  const bindings = bound.get(server)?.secretBindings ?? [];
  return (
    entry.server === server &&
    bindings.some(
      ({ injectAs, secretRef, command }) =>
        injectAs === variable &&
        secretRef === secret &&
        (command === undefined || fitsCommand(command, entry.words)),
    )
  );
}
